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
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/egress/gate"
	"github.com/toolcell/toolcell/internal/interpreter"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// Limits of an installer; its disk is Options.Disk.
const (
	maxMemory    = 4 << 30
	maxProcesses = 512
	maxFiles     = 2_000_000
	maxOpen      = 4096
)

// A box is where installers run. They change dir, read their settings and the
// interpreter, and use the network.
type box struct {
	sandbox  *sandbox.Sandbox
	dir      string
	temp     string // in dir, with the caches of installers
	home     string
	uid, gid int // of the installers; -1 where that is the host's user
	env      []string
	readable []string
	closes   []func() error

	gate         *gate.Gate // nil where installers use the host's network
	certificates string     // the directory of the gate's, if any
}

// openGate opens the way to what a policy allows.
func (x *box) openGate(e *egress.Options) (err error) {
	if e == nil || e.Policy.Mode == egress.Host {
		return nil
	}
	if x.gate, err = gate.New(e); err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
	}
	x.closes = append(x.closes, x.gate.Close)
	x.certificates, err = x.gate.WriteBundle("")
	return err
}

// newBox returns a box for one environment.
func newBox(o *Options, b *base) (_ *box, err error) {
	x := &box{uid: -1, gid: -1}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.close())
		}
	}()
	if err := x.openGate(o.Egress); err != nil {
		return nil, err
	}
	// In Root, so that the environment can be renamed to its place.
	x.sandbox, err = sandbox.New(&sandbox.Options{
		Require: o.require, AllowNone: true, AllowSignals: true, Network: x.gate == nil, Egress: x.gate != nil, TempDir: o.Root,
		Limits: sandbox.Limits{Memory: maxMemory, Processes: maxProcesses, CPU: -1, FileSize: o.Disk, Disk: o.Disk, Inodes: maxFiles, OpenFiles: maxOpen},
	})
	if err != nil {
		return nil, err
	}
	x.closes = append(x.closes, x.sandbox.Close)
	return x, x.furnish(b)
}

// furnish makes the directories of installers.
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
	// Not in Root, which programs may read: settings can hold tokens.
	home, remove, err := sandbox.PrivateDir(x.uid, x.gid)
	if err != nil {
		return unavailable(err)
	}
	x.home, x.closes = home, append(x.closes, remove)
	x.temp = filepath.Join(x.dir, "tmp")
	c := readSettings()
	if err := errors.Join(c.copyTo(x.home), x.own(x.home), os.Mkdir(x.temp, 0o755), x.own(x.temp)); err != nil {
		return unavailable(err)
	}
	x.read(b.roots...)
	x.read(c.readable...)
	x.readable = append(x.readable, x.home)
	if x.certificates != "" {
		x.read(x.certificates)
	}
	x.env = x.sandbox.Env(x.dir, nil, x.settings(b, c))
	return nil
}

// unavailable is the error of an installation that the host cannot make.
func unavailable(err error) error { return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err) }

// settings returns the variables of installers.
func (x *box) settings(b *base, c *settings) map[string]string {
	env := maps.Clone(c.env)
	temp := filepath.Join(x.sandbox.WorkdirInside(x.dir, nil), "tmp")
	for name, dir := range map[string]string{"TMPDIR": "", "PIP_CACHE_DIR": "pip", "UV_CACHE_DIR": "uv", "npm_config_cache": "npm"} {
		env[name] = filepath.Join(temp, dir)
	}
	env["UV_LINK_MODE"], env["UV_PYTHON_DOWNLOADS"] = "copy", "never"
	if x.gate != nil {
		maps.Copy(env, x.gate.Environ(sandbox.ProxyPort))
	}
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

// show lets installers run a program, whose other files may lie around it.
func (x *box) show(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		err = x.sandbox.Show([]string{path, real})
	}
	if err != nil {
		return unavailable(err)
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
	return settle(dir, uid, gid)
}

const maxPrinted = 1 << 20 // bytes that are kept of what an installer prints

// run runs an installer and returns what it prints.
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
		return "", unavailable(err)
	}
	defer r.Close()
	var out []byte
	var reading sync.WaitGroup
	reading.Go(func() {
		out, _ = io.ReadAll(io.LimitReader(r, maxPrinted))
		_, _ = io.Copy(io.Discard, r)
	})
	c := &sandbox.Cmd{Path: inside[0], Args: inside, Env: x.env, Workdir: x.dir, ReadOnly: x.readable, Files: []*os.File{nil, w, w}}
	if x.gate != nil {
		s := x.gate.Session()
		defer s.Close()
		c.Egress = &sandbox.Egress{Serve: s.Serve, DNS: s.DNS, Ports: x.gate.Ports()}
	}
	p, err := x.sandbox.Start(c)
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
	return string(out), err
}

// close ends what runs, and removes all but what was renamed.
func (x *box) close() (err error) {
	for _, f := range x.closes {
		err = errors.Join(err, f())
	}
	return err
}
