//go:build unix

package subprocess

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/environments"
	"github.com/toolcell/toolcell/internal/interpreter"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// What the host starts itself, to ask an interpreter what it is, no program may
// have written. A project's environment often lies where programs work: its
// interpreter is a link to one that lies elsewhere, which is asked instead,
// without the environment's packages and its configuration. Programs are started
// by the link all the same, behind the walls.

// checkTrust finds what the host may start to ask about l: nothing in dirs, which
// programs change.
func (l *language) checkTrust(dirs []string) error {
	if e := l.environment; e != nil && interpreter.LinkedThrough(e.Dir, dirs) != "" {
		return fmt.Errorf("programs change what is in %s, where its environment lies: keep environments elsewhere", interpreter.LinkedThrough(e.Dir, dirs))
	}
	ask, err := interpreter.Askable(l.Path, dirs)
	if err == nil && ask == l.Path {
		// What packages have put into an environment may be in the place of its own.
		if ask, l.made = environments.Base(l.Path); l.made && interpreter.LinkedThrough(ask, dirs) != "" {
			err = fmt.Errorf("programs change what is in %s, where the interpreter lies that its environment was made with", interpreter.LinkedThrough(ask, dirs))
		}
	}
	if ask != l.Path {
		l.probed = ask
	}
	return err
}

// probePath returns what the host itself may start.
func (l *language) probePath() string {
	if l.probed != "" {
		return l.probed
	}
	return l.Path
}

// changeable returns the directories of the host that programs may change, by
// their real paths.
func (o *Options) changeable() []string {
	return interpreter.RealDirs(slices.Concat([]string{o.Dir}, o.Writable))
}

// admit refuses a context's Cwd in which programs could change the interpreter that
// the host starts for them, or which is not where theirs lies.
func (h *host) admit(l *language, cwd string) error {
	switch {
	case h.sandbox.Mode() == sandbox.None:
		return nil // they can change all that its user can
	case l.probed != "" && h.dir != nil && interpreter.Within(l.Path, h.opts.Dir) && interpreter.LinkedThrough(l.Path, interpreter.RealDirs(h.opts.Writable)) == "" && cwd != h.dir.Path():
		return fmt.Errorf("%w: Cwd: %s, which is in Options.Dir, is not to be seen from there: leave Cwd empty, or list the directory in Options.Writable",
			codeinterp.ErrInvalid, l.Path)
	case (l.probed == "" || l.made) && interpreter.LinkedThrough(l.Path, []string{cwd}) != "":
		return fmt.Errorf("%w: Cwd: the host starts %s, which is in it, and programs could change it: use an interpreter from outside, or list the directory in Options.Writable where it is a link to one",
			codeinterp.ErrInvalid, l.Path)
	}
	return nil
}

// maxListed is how many names are read of what programs may have filled.
const maxListed = 10_000

// projectOf returns the environment that l's link is in, if it is one's.
func projectOf(l *language) (prefix string, ok bool) {
	prefix = filepath.Dir(filepath.Dir(l.Path))
	_, err := os.Lstat(filepath.Join(prefix, "pyvenv.cfg"))
	return prefix, err == nil && l.probed != ""
}

// sitePackages returns where the packages of an environment are.
func sitePackages(prefix, version string) string {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return filepath.Join(prefix, "lib", "python"+major+"."+minor, "site-packages")
}

// metadataOf returns the names of the directories in path that describe packages. The
// host asks their interpreter nothing.
func metadataOf(path string) []string {
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
