package jupyter

import (
	"context"
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// An Interpreter runs each piece of code in a kernel of its own. It is safe for
// concurrent use. The kernel is gone when RunCode returns, unless the program
// left nothing that could run on. Close ends all runs and deletes the kernels
// that this client started; its error names kernels that still exist.
type Interpreter struct {
	*driver.Interpreter
}

// A Stateful interpreter also keeps contexts, each a kernel of its own. It is
// safe for concurrent use.
//
// CreateContext starts a kernel, or takes a warm one. Cwd is a directory of the
// kernel's host; one that cannot be entered is ErrInvalid, and "." is where the
// server starts its kernels. If it is empty, and Options.Dir too, Python kernels
// start in a new private directory, which lasts as long as the context; other
// kernels start where the server starts them. A kernel that is gone, by a
// crash, a restart of the server or its culling, is replaced by the next run,
// and Result.StateLost reports it.
type Stateful struct {
	*driver.Stateful
	rt *runtime
}

var (
	_ codeinterp.CodeInterpreter     = (*Interpreter)(nil)
	_ codeinterp.StatefulInterpreter = (*Stateful)(nil)
	_ codeinterp.ContextManager      = (*Stateful)(nil)
	_ driver.Attacher                = (*runtime)(nil)
)

// New connects to a server and learns its languages. A server that is starting
// is waited for. ctx bounds New alone.
func New(ctx context.Context, opts *Options) (*Interpreter, error) {
	rt, err := open(ctx, opts)
	if err != nil {
		return nil, wrap("connect", err)
	}
	return &Interpreter{driver.New(rt.withCommands(), rt.config())}, nil
}

// NewStateful is New, with contexts.
func NewStateful(ctx context.Context, opts *Options) (*Stateful, error) {
	rt, err := open(ctx, opts)
	if err != nil {
		return nil, wrap("connect", err)
	}
	return &Stateful{Stateful: driver.NewStateful(rt.withCommands(), rt.config()), rt: rt}, nil
}

// wrap puts the provider's error around err, for calls that are not the
// driver's.
func wrap(op string, err error) error {
	if _, ok := errors.AsType[*codeinterp.Error](err); ok {
		return err
	}
	return &codeinterp.Error{Provider: provider, Op: op, Err: err}
}
