//go:build linux && real

package jupyter_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// BenchmarkFunctions has a program call a function 200 times, one after the
// other; the floor is as many bare round trips over the stdin channel.
func BenchmarkFunctions(b *testing.B) {
	s := start(b, "server7", false)
	f := must(newFloor(s))(b)
	defer f.close()
	ci, id := newContext(b, s, jupyter.Options{})
	echo := codeinterp.Function{Name: "echo", Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) { return c.Args, nil }}
	runs := []func(){
		func() { must(f.run("for i in range(200): input('{\"v\": 1}')"))(b) },
		func() {
			res, err := ci.RunInContext(b.Context(), id, "for i in range(200): tools.echo(v=i)", &codeinterp.RunOptions{Functions: []codeinterp.Function{echo}})
			if err != nil || !res.OK() {
				b.Fatalf("%+v, %v", res, err)
			}
		},
	}
	took := make([][]time.Duration, len(runs))
	for b.Loop() {
		for i, run := range runs {
			start := time.Now()
			run()
			took[i] = append(took[i], time.Since(start))
		}
	}
	base := float64(median(took[0]))
	b.ReportMetric(base/200/1e6, "floor-ms/call")
	b.ReportMetric(float64(median(took[1]))/base, "call/floor")
	b.ReportMetric(0, "ns/op")
}
