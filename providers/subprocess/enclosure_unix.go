//go:build unix

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/procfs"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// cacheDir is the directory beside the environments where clients in a sandbox keep
// what they fetch.
const cacheDir = "cache"

// What a client may take that installs. Its disk is what the installation's is.
const (
	clientMemory    = 4 << 30
	clientProcesses = 512
	clientFiles     = 2_000_000
	clientOpen      = 4096
)

// An enclosure is the sandbox in which the clients that install run. They may
// change a directory that is made for them, part of which becomes the environment,
// and their cache; read their configuration, the interpreter and what the
// configuration names; and use the network.
type enclosure struct {
	sandbox  *sandbox.Sandbox
	dir      string // theirs
	home     string // where they find settings: elsewhere, since programs may read all environments
	uid, gid int    // as whom they run; -1 where that is the host's user
	env      []string
	readable []string
	unlock   func()
	remove   func() error // of the home
}

// enclose returns an enclosure, nil where no sandbox works here and none is
// required.
func enclose(ctx context.Context, root string, o *EnvironmentOptions, base *language) (_ *enclosure, err error) {
	if o.Require == None {
		return nil, nil
	}
	e := &enclosure{uid: -1, gid: -1}
	defer func() {
		if err != nil {
			_ = e.close()
		}
	}()
	cache, err := e.open(ctx, root, o)
	if errors.Is(err, codeinterp.ErrIsolation) && o.Require == Auto {
		return nil, e.close()
	}
	if err != nil {
		return nil, err
	}
	if err := base.show(e.sandbox); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", codeinterp.ErrUnavailable, base.path, err)
	}
	if e.dir, err = e.sandbox.TempDir(); err != nil {
		return nil, err
	}
	if uid, gid, other, err := e.sandbox.Owner(e.dir); err != nil {
		return nil, err
	} else if other {
		e.uid, e.gid = uid, gid
	}
	if e.home, e.remove, err = sandbox.PrivateDir(e.uid, e.gid); err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	c := newConfiguration()
	e.read(slices.Concat(base.roots, rootsOf(baseOf(base.path)), c.readable)...)
	e.read(filepath.Join(root, wheelsDir), filepath.Join(base.prefix, "pip.conf"))
	return e, e.prepareHome(cache, base, c)
}

// open makes the sandbox, and the cache that it lets clients change.
func (e *enclosure) open(ctx context.Context, root string, o *EnvironmentOptions) (cache string, err error) {
	cache = filepath.Join(root, cacheDir)
	uid, err := e.claim(ctx, cache)
	if err != nil {
		return "", fmt.Errorf("%w: the cache of what installs: %w", codeinterp.ErrUnavailable, err)
	}
	// In root, so that what was made can be renamed to its place.
	e.sandbox, err = sandbox.New(&sandbox.Options{
		Require: sandbox.Mode(o.Require), AllowSignals: true, Network: true, UID: uid, TempDir: root, Writable: []string{cache},
		Limits: sandbox.Limits{Memory: clientMemory, Processes: clientProcesses, CPU: -1, FileSize: o.Disk, Disk: o.Disk, Inodes: clientFiles, OpenFiles: clientOpen},
	})
	return cache, err
}

// claim keeps the cache from being removed, makes it where there is none, and
// returns as whom clients run: on a root host as its owner, who is nobody else.
func (e *enclosure) claim(ctx context.Context, cache string) (uid int, err error) {
	for {
		if e.unlock, _, err = lockEnvironment(ctx, cache+".lock", true); err != nil {
			return 0, err
		}
		if about, err := os.Lstat(cache); err == nil && os.Geteuid() != 0 {
			return 0, nil
		} else if err == nil && ownerOf(about) != 0 {
			return ownerOf(about), nil
		}
		e.unlock()
		// A shared lock becomes exclusive only by being given up, when others may
		// change the cache: so all is looked at again after it was made.
		if e.unlock, _, err = lockEnvironment(ctx, cache+".lock", false); err == nil {
			err = makeCache(cache)
			e.unlock()
		}
		if e.unlock = nil; err != nil {
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

// read lets clients read what is there, and what they can reach.
func (e *enclosure) read(paths ...string) {
	for _, path := range paths {
		if filepath.IsAbs(path) && e.sandbox.Reachable(path) == nil {
			e.readable = append(e.readable, path)
		}
	}
}

// prepareHome makes what clients find in their directory, and says what they are told.
func (e *enclosure) prepareHome(cache string, base *language, c *configuration) error {
	if err := errors.Join(c.copyTo(e.home), e.own(e.home)); err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	e.readable = append(e.readable, e.home)
	c.env["HOME"], c.env["TMPDIR"] = e.home, filepath.Join(e.sandbox.WorkdirInside(e.dir, nil), "tmp")
	c.env["PATH"] = filepath.Dir(base.path) + ":/usr/local/bin:/usr/bin:/bin"
	c.env["PIP_CACHE_DIR"], c.env["UV_CACHE_DIR"] = filepath.Join(cache, "pip"), filepath.Join(cache, "uv")
	c.env["npm_config_cache"] = filepath.Join(cache, "npm")
	// What environments consist of is to be in no other place as well.
	c.env["UV_LINK_MODE"] = "copy"
	for name, file := range c.moved {
		c.env[name] = filepath.Join(e.home, file)
	}
	e.env = e.sandbox.Env(e.dir, nil, c.env)
	return nil
}

// configured returns a file of settings by a path that clients can read it by, and
// has them read what it names; empty where there is none.
func (e *enclosure) configured(file, as string) string {
	c := &configuration{env: map[string]string{}, files: map[string][]byte{}}
	if file == "" || !c.take(file, as) {
		return ""
	}
	if e == nil {
		return file
	}
	if errors.Join(c.copyTo(e.home), e.own(e.home)) != nil {
		return ""
	}
	e.read(c.readable...)
	for name, value := range c.env {
		e.env = append(e.env, name+"="+value)
	}
	return filepath.Join(e.home, as)
}

// own gives a directory to the clients that nobody but the host has put something
// into.
func (e *enclosure) own(dir string) error {
	if e == nil || e.uid < 0 {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, e.uid, e.gid))
	})
}

// check looks at what clients have left in a directory, which stays theirs.
func (e *enclosure) check(dir string) error {
	if e == nil {
		return nil
	}
	return settle(dir, e.uid, e.gid, e.sandbox.Mode() == sandbox.Landlock)
}

// take makes a directory the host's.
func (e *enclosure) take(dir string) error {
	if e == nil {
		return nil
	}
	uid, gid := -1, -1
	if e.uid >= 0 {
		uid, gid = os.Geteuid(), os.Getegid()
	}
	return settle(dir, uid, gid, e.sandbox.Mode() == sandbox.Landlock)
}

// client returns a program of the host's by a path that clients can be started by,
// and has them read what it needs beside.
func (e *enclosure) client(path string) (string, error) {
	if e == nil {
		return path, nil
	}
	if e.sandbox.Reachable(path) == nil {
		e.read(rootsOf(path)...)
		return path, nil
	}
	inside := filepath.Join(e.home, filepath.Base(path)) // whole: uv is one file
	in, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	defer in.Close()
	out, err := os.OpenFile(inside, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if errors.Is(err, os.ErrExist) {
		return inside, nil
	}
	if err == nil {
		_, err = io.Copy(out, in)
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return inside, nil
}

// script returns the path of a program that is not one file, but whose files are
// below one directory, which clients may read.
func (e *enclosure) script(path string) (string, error) {
	if e == nil {
		return path, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		err = e.sandbox.Show([]string{path})
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	e.read(rootsOf(path)...)
	if above := filepath.Dir(filepath.Dir(real)); isPackage(above) {
		e.read(above)
	}
	return path, nil
}

func isPackage(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "package.json"))
	return err == nil
}

// run runs a client, as builder.run does. Paths in its directory are told as it sees
// them.
func (e *enclosure) run(ctx context.Context, args []string, m *meter) (out, errs *tail, err error) {
	out, errs = &tail{}, &tail{}
	seen := e.sandbox.WorkdirInside(e.dir, nil)
	inside := make([]string, len(args))
	for i, a := range args {
		if rest, ok := strings.CutPrefix(a, e.dir+"/"); ok {
			a = seen + "/" + rest
		}
		inside[i] = a
	}
	ends, err := newEnds(false)
	if err != nil {
		return out, errs, err
	}
	var reading sync.WaitGroup
	for i, t := range []*tail{out, errs} {
		reading.Go(func() { _, _ = io.Copy(t, ends.host[i]); ends.host[i].Close() })
	}
	p, err := e.sandbox.Start(&sandbox.Cmd{
		Path: inside[0], Args: inside, Env: e.env, Workdir: e.dir, ReadOnly: e.readable, Files: []*os.File{nil, ends.child[0], ends.child[1]},
	})
	// Before all else: reading does not end while the host holds these ends.
	ends.closeChild()
	if err != nil {
		reading.Wait()
		return out, errs, err
	}
	stop := context.AfterFunc(ctx, p.Kill)
	defer stop()
	var watching sync.WaitGroup
	if about, err := procfs.Read(p.Pid()); err == nil {
		watching.Go(func() { m.watch(about.Group, p.Done()) })
	}
	exit := p.Wait()
	watching.Wait()
	reading.Wait()
	// The client may have written much since the last look.
	m.weigh()
	return out, errs, ended(exit)
}

// ended says how a client failed, nil if it did not.
func ended(exit sandbox.Exit) error {
	switch {
	case exit.Cause == codeinterp.CauseDisk:
		return fmt.Errorf("%w: %s", codeinterp.ErrQuota, exit.Detail)
	case exit.Detail != "":
		return errors.New(exit.Detail)
	case exit.Code != 0:
		return fmt.Errorf("exit status %d", exit.Code)
	}
	return nil
}

// close ends what runs and removes what is not an environment.
func (e *enclosure) close() (err error) {
	if e == nil {
		return nil
	}
	if e.sandbox != nil {
		err = e.sandbox.Close()
		e.sandbox = nil
	}
	if e.remove != nil {
		err = errors.Join(err, e.remove())
		e.remove = nil
	}
	if e.unlock != nil {
		e.unlock()
		e.unlock = nil
	}
	return err
}
