package codeinterp_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// echo is an interpreter whose programs print their own text, line by line.
// The line "sleep" waits for the end of ctx.
type echo struct{ runs atomic.Int32 }

func (*echo) Languages() []string { return []string{"echo"} }
func (*echo) Close() error        { return nil }

func (e *echo) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	e.runs.Add(1)
	res := codeinterp.Result{Status: codeinterp.StatusOK, Duration: time.Millisecond}
	for line := range strings.Lines(code) {
		if strings.TrimSpace(line) == "sleep" {
			<-ctx.Done()
		}
		if ctx.Err() != nil {
			res.Status, res.ExitCode = codeinterp.StatusCanceled, codeinterp.ExitCanceled
			return res, &codeinterp.Error{Provider: "echo", Op: "run", Err: context.Cause(ctx)}
		}
		o := codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(line)}
		res.Outputs = append(res.Outputs, o)
		if opts != nil && opts.OnOutput != nil {
			opts.OnOutput(o)
		}
	}
	return res, nil
}

type echoDescriber struct{ echo }

func (*echoDescriber) Describe() codeinterp.Info { return codeinterp.Info{Provider: "echo"} }

// echoStateful adds contexts that remember nothing.
type echoStateful struct {
	echo
	n atomic.Int32
}

func (e *echoStateful) CreateContext(context.Context, string, *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	return codeinterp.ContextID(fmt.Sprintf("c%d", e.n.Add(1))), nil
}

func (e *echoStateful) RunInContext(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	if id == "gone" {
		return codeinterp.NotRun(), &codeinterp.Error{Provider: "echo", Op: "run in context", Err: codeinterp.ErrContext}
	}
	return e.RunCode(ctx, "echo", code, opts)
}

func (e *echoStateful) DeleteContext(context.Context, codeinterp.ContextID) error { return nil }

type echoManager struct{ echoStateful }

func (*echoManager) ListContexts(context.Context) ([]codeinterp.ContextInfo, error) {
	return []codeinterp.ContextInfo{{ID: "c1"}}, nil
}
func (*echoManager) RestartContext(context.Context, codeinterp.ContextID) error   { return nil }
func (*echoManager) InterruptContext(context.Context, codeinterp.ContextID) error { return nil }

type echoAll struct{ echoManager }

func (*echoAll) Describe() codeinterp.Info { return codeinterp.Info{Provider: "echo"} }

type echoStatefulDescriber struct{ echoStateful }

func (*echoStatefulDescriber) Describe() codeinterp.Info { return codeinterp.Info{Provider: "echo"} }
