//go:build unix

package subprocess

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/toolcell/toolcell/codeinterp"
)

// What the host starts itself, to ask an interpreter what it is, no program may
// have written. A project's environment often lies where programs work: its
// interpreter is a link to one that lies elsewhere, which is asked instead,
// without the environment's packages and its configuration. Programs are started
// by the link all the same, behind the walls.

// maxLinks is how many links an interpreter may be behind.
const maxLinks = 40

// lettersOf is what is the same in the names of an interpreter: python of
// python3.11.
var lettersOf = regexp.MustCompile(`^[A-Za-z]*`)

// distrust has l asked from outside of dirs, which programs change.
func (l *language) distrust(dirs []string) error {
	if e := l.environment; e != nil && linkedThrough(e.Dir, dirs) != "" {
		return fmt.Errorf("programs change what is in %s, where its environment lies: keep environments elsewhere", linkedThrough(e.Dir, dirs))
	}
	dir := linkedThrough(l.path, dirs)
	if dir == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(l.path)
	if err != nil {
		return err
	}
	if linkedThrough(real, dirs) != "" || !strings.HasPrefix(filepath.Base(real), lettersOf.FindString(filepath.Base(l.path))) {
		return fmt.Errorf("programs change what is in %s, and could change what the host starts: use an interpreter from outside, or an environment made by it without copies", dir)
	}
	l.asked = real
	return nil
}

// asks returns what the host itself may start.
func (l *language) asks() string {
	if l.asked != "" {
		return l.asked
	}
	return l.path
}

// linkedThrough returns which of dirs a path is in, or a link on the way to what
// it stands for; empty if in none.
func linkedThrough(path string, dirs []string) string {
	for range maxLinks {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		if n := slices.IndexFunc(dirs, func(dir string) bool { return within(path, dir) }); n >= 0 {
			return dirs[n]
		}
		to, err := os.Readlink(path)
		if err != nil {
			return ""
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return ""
}

// changeable returns the directories of the host that programs may change, by
// their real paths.
func (o *Options) changeable() []string {
	return realDirs(slices.Concat([]string{o.Dir}, o.Writable, o.changed))
}

func realDirs(paths []string) []string {
	var dirs []string
	for _, dir := range paths {
		if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(dir) {
			dirs = append(dirs, real)
		}
	}
	return dirs
}

// lookPath is that of os/exec for clients that install, without those that
// programs can change.
func (b *builder) lookPath(name string) (string, error) {
	for _, path := range executables(filepath.SplitList(os.Getenv("PATH")), name) {
		if linkedThrough(path, b.changeable) == "" {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// admit refuses a context's Cwd in which programs could change what the host
// starts.
func (h *host) admit(cwd string) error {
	for _, l := range h.languages {
		if l.asked == "" && linkedThrough(l.path, []string{cwd}) != "" {
			return fmt.Errorf("%w: Cwd: the host starts %s, which is in it, and programs could change it: list the directory in Options.Writable, or choose another interpreter",
				codeinterp.ErrInvalid, l.path)
		}
	}
	return nil
}

// maxListed is how many names are read of what programs may have filled.
const maxListed = 10_000

// metadataOf returns the names of the directories that describe the packages of
// an environment, which the host asks nothing.
func metadataOf(prefix, version string) []string {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return nil
	}
	path := filepath.Join(prefix, "lib", "python"+parts[0]+"."+parts[1], "site-packages")
	dir, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxListed)
	names = slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasSuffix(name, ".dist-info") && !strings.HasSuffix(name, ".egg-info")
	})
	slices.Sort(names)
	return names
}
