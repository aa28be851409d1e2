package codeinterp

import "context"

// A Call is one request on its way to a provider. Which fields are set depends
// on Op.
type Call struct {
	Op         Op
	Language   string          // OpRun, OpCreate
	Context    ContextID       // the context that the call is about
	Code       string          // operations that run
	Run        *RunOptions     // operations that run; may be nil; not to be modified
	NewContext *ContextOptions // operations that create; may be nil; not to be modified
	Args       any             // what else an operation takes; it says of which type
}

// A Reply answers a Call.
type Reply struct {
	Result   Result        // operations that run
	Context  ContextID     // operations that create
	Contexts []ContextInfo // OpList
	Value    any           // what else an operation returns; it says of which type
}

// A Handler serves calls.
type Handler func(context.Context, Call) (Reply, error)

// A Middleware wraps a Handler. It sees every operation, and the calls of functions of
// the host by programs. It is called once for each [Wrap].
type Middleware func(Handler) Handler

// Wrap returns ci with the middlewares around each of its operations, the
// first outermost. The result has contexts, and every optional group, exactly
// when ci has them; the groups are found by their accessors, such as
// [Manager]. Languages and Close go straight to ci.
func Wrap(ci CodeInterpreter, mw ...Middleware) CodeInterpreter {
	w := wrapped{ci, serve(ci)}
	for i := len(mw) - 1; i >= 0; i-- {
		w.handle = mw[i](w.handle)
	}
	if _, ok := Stateful(ci); ok {
		return wrappedStateful{w}
	}
	return w
}

// serve returns the innermost handler, which calls the provider.
func serve(ci CodeInterpreter) Handler {
	return func(ctx context.Context, c Call) (Reply, error) {
		if c.Op.of == nil {
			return errUnknownOp(c)
		}
		started(ctx, ci, c.Op)
		return c.Op.of.serve(ctx, ci, c)
	}
}

type wrapped struct {
	inner  CodeInterpreter
	handle Handler
}

var _ Describer = wrapped{}

func (w wrapped) layer() (CodeInterpreter, Handler) { return w.inner, w.handle }
func (w wrapped) Languages() []string               { return w.inner.Languages() }
func (w wrapped) Close() error                      { return w.inner.Close() }

// run returns opts with the middlewares around the functions.
func (w wrapped) run(opts *RunOptions) *RunOptions {
	if opts == nil || len(opts.Functions) == 0 {
		return opts
	}
	o := *opts
	o.Functions = through(w.handle, o.Functions)
	return &o
}

func (w wrapped) RunCode(ctx context.Context, language, code string, opts *RunOptions) (Result, error) {
	defer opts.closeInput()
	r, err := w.handle(ctx, Call{Op: OpRun, Language: language, Code: code, Run: w.run(opts)})
	return r.Result, err
}

func (w wrapped) Describe() Info {
	// Describe cannot fail: if a middleware refuses, the provider's own Info is used.
	r, _ := w.handle(context.Background(), Call{Op: OpDescribe})
	if info, ok := r.Value.(Info); ok {
		return info
	}
	return Describe(w.inner)
}

type wrappedStateful struct{ wrapped }

var _ StatefulInterpreter = wrappedStateful{}

func (w wrappedStateful) CreateContext(ctx context.Context, language string, opts *ContextOptions) (ContextID, error) {
	if opts != nil && len(opts.Functions) > 0 {
		o := *opts
		o.Functions = through(w.handle, o.Functions)
		opts = &o
	}
	r, err := w.handle(ctx, Call{Op: OpCreate, Language: language, NewContext: opts})
	return r.Context, err
}

func (w wrappedStateful) RunInContext(ctx context.Context, id ContextID, code string, opts *RunOptions) (Result, error) {
	defer opts.closeInput()
	r, err := w.handle(ctx, Call{Op: OpRunIn, Context: id, Code: code, Run: w.run(opts)})
	return r.Result, err
}

func (w wrappedStateful) DeleteContext(ctx context.Context, id ContextID) error {
	_, err := w.handle(ctx, Call{Op: OpDelete, Context: id})
	return err
}
