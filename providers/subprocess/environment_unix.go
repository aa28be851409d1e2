//go:build unix

package subprocess

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// lockFile is the last file of an environment to be written.
const lockFile = "toolcell.lock"

// wheelsDir keeps what environments were made of, beside them.
const wheelsDir = "wheels"

// NewEnvironment returns the environment of the packages, and makes it where it
// is not there yet, with uv where that is on PATH, else with venv and pip, or with
// npm, which are configured as they always are. They run in a sandbox, as
// opts.Require says. They install wheels only, and run no scripts, so no code of a
// package runs before a program imports it. opts.Packages must not be empty. Several processes that ask at once make one, and one that
// is killed leaves nothing that another takes for whole. Once ctx is done the
// installation is given up.
//
// It fails with codeinterp.ErrUnavailable where no Python is found or the
// installation fails, with context.DeadlineExceeded too where that takes too
// long, and with codeinterp.ErrQuota where it writes too much.
func NewEnvironment(ctx context.Context, opts *EnvironmentOptions) (*Environment, error) {
	e, err := newEnvironment(ctx, opts, nil)
	if err != nil {
		return nil, &codeinterp.Error{Provider: provider, Op: "environment", Err: err}
	}
	return e, nil
}

// newEnvironment is NewEnvironment for programs that have packages already, which
// beside lists as a Lock does: of these the environment has no other versions.
func newEnvironment(ctx context.Context, opts *EnvironmentOptions, beside []string) (*Environment, error) {
	packages, err := opts.check()
	if err != nil {
		return nil, err
	}
	for _, dir := range opts.Changeable {
		if !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("%w: Changeable %q is not absolute", codeinterp.ErrInvalid, dir)
		}
	}
	root, err := EnvironmentRoot(opts.Root)
	if err != nil {
		return nil, err
	}
	base, err := opts.base()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	id := environmentID(base.path, base.runtime, packages, opts.Exact, beside)
	if e, err := OpenEnvironment(root, id); err == nil {
		return e, nil
	}
	unlock, held, err := lockEnvironment(ctx, filepath.Join(root, id+".lock"), false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if e, err := OpenEnvironment(root, id); err == nil { // made by who held the lock
		return e, nil
	}
	b := &builder{node: base.kind == nodeKind, python: baseOf(base.path), changeable: realDirs(opts.Changeable), packages: packages, exact: opts.Exact, beside: beside, dir: filepath.Join(root, id+".new"), temp: filepath.Join(root, id+".tmp"), wheels: filepath.Join(root, wheelsDir), held: held}
	e, err := b.make(ctx, root, id, opts, base)
	if err != nil {
		return nil, err
	}
	e.wrote = b.meter.past.Load()
	return e, nil
}

// environmentID returns the ID of what was asked for. Every part has its length before
// it, so that no list of packages reads as another request.
func environmentID(path, runtime string, packages []string, exact bool, beside []string) string {
	parts := []string{path, runtime, strconv.FormatBool(exact), strconv.Itoa(len(packages))}
	parts = slices.Concat(parts, packages, beside)
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// make makes the environment, in a sandbox where there is one.
func (b *builder) make(ctx context.Context, root, id string, opts *EnvironmentOptions, base *language) (_ *Environment, err error) {
	opts = opts.bounds()
	if b.enclosure, err = enclose(ctx, root, opts, base); err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, b.enclosure.close())
		if errors.Is(err, codeinterp.ErrQuota) { // it may all lie in the cache
			err = errors.Join(err, removeKept(ctx, root, cacheDir))
		}
	}()
	if b.enclosure != nil {
		b.dir, b.temp = filepath.Join(b.enclosure.dir, "env"), filepath.Join(b.enclosure.dir, "tmp")
	}
	ctx, m, stop := bounded(ctx, opts, b.dir, b.temp)
	defer stop()
	b.meter = m
	if err := b.build(ctx, filepath.Join(root, id)); err != nil {
		return nil, err
	}
	return OpenEnvironment(root, id)
}

// OpenEnvironment returns the environment of an ID that is kept in a directory,
// which may be empty as EnvironmentOptions.Root may. It fails with
// codeinterp.ErrUnavailable where there is none.
func OpenEnvironment(root, id string) (*Environment, error) {
	root, err := EnvironmentRoot(root)
	if err != nil {
		return nil, err
	}
	if b, err := hex.DecodeString(id); err != nil || len(b) != 12 {
		return nil, fmt.Errorf("%w: environment %.50q", codeinterp.ErrInvalid, id)
	}
	dir := filepath.Join(root, id)
	e := &Environment{ID: id, Dir: dir, Python: filepath.Join(dir, "bin", "python")}
	text, err := os.ReadFile(filepath.Join(dir, lockFile))
	if _, gone := os.Stat(filepath.Join(dir, "node_modules")); err == nil && gone == nil {
		e.Python = ""
	} else if err == nil {
		_, err = os.Stat(e.Python) // its base may be gone
	}
	if err != nil {
		return nil, fmt.Errorf("%w: no environment %s", codeinterp.ErrUnavailable, id)
	}
	e.Lock = strings.Fields(string(text))
	now := time.Now()
	_ = os.Chtimes(filepath.Join(dir, lockFile), now, now) // SweepEnvironments looks at it; another user's stays
	return e, nil
}

// Remove deletes the environment for everybody, and with the last one the wheels
// that they were made of. Programs that use it lose it. It fails with
// codeinterp.ErrUnavailable where there is none any more.
func (e *Environment) Remove(ctx context.Context) error {
	unlock, _, err := lockEnvironment(ctx, e.Dir+".lock", false)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Lstat(e.Dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: no environment %s", codeinterp.ErrUnavailable, e.ID)
	}
	half := e.Dir + ".new"
	// Out of its place in one step: nobody takes what is half removed for whole.
	if err := errors.Join(os.RemoveAll(half), os.Rename(e.Dir, half)); err != nil {
		return err
	}
	err = os.RemoveAll(half)
	root := filepath.Dir(e.Dir)
	if left, _ := filepath.Glob(filepath.Join(root, "*", lockFile)); len(left) == 0 {
		err = errors.Join(err, removeKept(ctx, root, cacheDir, wheelsDir))
	}
	return err
}

// removeKept removes directories of what environments are made of, unless one is
// being made.
func removeKept(ctx context.Context, root string, names ...string) error {
	// Who makes an environment holds the lock for minutes.
	soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	unlock, _, busy := lockEnvironment(soon, filepath.Join(root, cacheDir+".lock"), false)
	if busy != nil {
		return nil
	}
	defer unlock()
	var err error
	for _, name := range names {
		err = errors.Join(err, sandbox.RemoveAll(filepath.Join(root, name)))
	}
	return err
}

// EnvironmentRoot returns the directory that environments are kept in, which it
// makes: root, or where that is empty what EnvironmentOptions.Root says.
func EnvironmentRoot(root string) (string, error) {
	if root == "" {
		cache, err := os.UserCacheDir()
		if os.Geteuid() == 0 {
			cache, err = "/var/cache", nil
		}
		if err != nil {
			return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
		}
		root = filepath.Join(cache, "toolcell", "environments")
	}
	root, err := filepath.Abs(root)
	if err == nil {
		err = os.MkdirAll(root, 0o755)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return root, nil
}

// base is the interpreter that the environment is for.
func (o *EnvironmentOptions) base() (*language, error) {
	if o.Python != "" {
		path, err := filepath.Abs(o.Python)
		if err != nil {
			return nil, err
		}
		python := &language{Language: Python(), path: path}
		if err := python.checkTrust(realDirs(o.Changeable)); err != nil {
			return nil, err
		}
		python.path, python.probed = python.probePath(), ""
		if err := python.probePython(); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Python, err)
		}
		return python, nil
	}
	l := Python()
	if o.Language == "javascript" {
		l = JavaScript()
	}
	h, err := newHost(&Options{Languages: []Language{l}, AllowNone: true, changed: o.Changeable})
	if err != nil {
		return nil, err
	}
	defer h.Close(context.Background())
	return h.languages[l.Name], nil
}

// lockEnvironment waits for a lock that all processes respect, and that whoever
// has inherited held keeps. Several can share one.
func lockEnvironment(ctx context.Context, path string, shared bool) (unlock func(), held *os.File, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	for {
		// Without waiting in the kernel, where ctx could not end it.
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, nil, fmt.Errorf("%w: locking %s: %w", codeinterp.ErrUnavailable, path, err)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			f.Close()
			return nil, nil, context.Cause(ctx)
		}
	}
}

// A builder makes an environment in a directory that nobody else looks at.
type builder struct {
	node     bool   // it is one of Node.js
	python   string // the interpreter
	packages []string

	changeable []string // directories whose clients are not used
	exact      bool     // they are all that is installed
	beside     []string // versions that others have to agree with
	dir        string
	temp       string // of the installers
	meter      *meter
	wheels     string   // what environments were made of
	held       *os.File // the lock, which outlives the host with an installer that does

	enclosure *enclosure // nil: what installs runs as the host
}

// build makes the environment and puts it into its place whole.
func (b *builder) build(ctx context.Context, place string) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, sandbox.RemoveAll(b.dir))
		}
		err = errors.Join(err, sandbox.RemoveAll(b.temp))
	}()
	// A host that was killed may have left its own.
	if err := errors.Join(sandbox.RemoveAll(b.dir), sandbox.RemoveAll(b.temp), os.Mkdir(b.temp, 0o700), b.enclosure.own(b.temp)); err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	install := b.install
	if b.node {
		install = b.installNode
	}
	lock, err := install(ctx)
	if err != nil || ctx.Err() != nil {
		// Where ctx has ended, the client failed by being killed: the cause says why.
		return cmp.Or(context.Cause(ctx), err)
	}
	if got := strings.Join(strings.Fields(lock), " "); b.exact && got != strings.Join(b.packages, " ") {
		return fmt.Errorf("%w: not as locked, but %.500s", codeinterp.ErrUnavailable, got)
	}
	if err := b.sign(lock); err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	_ = os.RemoveAll(place) // one whose base is gone
	if err := os.Rename(b.dir, place); err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return nil
}

// sign makes the environment the host's and says in it what it is.
func (b *builder) sign(lock string) error {
	if err := b.enclosure.take(b.dir); err != nil {
		return err
	}
	dir, err := openPlain(b.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	for name, text := range map[string]string{baseFile: b.python, lockFile: lock} {
		// A package may have put anything in their places.
		err = errors.Join(err, dir.RemoveAll(name), dir.WriteFile(name, []byte(text), 0o644))
	}
	return err
}
