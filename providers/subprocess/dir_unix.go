//go:build unix

package subprocess

import (
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/rootfs"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// openDir opens the directory that all programs share, if there is one.
func (h *host) openDir() error {
	if h.opts.Dir == "" {
		return nil
	}
	dir, err := sandbox.OpenDir(h.opts.Dir)
	if err != nil {
		return fmt.Errorf("Dir: %w", err)
	}
	h.dir = dir
	if _, _, _, err := h.sandbox.User(dir); err != nil {
		return fmt.Errorf("%w: Dir: %w", codeinterp.ErrInvalid, err)
	}
	return nil
}

// A Dir is the directory that the programs of an interpreter share.
type Dir interface {
	codeinterp.FS
	Close() error
}

// OpenDir opens the directory of [Options].Dir, with the rights of the user that
// programs have there: what it makes is theirs, and theirs is its. It fails
// without Options.Dir. The caller closes it; it may outlive the interpreter.
func (i *Interpreter) OpenDir() (Dir, error) { return i.host.shared() }

// OpenDir is that of [Interpreter].
func (i *Stateful) OpenDir() (Dir, error) { return i.host.shared() }

func (h *host) shared() (Dir, error) {
	if h.dir == nil {
		return nil, h.wrap("open directory", fmt.Errorf("%w: there is no Options.Dir", codeinterp.ErrInvalid))
	}
	dir, err := h.openShared()
	if err != nil {
		return nil, h.wrap("open directory", err)
	}
	return dir, nil
}

// openShared opens the directory that all programs share, as who they run as.
func (h *host) openShared() (*rootfs.FS, error) {
	root, err := h.dir.Root()
	if err != nil {
		return nil, err
	}
	// Stay, since all contexts share it: what is known of it serves the next one.
	o := &rootfs.Options{MaxFile: max(h.sandbox.Limits().FileSize, 0)}
	if uid, gid, other, err := h.sandbox.User(h.dir); err == nil && other {
		o.As = &rootfs.User{UID: uid, GID: gid}
	}
	return rootfs.New(root, o), nil
}

func (h *host) wrap(op string, err error) error {
	return &codeinterp.Error{Provider: provider, Op: op, Err: err}
}
