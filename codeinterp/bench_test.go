package codeinterp_test

import (
	"context"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// nothing is the cheapest interpreter there can be.
type nothing struct{}

func (nothing) Languages() []string { return nil }
func (nothing) Close() error        { return nil }
func (nothing) RunCode(context.Context, string, string, *codeinterp.RunOptions) (codeinterp.Result, error) {
	return codeinterp.Result{Status: codeinterp.StatusOK}, nil
}

// BenchmarkMiddlewares is the cost of three middlewares over the bare call.
func BenchmarkMiddlewares(b *testing.B) {
	allow := func(context.Context, codeinterp.Call) error { return nil }
	wrapped := codeinterp.Wrap(nothing{}, codeinterp.Log(nil), codeinterp.Limit(&codeinterp.LimitOptions{Runs: 8}), codeinterp.Approve(allow))
	for _, bb := range []struct {
		name string
		ci   codeinterp.CodeInterpreter
	}{{"bare", nothing{}}, {"three", wrapped}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			ctx := b.Context()
			for b.Loop() {
				bb.ci.RunCode(ctx, "x", "1", nil)
			}
		})
	}
}

func BenchmarkResultJSON(b *testing.B) {
	res := goldenResults["streams"]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := res.MarshalJSON(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMiddlewaresDoNotAllocate(t *testing.T) {
	allow := func(context.Context, codeinterp.Call) error { return nil }
	wrap := func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
		return codeinterp.Wrap(ci, codeinterp.Log(nil), codeinterp.Limit(&codeinterp.LimitOptions{Runs: 8, Contexts: 8}), codeinterp.Approve(allow))
	}
	ctx := t.Context()
	ci := wrap(nothing{})
	if n := testing.AllocsPerRun(100, func() { ci.RunCode(ctx, "x", "1", nil) }); n > 0 {
		t.Errorf("RunCode: %v allocations per call", n)
	}
	s, _ := codeinterp.Stateful(wrap(&echoStateful{}))
	id, err := s.CreateContext(ctx, "echo", nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { s.RunInContext(ctx, id, "", nil) }); n > 0 {
		t.Errorf("RunInContext: %v allocations per call", n)
	}
}
