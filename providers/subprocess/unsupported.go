//go:build !unix

package subprocess

import (
	"fmt"
	"runtime"

	"github.com/toolcell/toolcell/codeinterp"
)

// An Interpreter runs each program in a process of its own. There is none on
// this system.
type Interpreter struct {
	codeinterp.CodeInterpreter
	codeinterp.Describer
}

// A Stateful is an [Interpreter] with contexts. There is none on this system.
type Stateful struct {
	codeinterp.StatefulInterpreter
	codeinterp.ContextManager
	codeinterp.Describer
}

// New returns codeinterp.ErrUnavailable.
func New(*Options) (*Interpreter, error) { return nil, unsupported() }

// NewStateful returns codeinterp.ErrUnavailable.
func NewStateful(*Options) (*Stateful, error) { return nil, unsupported() }

// A Dir is the directory that the programs of an interpreter share. There is
// none on this system.
type Dir interface {
	codeinterp.FS
	Close() error
}

// OpenDir returns codeinterp.ErrUnavailable.
func (i *Interpreter) OpenDir() (Dir, error) { return nil, unsupported() }

// OpenDir returns codeinterp.ErrUnavailable.
func (i *Stateful) OpenDir() (Dir, error) { return nil, unsupported() }

func unsupported() error {
	return &codeinterp.Error{Provider: "subprocess", Op: "new", Err: fmt.Errorf(
		"%w: processes cannot be isolated and ended for certain on %s; use providers/inmemory, or providers/jupyter with a server elsewhere",
		codeinterp.ErrUnavailable, runtime.GOOS)}
}

func runKeeper() {}
