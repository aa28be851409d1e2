package oteltools_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
)

// cancelKey is where in a ctx the function is that ends it.
type cancelKey struct{}

// fake is an interpreter whose programs say how they end.
type fake struct{ contexts atomic.Int64 }

var _ codeinterp.StatefulInterpreter = (*fake)(nil)

func (f *fake) Languages() []string { return []string{"javascript", "python"} }
func (f *fake) Close() error        { return nil }

func (f *fake) Describe() codeinterp.Info {
	return codeinterp.Info{Provider: "fake", Languages: []codeinterp.LanguageInfo{{Name: "javascript", Contexts: true}, {Name: "python", Contexts: true}}}
}

func (f *fake) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	out := []codeinterp.Output{{Kind: codeinterp.Stdout, Data: []byte("secret output\n")}}
	switch code {
	case "timeout":
		return codeinterp.Result{Status: codeinterp.StatusTimeout, ExitCode: 124, Outputs: out}, nil
	case "error":
		return codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 1, Outputs: out,
			Error: &codeinterp.ProgramError{Name: "SecretError", Message: "secret message"}}, nil
	case "cancel":
		ctx.Value(cancelKey{}).(context.CancelFunc)()
		return codeinterp.Result{Status: codeinterp.StatusCanceled, ExitCode: 130, Outputs: out}, wrap(context.Cause(ctx))
	case "lost":
		return codeinterp.Result{Status: codeinterp.StatusLost, ExitCode: 137, StateLost: true,
			Truncated: []codeinterp.Truncation{{Stream: "stdout", Bytes: 100, Kept: 14, Reason: codeinterp.TruncatedByLimit}}}, nil
	case "down":
		return codeinterp.NotRun(), wrap(fmt.Errorf("%w: secret host", codeinterp.ErrUnavailable))
	case "odd":
		return codeinterp.NotRun(), wrap(errors.New("secret fault"))
	case "network":
		opts.OnNetwork(codeinterp.NetworkEvent{Host: "api.test", Port: 443, Method: "GET", Path: "/secret", Allowed: true, Sent: 1, Received: 2})
	case "panic":
		panic("secret panic")
	}
	return codeinterp.Result{Status: codeinterp.StatusOK, Outputs: out}, nil
}

func (f *fake) CreateContext(context.Context, string, *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	return codeinterp.ContextID(fmt.Sprintf("context-%d", f.contexts.Add(1))), nil
}

func (f *fake) RunInContext(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	if id == "gone" {
		return codeinterp.NotRun(), wrap(codeinterp.ErrContext)
	}
	return f.RunCode(ctx, "", code, opts)
}

func (f *fake) DeleteContext(context.Context, codeinterp.ContextID) error { return nil }

func wrap(err error) error { return &codeinterp.Error{Provider: "fake", Op: "run", Err: err} }
