//go:build unix

package environments

import (
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
)

const (
	lockFile = "toolcell.lock" // the last file of an environment to be written
	baseFile = "toolcell.base" // the path of the interpreter that it was made with
	toolDir  = "uv"            // of a root, for a uv that pip has installed
	idSize   = 12              // bytes of an ID
)

// New returns the environment of the packages, and makes it if it does not exist.
// Several processes that ask at once make one. A canceled ctx ends the installation.
//
// It fails with codeinterp.ErrUnavailable if no interpreter is found or the installation
// fails, and with codeinterp.ErrQuota if it writes more than Disk.
func New(ctx context.Context, opts *Options) (*Environment, error) {
	e, err := create(ctx, opts)
	if err != nil {
		return nil, &codeinterp.Error{Provider: "environments", Op: "new", Err: err}
	}
	return e, nil
}

func create(ctx context.Context, opts *Options) (*Environment, error) {
	o, err := opts.complete()
	if err != nil {
		return nil, err
	}
	if o.Root, err = Root(o.Root); err != nil {
		return nil, err
	}
	b, err := findBase(o)
	if err != nil {
		return nil, unavailable(err)
	}
	id := requestID(b.path, b.runtime, o)
	if e, err := Open(o.Root, id); err == nil {
		return e, nil
	}
	held, err := lock(ctx, filepath.Join(o.Root, id+".lock"))
	if err != nil {
		return nil, err
	}
	defer held.Close()
	if e, err := Open(o.Root, id); err == nil { // another process made it
		return e, nil
	}
	if err := install(ctx, o, b, filepath.Join(o.Root, id)); err != nil {
		return nil, err
	}
	return Open(o.Root, id)
}

// requestID returns the ID of a request. Every part has its length before it, so that
// no list of packages reads as another request.
func requestID(path, runtime string, o *Options) string {
	parts := []string{path, runtime, strconv.FormatBool(o.Exact), strconv.Itoa(len(o.Packages))}
	sum := sha256.New()
	for _, part := range slices.Concat(parts, o.Packages, o.Constraints) {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil)[:idSize])
}

func isID(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == idSize
}

// Open returns the environment of an ID in a root, which may be empty as Options.Root
// may. It fails with codeinterp.ErrUnavailable if there is none.
func Open(root, id string) (*Environment, error) {
	root, err := Root(root)
	if err != nil {
		return nil, err
	}
	if !isID(id) {
		return nil, fmt.Errorf("%w: environment %.50q", codeinterp.ErrInvalid, id)
	}
	dir := filepath.Join(root, id)
	e := &Environment{ID: id, Dir: dir, Python: filepath.Join(dir, "bin", "python")}
	text, err := os.ReadFile(filepath.Join(dir, lockFile))
	if _, absent := os.Stat(filepath.Join(dir, "node_modules")); err == nil && absent == nil {
		e.Python = ""
	} else if err == nil {
		_, err = os.Stat(e.Python) // the interpreter that it links to may be gone
	}
	if err != nil {
		return nil, fmt.Errorf("%w: no environment %s", codeinterp.ErrUnavailable, id)
	}
	e.Lock = strings.Fields(string(text))
	now := time.Now()
	_ = os.Chtimes(filepath.Join(dir, lockFile), now, now) // Sweep removes the oldest first
	return e, nil
}

// Base returns the interpreter that an environment's Python was made with. made is
// false, and base is python, if python belongs to no environment of this package.
func Base(python string) (base string, made bool) {
	dir := filepath.Dir(filepath.Dir(python))
	if _, err := os.Stat(filepath.Join(dir, lockFile)); err != nil {
		return python, false
	}
	text, err := os.ReadFile(filepath.Join(dir, baseFile))
	if err != nil {
		return python, true
	}
	return string(text), true
}

// Root returns the directory that environments are kept in, and makes it. An empty
// root means the default of Options.Root.
func Root(root string) (string, error) {
	if root == "" {
		cache, err := os.UserCacheDir()
		if os.Geteuid() == 0 {
			cache, err = "/var/cache", nil // programs of a root host run as another user
		}
		if err != nil {
			return "", unavailable(err)
		}
		root = filepath.Join(cache, "toolcell", "environments")
	}
	root, err := filepath.Abs(root)
	if err == nil {
		err = makeOpen(root)
	}
	if err != nil {
		return "", unavailable(err)
	}
	return root, nil
}

// makeOpen is os.MkdirAll with directories that the programs of a root host, which run as
// another user, can enter whatever the umask is.
func makeOpen(dir string) error {
	if _, err := os.Stat(dir); err == nil || os.Geteuid() != 0 {
		return os.MkdirAll(dir, 0o755)
	}
	if err := makeOpen(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// Remove deletes the environment, also for programs that use it. It fails with
// codeinterp.ErrUnavailable if it does not exist.
func (e *Environment) Remove(ctx context.Context) error {
	held, err := lock(ctx, e.Dir+".lock")
	if err != nil {
		return err
	}
	defer held.Close()
	if _, err := os.Lstat(e.Dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: no environment %s", codeinterp.ErrUnavailable, e.ID)
	}
	// First, so that Open never finds an incomplete one.
	if err := os.Remove(filepath.Join(e.Dir, lockFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(e.Dir)
}

// Size returns the bytes of the environment's files.
func (e *Environment) Size() int64 { return bytesIn(e.Dir) }

// lock waits for a lock between processes, which closing the file releases.
func lock(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, unavailable(err)
	}
	for {
		// A wait in the kernel would not end with ctx.
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("%w: locking %s: %w", codeinterp.ErrUnavailable, path, err)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		}
	}
}
