package codeinterp

import (
	"context"
	"fmt"
)

// An Op is one of the operations an interpreter can be asked for.
type Op uint8

// The operations. A middleware that guards refuses those it does not know.
const (
	OpRun       Op = iota + 1 // RunCode
	OpCreate                  // CreateContext
	OpRunIn                   // RunInContext
	OpDelete                  // DeleteContext
	OpList                    // ListContexts
	OpRestart                 // RestartContext
	OpInterrupt               // InterruptContext
)

var opNames = [...]string{"unknown", "run", "create context", "run in context", "delete context", "list contexts", "restart context", "interrupt context"}

// String returns the operation's name as errors and logs show it, such as
// "run in context".
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return opNames[0]
}

// Runs reports whether the operation runs code.
func (o Op) Runs() bool { return o == OpRun || o == OpRunIn }

// A Call is one request on its way to a provider. Which fields are set depends
// on Op.
type Call struct {
	Op         Op
	Language   string          // OpRun, OpCreate
	Context    ContextID       // OpRunIn, OpDelete, OpRestart, OpInterrupt
	Code       string          // OpRun, OpRunIn
	Run        *RunOptions     // OpRun, OpRunIn; may be nil; not to be modified
	NewContext *ContextOptions // OpCreate; may be nil; not to be modified
}

// A Reply answers a Call.
type Reply struct {
	Result   Result        // OpRun, OpRunIn
	Context  ContextID     // OpCreate
	Contexts []ContextInfo // OpList
}

// A Handler serves calls.
type Handler func(context.Context, Call) (Reply, error)

// A Middleware wraps a Handler. It sees every operation, so a limit set here
// cannot be sidestepped through a context. It is called once for each [Wrap].
type Middleware func(Handler) Handler

// Wrap returns ci with the middlewares around each of its operations, the
// first outermost. The result has a capability exactly when ci has it.
// Languages, Describe and Close go straight to ci.
func Wrap(ci CodeInterpreter, mw ...Middleware) CodeInterpreter {
	s, stateful := Stateful(ci)
	m, managed := Manager(ci)
	d, describes := ci.(Describer)
	w := wrapped{inner: ci, handle: dispatch(ci, s, m)}
	for i := len(mw) - 1; i >= 0; i-- {
		w.handle = mw[i](w.handle)
	}
	st := wrappedStateful{w}
	mg := wrappedManager{st}
	switch {
	case managed && describes:
		return struct {
			wrappedManager
			Describer
		}{mg, d}
	case managed:
		return mg
	case stateful && describes:
		return struct {
			wrappedStateful
			Describer
		}{st, d}
	case stateful:
		return st
	case describes:
		return struct {
			wrapped
			Describer
		}{w, d}
	}
	return w
}

// dispatch returns the innermost handler, which calls the provider.
func dispatch(ci CodeInterpreter, s StatefulInterpreter, m ContextManager) Handler {
	return func(ctx context.Context, c Call) (r Reply, err error) {
		switch c.Op {
		case OpRun:
			r.Result, err = ci.RunCode(ctx, c.Language, c.Code, c.Run)
			return r, err
		case OpCreate:
			if s != nil {
				r.Context, err = s.CreateContext(ctx, c.Language, c.NewContext)
				return r, err
			}
		case OpRunIn:
			if s != nil {
				r.Result, err = s.RunInContext(ctx, c.Context, c.Code, c.Run)
				return r, err
			}
		case OpDelete:
			if s != nil {
				return r, s.DeleteContext(ctx, c.Context)
			}
		case OpList, OpRestart, OpInterrupt:
			if m != nil {
				return manage(ctx, m, c)
			}
		}
		return Reply{Result: NotRun()}, fmt.Errorf("%w: operation %q", ErrInvalid, c.Op)
	}
}

func manage(ctx context.Context, m ContextManager, c Call) (r Reply, err error) {
	switch c.Op {
	case OpList:
		r.Contexts, err = m.ListContexts(ctx)
	case OpRestart:
		err = m.RestartContext(ctx, c.Context)
	case OpInterrupt:
		err = m.InterruptContext(ctx, c.Context)
	}
	return r, err
}

type wrapped struct {
	inner  CodeInterpreter
	handle Handler
}

var _ CodeInterpreter = wrapped{}

func (w wrapped) Languages() []string { return w.inner.Languages() }
func (w wrapped) Close() error        { return w.inner.Close() }

func (w wrapped) RunCode(ctx context.Context, language, code string, opts *RunOptions) (Result, error) {
	r, err := w.handle(ctx, Call{Op: OpRun, Language: language, Code: code, Run: opts})
	return r.Result, err
}

type wrappedStateful struct{ wrapped }

var _ StatefulInterpreter = wrappedStateful{}

func (w wrappedStateful) CreateContext(ctx context.Context, language string, opts *ContextOptions) (ContextID, error) {
	r, err := w.handle(ctx, Call{Op: OpCreate, Language: language, NewContext: opts})
	return r.Context, err
}

func (w wrappedStateful) RunInContext(ctx context.Context, id ContextID, code string, opts *RunOptions) (Result, error) {
	r, err := w.handle(ctx, Call{Op: OpRunIn, Context: id, Code: code, Run: opts})
	return r.Result, err
}

func (w wrappedStateful) DeleteContext(ctx context.Context, id ContextID) error {
	_, err := w.handle(ctx, Call{Op: OpDelete, Context: id})
	return err
}

type wrappedManager struct{ wrappedStateful }

var _ ContextManager = wrappedManager{}

func (w wrappedManager) ListContexts(ctx context.Context) ([]ContextInfo, error) {
	r, err := w.handle(ctx, Call{Op: OpList})
	return r.Contexts, err
}

func (w wrappedManager) RestartContext(ctx context.Context, id ContextID) error {
	_, err := w.handle(ctx, Call{Op: OpRestart, Context: id})
	return err
}

func (w wrappedManager) InterruptContext(ctx context.Context, id ContextID) error {
	_, err := w.handle(ctx, Call{Op: OpInterrupt, Context: id})
	return err
}
