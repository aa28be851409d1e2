package inmemory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// BenchmarkFunctionCall is a call of a function of the host by a program, one
// after the other, less the function's own time, which is measured in the same
// run.
func BenchmarkFunctionCall(b *testing.B) {
	s := open(b, nil)
	f := codeinterp.Function{Name: "echo", Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) { return c.Args, nil }}
	o := &codeinterp.RunOptions{Functions: []codeinterp.Function{f}, FunctionLimits: codeinterp.FunctionLimits{Calls: -1}}
	run := func(code string) time.Duration {
		res, err := s.RunCode(context.Background(), "javascript", code, o)
		if err != nil || !res.OK() {
			b.Fatal(res.Error, err)
		}
		return res.Duration
	}
	run("await tools.echo({})")
	start := time.Now()
	for range b.N {
		if _, err := f.Call(context.Background(), codeinterp.FunctionCall{Args: json.RawMessage(`{"i":1}`)}); err != nil {
			b.Fatal(err)
		}
	}
	floor := time.Since(start)
	b.ResetTimer()
	took := run(fmt.Sprintf("for (let i = 0; i < %d; i++) await tools.echo({i})", b.N))
	b.ReportMetric(float64((took-floor).Microseconds())/float64(b.N), "µs/call-over-function")
	b.ReportMetric(float64(floor.Nanoseconds())/float64(b.N), "ns/function")
}
