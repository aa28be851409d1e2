package workspace_test

import (
	"context"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A fake prints its code, in two chunks, unless script does something else.
type fake struct {
	languages []string
	script    func(ctx context.Context, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error)
	closed    chan struct{}
	once      sync.Once
}

func newFake(languages ...string) *fake {
	return &fake{languages: languages, closed: make(chan struct{})}
}

func (f *fake) Languages() []string { return append([]string(nil), f.languages...) }

func (f *fake) Close() error {
	f.once.Do(func() { close(f.closed) })
	return nil
}

func (f *fake) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	if f.script != nil {
		return f.script(ctx, code, opts)
	}
	res := codeinterp.Result{Status: codeinterp.StatusOK, Duration: time.Millisecond}
	for _, part := range []string{code[:len(code)/2], code[len(code)/2:]} {
		o := codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(part)}
		if opts.OnOutput != nil {
			if err := opts.OnOutput(o); err != nil {
				res.CallbackErr = err
			}
		}
		res.Outputs = append(res.Outputs, o)
	}
	return res, nil
}

// untilClosed is a script that prints and then waits for Close.
func (f *fake) untilClosed(_ context.Context, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	opts.OnOutput(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(code)})
	<-f.closed
	time.Sleep(time.Millisecond)
	return codeinterp.Result{Status: codeinterp.StatusLost, ExitCode: 137, Cause: codeinterp.CauseClosed}, codeinterp.ErrClosed
}

// A statefulFake has one context, called "c".
type statefulFake struct{ *fake }

func (f statefulFake) CreateContext(context.Context, string, *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	return "c", nil
}

func (f statefulFake) RunInContext(ctx context.Context, _ codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	return f.RunCode(ctx, "", code, opts)
}

func (f statefulFake) DeleteContext(context.Context, codeinterp.ContextID) error { return nil }
