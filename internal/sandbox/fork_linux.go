package sandbox

import (
	"errors"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// CanFork reports whether Fork works in this mode: in landlock and none mode.
func (s *Sandbox) CanFork() bool { return s.mode != Bwrap }

// Fork prepares a child of server with the isolation that Start would give it.
// Of c it uses Workdir, ReadOnly, Writable and Limits, which can only narrow
// what the server has.
func (s *Sandbox) Fork(server *Process, c *Cmd) (*Fork, error) {
	return nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, errors.ErrUnsupported)
}

// Adopt takes over the forked child, which has applied the Layer.
func (f *Fork) Adopt(pid int) (*Process, error) { return nil, codeinterp.ErrUnavailable }

// Close releases what was prepared and not adopted.
func (f *Fork) Close() error { return nil }
