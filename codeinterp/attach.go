package codeinterp

import "context"

// A Ref names the state of a context for another process of the same user. It is a short
// text without secrets, which may be stored; it does not open what its reader may not open
// anyway.
type Ref string

// A ContextAttacher hands contexts on from one process to another. It is an optional
// group; see [Attaches].
type ContextAttacher interface {
	// Refer returns the reference of a context, which stays attached. A process that
	// ends without Close, even in a run, leaves the context to whoever attaches it; Close
	// and DeleteContext end it. Refer does not wait for runs.
	Refer(ctx context.Context, id ContextID) (Ref, error)

	// Detach removes a context after its earlier runs have ended, leaves its state
	// running and returns its reference. From then on the id is ErrContext.
	Detach(ctx context.Context, id ContextID) (Ref, error)

	// Attach makes a context of the state that ref names. It is ErrContext if the state
	// is gone, ErrCapacity while another process has it, ErrRefused if it belongs to
	// another user, and ErrInvalid if ref is no reference of this provider.
	Attach(ctx context.Context, ref Ref) (ContextID, error)

	// ResumeRun returns the run that was in progress when the process before ended,
	// or that ended without a later run of that process. It waits for the end of the
	// run and shows its output to OnOutput, also what the process before has seen;
	// Truncated says what is not kept. Of opts, which may be nil, only Timeout, OnOutput
	// and MaxOutput are used; the run keeps its own Timeout too, and one here begins
	// anew. Without such a run, or after a later one has begun, the error is ErrNoRun. A
	// run that is not resumed is reported as Late output by the next run, with a line
	// that says how it ended.
	ResumeRun(ctx context.Context, id ContextID, opts *RunOptions) (Result, error)
}

// Attaches returns the ContextAttacher of ci, if ci has contexts and one.
func Attaches(ci CodeInterpreter) (ContextAttacher, bool) { return attachers.find(ci) }

var attachers = group[ContextAttacher]{
	contexts: true,
	handle:   func(h Handler) ContextAttacher { return attachHandler(h) },
}

// The operations of a ContextAttacher. References are the Args of a Call and the Value of
// a Reply.
var (
	OpRefer  = attachers.op("refer to context", reads, serveRef(ContextAttacher.Refer))
	OpDetach = attachers.op("detach context", deletes, serveRef(ContextAttacher.Detach))
	OpAttach = attachers.op("attach context", creates, serveAttach)
	OpResume = attachers.op("resume run", runs, serveResume)
)

func serveRef(f func(ContextAttacher, context.Context, ContextID) (Ref, error)) func(context.Context, ContextAttacher, Call) (Reply, error) {
	return func(ctx context.Context, of ContextAttacher, c Call) (Reply, error) {
		ref, err := f(of, ctx, c.Context)
		return Reply{Value: ref}, err
	}
}

func serveAttach(ctx context.Context, of ContextAttacher, c Call) (r Reply, err error) {
	ref, ok := c.Args.(Ref)
	if !ok {
		return errUnknownOp(c)
	}
	r.Context, err = of.Attach(ctx, ref)
	return r, err
}

func serveResume(ctx context.Context, of ContextAttacher, c Call) (r Reply, err error) {
	r.Result, err = of.ResumeRun(ctx, c.Context, c.Run)
	return r, err
}

// attachHandler is a ContextAttacher whose calls go to a handler.
type attachHandler Handler

func (h attachHandler) ref(ctx context.Context, op Op, id ContextID) (Ref, error) {
	r, err := h(ctx, Call{Op: op, Context: id})
	ref, _ := r.Value.(Ref)
	return ref, err
}

func (h attachHandler) Refer(ctx context.Context, id ContextID) (Ref, error) {
	return h.ref(ctx, OpRefer, id)
}

func (h attachHandler) Detach(ctx context.Context, id ContextID) (Ref, error) {
	return h.ref(ctx, OpDetach, id)
}

func (h attachHandler) Attach(ctx context.Context, ref Ref) (ContextID, error) {
	r, err := h(ctx, Call{Op: OpAttach, Args: ref})
	return r.Context, err
}

func (h attachHandler) ResumeRun(ctx context.Context, id ContextID, opts *RunOptions) (Result, error) {
	r, err := h(ctx, Call{Op: OpResume, Context: id, Run: opts})
	return r.Result, err
}
