//go:build unix

package environments

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/interpreter"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// Installers keep what they fetch in these directories of a root: cacheDir is for
// isolated ones, hostCacheDir for others.
const (
	cacheDir     = "cache"
	hostCacheDir = "cache-host"
)

// Limits of an installer; its disk is Options.Disk.
const (
	maxMemory    = 4 << 30
	maxProcesses = 512
	maxFiles     = 2_000_000
	maxOpen      = 4096
)

// A box is where installers run. They change dir and cache, read their settings and
// the interpreter, and use the network.
type box struct {
	sandbox  *sandbox.Sandbox
	dir      string
	cache    string
	cached   int64 // bytes in the cache before the installation
	home     string
	uid, gid int // of the installers; -1 where that is the host's user
	env      []string
	readable []string

	claimed *os.File // keeps the cache from being removed
	closes  []func() error
}

// newBox returns a box for one environment.
func newBox(ctx context.Context, o *Options, b *base) (_ *box, err error) {
	x := &box{uid: -1, gid: -1, cache: filepath.Join(o.Root, cacheDir)}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.close())
		}
	}()
	uid, err := x.claim(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: the cache: %w", codeinterp.ErrUnavailable, err)
	}
	x.cached = bytesIn(x.cache)
	// In Root, so that the environment can be renamed to its place.
	x.sandbox, err = sandbox.New(&sandbox.Options{
		Require: o.Require, AllowNone: true, AllowSignals: true, Network: true, UID: uid, TempDir: o.Root, Writable: []string{x.cache},
		Limits: sandbox.Limits{Memory: maxMemory, Processes: maxProcesses, CPU: -1, FileSize: o.Disk, Disk: o.Disk, Inodes: maxFiles, OpenFiles: maxOpen},
	})
	if err != nil {
		return nil, err
	}
	x.closes = append(x.closes, x.sandbox.Close)
	return x, x.furnish(b)
}

// claim makes the cache, keeps it from being removed, and returns its owner's uid, as
// whom installers of a root host run; 0 for other hosts.
func (x *box) claim(ctx context.Context) (uid int, err error) {
	for {
		if x.claimed, err = lock(ctx, x.cache+".lock", true); err != nil {
			return 0, err
		}
		about, err := os.Lstat(x.cache)
		if err == nil && os.Geteuid() != 0 {
			return 0, nil
		} else if err == nil && ownerOf(about) != 0 {
			return ownerOf(about), nil
		}
		x.claimed.Close()
		exclusive, err := lock(ctx, x.cache+".lock", false)
		if err == nil {
			err = errors.Join(makeCache(x.cache), exclusive.Close())
		}
		if err != nil {
			return 0, err
		}
	}
}

func makeCache(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) || os.Geteuid() != 0 {
		return err
	}
	if about, err := os.Lstat(dir); err != nil || ownerOf(about) != 0 {
		return err
	}
	uid, err := sandbox.SpareID()
	if err != nil {
		return err
	}
	return os.Lchown(dir, uid, uid)
}

// furnish makes the directories of a sandboxed installer.
func (x *box) furnish(b *base) (err error) {
	if err := x.sandbox.Show(b.roots); err != nil {
		return fmt.Errorf("%w: %s: %w", codeinterp.ErrUnavailable, b.path, err)
	}
	if x.dir, err = x.sandbox.TempDir(); err != nil {
		return err
	}
	uid, gid, other, err := x.sandbox.Owner(x.dir)
	if err != nil {
		return err
	}
	if other {
		x.uid, x.gid = uid, gid
	}
	if x.sandbox.Mode() == sandbox.None {
		// Not the cache of sandboxed installers, who could have changed programs in it.
		x.cache = filepath.Join(filepath.Dir(x.cache), hostCacheDir)
		if err := errors.Join(os.MkdirAll(x.cache, 0o700), x.own(x.cache)); err != nil {
			return fmt.Errorf("%w: the cache: %w", codeinterp.ErrUnavailable, err)
		}
		x.cached = bytesIn(x.cache)
	}
	// Not in Root, which programs may read: settings can hold tokens.
	home, remove, err := sandbox.PrivateDir(x.uid, x.gid)
	if err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	x.home, x.closes = home, append(x.closes, remove)
	c := readSettings()
	if err := errors.Join(c.copyTo(x.home), x.own(x.home)); err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	x.read(b.roots...)
	x.read(c.readable...)
	x.readable = append(x.readable, x.home)
	x.env = x.sandbox.Env(x.dir, nil, x.settings(b, c))
	return nil
}

// settings returns the variables of installers.
func (x *box) settings(b *base, c *settings) map[string]string {
	env := maps.Clone(c.env)
	env["PIP_CACHE_DIR"], env["UV_CACHE_DIR"] = filepath.Join(x.cache, "pip"), filepath.Join(x.cache, "uv")
	env["npm_config_cache"] = filepath.Join(x.cache, "npm")
	env["UV_LINK_MODE"], env["UV_PYTHON_DOWNLOADS"] = "copy", "never"
	env["TMPDIR"] = filepath.Join(x.sandbox.WorkdirInside(x.dir, nil), "tmp")
	env["HOME"], env["PATH"] = x.home, filepath.Dir(b.path)+":/usr/local/bin:/usr/bin:/bin"
	return env
}

// read lets installers read the paths that they can reach.
func (x *box) read(paths ...string) {
	for _, path := range paths {
		if filepath.IsAbs(path) && x.sandbox.Reachable(path) == nil {
			x.readable = append(x.readable, path)
		}
	}
}

// client returns the path by which installers start a program that is one file.
func (x *box) client(path string) (string, error) {
	if x.sandbox.Reachable(path) == nil {
		x.read(interpreter.Roots(path)...)
		return path, nil
	}
	b, err := os.ReadFile(path)
	inside := filepath.Join(x.home, filepath.Base(path))
	if err = errors.Join(err, os.WriteFile(inside, b, 0o755)); err != nil {
		return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return inside, nil
}

// showScript lets installers run a script whose other files lie around it.
func (x *box) showScript(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		err = x.sandbox.Show([]string{path})
	}
	if err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	x.read(interpreter.Roots(path)...)
	above := filepath.Dir(filepath.Dir(real))
	if _, err := os.Stat(filepath.Join(above, "package.json")); err == nil {
		x.read(above)
	}
	return nil
}

// own gives a path to the installers. Only the host has written below it.
func (x *box) own(path string) error {
	if x.uid < 0 {
		return nil
	}
	return filepath.WalkDir(path, func(name string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(name, x.uid, x.gid))
	})
}

// take makes a directory the host's.
func (x *box) take(dir string) error {
	uid, gid := -1, -1
	if x.uid >= 0 {
		uid, gid = os.Geteuid(), os.Getegid()
	}
	return settle(dir, uid, gid, x.sandbox.Mode() == sandbox.Landlock)
}

// run runs an installer and returns the end of what it prints.
func (x *box) run(ctx context.Context, args []string) (string, error) {
	seen := x.sandbox.WorkdirInside(x.dir, nil)
	inside := slices.Clone(args)
	for i, a := range inside {
		if rest, ok := strings.CutPrefix(a, x.dir+"/"); ok {
			inside[i] = seen + "/" + rest
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	out := &tail{}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(out, r); r.Close() })
	p, err := x.sandbox.Start(&sandbox.Cmd{Path: inside[0], Args: inside, Env: x.env, Workdir: x.dir, ReadOnly: x.readable, Files: []*os.File{nil, w, w}})
	w.Close() // reading ends with the installer
	if err != nil {
		reading.Wait()
		return "", err
	}
	defer context.AfterFunc(ctx, p.Kill)()
	exit := p.Wait()
	reading.Wait()
	switch {
	case exit.Cause == codeinterp.CauseDisk:
		err = fmt.Errorf("%w: %s", codeinterp.ErrQuota, exit.Detail)
	case exit.Detail != "":
		err = errors.New(exit.Detail)
	case exit.Code != 0:
		err = fmt.Errorf("exit status %d", exit.Code)
	}
	return out.String(), err
}

// close ends what runs and removes everything but the cache.
func (x *box) close() (err error) {
	for _, f := range x.closes {
		err = errors.Join(err, f())
	}
	if x.claimed != nil {
		x.claimed.Close()
	}
	return err
}

// A tail keeps the last bytes that are written to it.
type tail struct{ b []byte }

const maxTail = 256 << 10 // more than the list of a large environment

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p[max(0, len(p)-maxTail):]...)
	t.b = append(t.b[:0], t.b[max(0, len(t.b)-maxTail):]...)
	return len(p), nil
}

func (t *tail) String() string { return string(t.b) }
