//go:build !unix

package sandbox

import (
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Sandbox cannot be had on this system.
type Sandbox struct{ mode Mode }

type proc struct{}

var errUnsupported = fmt.Errorf("%w: running interpreters as processes needs Linux, macOS or a BSD", codeinterp.ErrUnavailable)

// New fails with ErrUnavailable on this system.
func New(*Options) (*Sandbox, error) { return nil, errUnsupported }

// Report says that nothing is in force.
func (s *Sandbox) Report() codeinterp.Isolation { return codeinterp.Isolation{Backend: "none"} }

// Close does nothing.
func (s *Sandbox) Close() error { return nil }

// Start fails with ErrUnavailable on this system.
func (s *Sandbox) Start(*Cmd) (*Process, error) { return nil, errUnsupported }

// TempDir fails with ErrUnavailable on this system.
func (s *Sandbox) TempDir() (string, error) { return "", errUnsupported }

// A Dir cannot be had on this system.
type Dir struct{}

// OpenDir fails with ErrUnavailable on this system.
func OpenDir(string) (*Dir, error) { return nil, errUnsupported }

// Path returns nothing on this system.
func (d *Dir) Path() string { return "" }

// Share fails with ErrUnavailable on this system.
func (s *Sandbox) Share(*Dir) error { return errUnsupported }

// Close does nothing on this system.
func (d *Dir) Close() error { return nil }

// Discard does nothing on this system.
func (s *Sandbox) Discard(string) {}

// RemoveAll fails with ErrUnavailable on this system.
func RemoveAll(string) error { return errUnsupported }

// Reachable fails with ErrUnavailable on this system.
func (s *Sandbox) Reachable(string) error { return errUnsupported }

// CanFork reports whether Fork works: not on this system.
func (s *Sandbox) CanFork() bool { return false }

// Fork fails with ErrUnavailable on this system.
func (s *Sandbox) Fork(*Process, *Cmd) (*Fork, error) { return nil, errUnsupported }

// Adopt is never reached on this system.
func (f *Fork) Adopt(int) (*Process, error) { return nil, errUnsupported }

// Close does nothing on this system.
func (f *Fork) Close() error { return nil }
