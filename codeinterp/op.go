package codeinterp

import (
	"context"
	"fmt"
)

// An Op is one of the operations that an interpreter can be asked for, such as
// [OpRun]. Ops are compared with ==. The zero value is no operation.
//
// A guard decides by the traits of an operation, so that it also covers operations
// that are added later. An operation without traits changes the context that it is
// called on, as a restart does.
type Op struct{ of *operation }

type operation struct {
	name   string
	traits traits
	serve  func(ctx context.Context, ci CodeInterpreter, c Call) (Reply, error)
}

type traits uint8

const (
	runs traits = 1 << iota
	creates
	deletes
	reads
	calls
)

// The operations that need no optional group; those of a group stand beside
// its interface.
var (
	// OpDescribe is Describe. A middleware that holds calls to something says
	// so in the [Info] that is the Reply's Value, as [Limit] does. Its errors
	// are ignored.
	OpDescribe = Op{&operation{"describe", reads, serveDescribe}}

	// OpRun is RunCode.
	OpRun = Op{&operation{"run", runs, serveRun}}

	// OpCreate is CreateContext.
	OpCreate = stateful("create context", creates, serveCreate)

	// OpRunIn is RunInContext.
	OpRunIn = stateful("run in context", runs, serveRunIn)

	// OpDelete is DeleteContext.
	OpDelete = stateful("delete context", deletes, serveDelete)
)

func serveDescribe(_ context.Context, ci CodeInterpreter, _ Call) (Reply, error) {
	return Reply{Value: Describe(ci)}, nil
}

func serveRun(ctx context.Context, ci CodeInterpreter, c Call) (r Reply, err error) {
	r.Result, err = ci.RunCode(ctx, c.Language, c.Code, c.Run)
	return r, err
}

func serveCreate(ctx context.Context, s StatefulInterpreter, c Call) (r Reply, err error) {
	r.Context, err = s.CreateContext(ctx, c.Language, c.NewContext)
	return r, err
}

func serveRunIn(ctx context.Context, s StatefulInterpreter, c Call) (r Reply, err error) {
	r.Result, err = s.RunInContext(ctx, c.Context, c.Code, c.Run)
	return r, err
}

func serveDelete(ctx context.Context, s StatefulInterpreter, c Call) (Reply, error) {
	return Reply{}, s.DeleteContext(ctx, c.Context)
}

func stateful(name string, t traits, serve func(context.Context, StatefulInterpreter, Call) (Reply, error)) Op {
	return Op{&operation{name, t, func(ctx context.Context, ci CodeInterpreter, c Call) (Reply, error) {
		if s, ok := Stateful(ci); ok {
			return serve(ctx, s, c)
		}
		return errUnknownOp(c)
	}}}
}

// errUnknownOp is the answer to a call of an operation that the handler does not know.
func errUnknownOp(c Call) (Reply, error) {
	return Reply{Result: NotRun()}, fmt.Errorf("%w: operation %q", ErrInvalid, c.Op)
}

// String returns the operation's name as errors and logs show it, such as
// "run in context".
func (o Op) String() string {
	if o.of == nil {
		return "unknown"
	}
	return o.of.name
}

// MarshalText returns the operation's name.
func (o Op) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Runs reports whether the operation runs code of the caller's. Its Reply has
// a Result.
func (o Op) Runs() bool { return o.has(runs) }

// Creates reports whether the operation makes a context, the Reply's Context.
func (o Op) Creates() bool { return o.has(creates) }

// Deletes reports whether the Call's Context is gone once the operation has
// succeeded.
func (o Op) Deletes() bool { return o.has(deletes) }

// Reads reports whether the operation changes nothing.
func (o Op) Reads() bool { return o.has(reads) }

// Calls reports whether the operation is a call of the host's by a program that
// runs; see [OpCallFunction].
func (o Op) Calls() bool { return o.has(calls) }

func (o Op) has(t traits) bool { return o.of != nil && o.of.traits&t != 0 }
