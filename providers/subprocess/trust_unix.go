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
	"sync"
	"syscall"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
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
var lettersOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]*`) })

// interchangeable are names of interpreters that stand for one another.
var interchangeable = [][]string{{"python", "pypy", "graalpy"}, {"node", "nodejs"}}

// sameInterpreter reports whether what a link leads to is an interpreter as its name says.
func sameInterpreter(link, file string) bool {
	a, b := lettersOf().FindString(filepath.Base(link)), lettersOf().FindString(filepath.Base(file))
	return a == b || slices.ContainsFunc(interchangeable, func(names []string) bool {
		return slices.Contains(names, a) && slices.Contains(names, b)
	})
}

// checkTrust has l asked from outside of dirs, which programs change.
func (l *language) checkTrust(dirs []string) error {
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
	if linkedThrough(real, dirs) != "" {
		return fmt.Errorf("programs change what is in %s, and could change what the host starts: use an interpreter from outside, or an environment made by it without copies", dir)
	}
	if !sameInterpreter(l.path, real) {
		return fmt.Errorf("programs change what is in %s, and it is a link to %s, which has another name", dir, real)
	}
	l.probed = real
	return nil
}

// probePath returns what the host itself may start.
func (l *language) probePath() string {
	if l.probed != "" {
		return l.probed
	}
	return l.path
}

// linkedThrough returns which of dirs, given by their real paths, a path is in, or
// what any link on the way leads through; empty if none.
func linkedThrough(path string, dirs []string) string {
	at, rest := "/", strings.Split(filepath.Clean(path), "/")
	// The kernel follows no more links either: what is behind them cannot be started.
	for links := 0; len(rest) > 0 && links <= maxLinks; {
		name := rest[0]
		rest = rest[1:]
		switch next := filepath.Join(at, name); {
		case name == "":
		case name == "..":
			at = filepath.Dir(at)
		default:
			if n := slices.IndexFunc(dirs, func(dir string) bool { return within(next, dir) }); n >= 0 {
				return dirs[n]
			}
			to, err := os.Readlink(next)
			if err != nil {
				at = next
				continue
			}
			if links++; filepath.IsAbs(to) {
				at = "/"
			}
			rest = append(strings.Split(to, "/"), rest...)
		}
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

// admit refuses a context's Cwd in which programs could change the interpreter that
// the host starts for them, or which is not where theirs lies.
func (h *host) admit(l *language, cwd string) error {
	switch {
	case h.sandbox.Mode() == sandbox.None:
		return nil // they can change all that its user can
	case l.probed != "" && h.dir != nil && within(l.path, h.opts.Dir) && linkedThrough(l.path, realDirs(h.opts.Writable)) == "" && cwd != h.dir.Path():
		return fmt.Errorf("%w: Cwd: %s, which is in Options.Dir, is not to be seen from there: leave Cwd empty, or list the directory in Options.Writable",
			codeinterp.ErrInvalid, l.path)
	case l.probed == "" && linkedThrough(l.path, []string{cwd}) != "":
		return fmt.Errorf("%w: Cwd: the host starts %s, which is in it, and programs could change it: use an interpreter from outside, or list the directory in Options.Writable where it is a link to one",
			codeinterp.ErrInvalid, l.path)
	}
	return nil
}

// maxListed is how many names are read of what programs may have filled.
const maxListed = 10_000

// projectOf returns the environment that l's link is in, if it is one's.
func projectOf(l *language) (prefix string, ok bool) {
	prefix = filepath.Dir(filepath.Dir(l.path))
	_, err := os.Lstat(filepath.Join(prefix, "pyvenv.cfg"))
	return prefix, err == nil && l.probed != ""
}

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
