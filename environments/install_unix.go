//go:build unix

package environments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/interpreter"
)

// An installer makes one environment.
type installer struct {
	*Options
	base *base
	*box
	made string // the environment while it is made
}

// install makes an environment and renames it to place when it is complete.
func install(ctx context.Context, o *Options, b *base, place string) (err error) {
	box, err := newBox(o, b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.close()) }()
	i := &installer{Options: o, base: b, box: box, made: filepath.Join(box.dir, "env")}
	if err := i.install(ctx); err != nil {
		// A canceled installer fails by being killed; the cause says why.
		return cmp.Or(context.Cause(ctx), err)
	}
	_ = os.RemoveAll(place) // one whose interpreter is gone
	if err := os.Rename(i.made, place); err != nil {
		return unavailable(err)
	}
	return nil
}

// install installs the packages, and makes the result the host's.
func (i *installer) install(ctx context.Context) error {
	packages := i.node
	if i.Language == "python" {
		packages = i.python
	}
	list, err := packages(ctx)
	if err != nil {
		return err
	}
	if slices.Sort(list); i.Exact && !slices.Equal(list, i.Packages) {
		return fmt.Errorf("%w: not as locked, but %.500s", codeinterp.ErrUnavailable, strings.Join(list, " "))
	}
	if err := i.sign(list); err != nil {
		return unavailable(err)
	}
	return nil
}

// sign makes the files of the environment the host's, and writes the lock.
func (i *installer) sign(list []string) error {
	if err := i.take(i.made); err != nil {
		return err
	}
	dir, err := openPlain(i.made)
	if err != nil {
		return err
	}
	defer dir.Close()
	for name, text := range map[string]string{baseFile: i.base.path, lockFile: strings.Join(list, "\n") + "\n"} {
		// A package may have put anything in their places.
		err = errors.Join(err, dir.RemoveAll(name), dir.WriteFile(name, []byte(text), 0o644))
	}
	return err
}

// command runs an installer's command line and returns what it prints.
func (i *installer) command(ctx context.Context, args ...string) (string, error) {
	out, err := i.run(ctx, args)
	if err == nil || errors.Is(err, codeinterp.ErrQuota) {
		return out, err
	}
	lines := strings.Split(strings.ToValidUTF8(strings.TrimSpace(out), "\uFFFD"), "\n")
	text := strings.Join(lines[max(0, len(lines)-4):], "; ")
	return "", fmt.Errorf("%w: installing %s: %s", codeinterp.ErrUnavailable, strings.Join(i.Packages, ", "), cmp.Or(text[max(0, len(text)-600):], err.Error()))
}

// client returns the first program of a name on PATH that programs cannot change.
func (i *installer) client(name string) (string, error) {
	list := interpreter.OnPath(name, interpreter.RealDirs(i.Changeable))
	if len(list) == 0 {
		return "", exec.ErrNotFound
	}
	return list[0], nil
}

// write writes a file for the installer.
func (i *installer) write(name string, lines []string) (path string, err error) {
	path = filepath.Join(i.temp, name)
	// Its own: the host's umask can close the file to it.
	if err := errors.Join(os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644), i.own(path)); err != nil {
		return "", unavailable(err)
	}
	return path, nil
}
