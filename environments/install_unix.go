//go:build unix

package environments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/interpreter"
)

// An installer makes one environment.
type installer struct {
	*Options
	base *base
	box  *box
	env  string // the environment while it is made
	temp string
}

// install makes an environment and renames it to place when it is complete.
func install(ctx context.Context, o *Options, b *base, place string) (err error) {
	late := fmt.Errorf("%w: not installed within %v: %w", codeinterp.ErrUnavailable, o.Timeout, context.DeadlineExceeded)
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, late)
	defer cancel()
	box, err := newBox(ctx, o, b)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	i := &installer{Options: o, base: b, box: box, env: filepath.Join(box.dir, "env"), temp: filepath.Join(box.dir, "tmp")}
	defer func() {
		if err = errors.Join(err, box.close()); errors.Is(err, codeinterp.ErrQuota) { // most of it may be in the cache
			err = errors.Join(err, removeCache(context.WithoutCancel(ctx), o.Root))
		}
	}()
	go i.watchDisk(ctx, stop)
	if err := i.run(ctx); err != nil {
		// A canceled installer fails by being killed; the cause says why.
		return cmp.Or(context.Cause(ctx), err)
	}
	if err := i.measure(bytesIn(box.cache) - box.cached); err != nil {
		return err
	}
	_ = os.RemoveAll(place) // one whose interpreter is gone
	if err := os.Rename(i.env, place); err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return nil
}

// watchDisk calls stop when the installation has written too much.
func (i *installer) watchDisk(ctx context.Context, stop context.CancelCauseFunc) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := i.measure(bytesIn(i.box.cache) - i.box.cached); err != nil {
				stop(err)
			}
		}
	}
}

// measure fails if the installation takes too much, with what it added to the cache.
func (i *installer) measure(cached int64) error {
	if bytesIn(i.box.dir)+cached > i.Disk {
		return fmt.Errorf("%w: the installation takes more than %d MB", codeinterp.ErrQuota, i.Disk/1_000_000)
	}
	return nil
}

// run installs the packages, and makes the result the host's.
func (i *installer) run(ctx context.Context) error {
	for _, dir := range []string{i.env, i.temp} {
		if err := errors.Join(os.Mkdir(dir, 0o755), i.box.own(dir)); err != nil {
			return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
		}
	}
	var list []string
	var err error
	if i.Language == "python" {
		list, err = i.python(ctx)
	} else {
		list, err = i.node(ctx)
	}
	if err != nil {
		return err
	}
	if slices.Sort(list); i.Exact && !slices.Equal(list, i.Packages) {
		return fmt.Errorf("%w: not as locked, but %.500s", codeinterp.ErrUnavailable, strings.Join(list, " "))
	}
	if err := i.sign(list); err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return nil
}

// sign makes the files of the environment the host's, checks what Python starts by,
// and writes the lock.
func (i *installer) sign(list []string) error {
	if err := i.box.take(i.env); err != nil {
		return err
	}
	if i.Language == "python" {
		if err := checkStart(i.env, i.base.path); err != nil {
			return err
		}
	}
	dir, err := openPlain(i.env)
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
	out, err := i.box.run(ctx, args)
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

// write writes a file into the temporary directory of the installer.
func (i *installer) write(name string, lines []string) (path string, err error) {
	path = filepath.Join(i.temp, name)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return path, nil
}
