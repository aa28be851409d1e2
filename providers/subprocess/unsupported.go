//go:build !unix

package subprocess

import (
	"context"
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

// NewEnvironment returns codeinterp.ErrUnavailable.
func NewEnvironment(context.Context, *EnvironmentOptions) (*Environment, error) {
	return nil, unsupported()
}

// OpenEnvironment returns codeinterp.ErrUnavailable.
func OpenEnvironment(string, string) (*Environment, error) { return nil, unsupported() }

// SweepEnvironments returns codeinterp.ErrUnavailable.
func SweepEnvironments(context.Context, string, int64, []string) ([]string, int64, error) {
	return nil, 0, unsupported()
}

// EnvironmentRoot returns codeinterp.ErrUnavailable.
func EnvironmentRoot(string) (string, error) { return "", unsupported() }

// Remove returns codeinterp.ErrUnavailable.
func (e *Environment) Remove(context.Context) error { return unsupported() }

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
