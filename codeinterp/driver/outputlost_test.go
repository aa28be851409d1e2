package driver_test

import (
	"math"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// TestLossesAddUp wants earlier losses to be reported, and sizes that are
// made up to stay sizes.
func TestLossesAddUp(t *testing.T) {
	for _, tt := range []struct {
		stream string
		bytes  []int64
		want   int64
	}{
		{"display", []int64{5, 7}, 12},
		{"result", []int64{math.MaxInt64, 1, math.MaxInt64}, math.MaxInt64},
		{"error", []int64{100_000}, 100_000 + 4}, // the name is kept
		{"error", []int64{math.MaxInt64, math.MaxInt64}, math.MaxInt64},
	} {
		for _, limit := range []int{1000, -1} {
			c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: limit})
			for _, n := range tt.bytes {
				c.Lost(codeinterp.Truncation{Stream: tt.stream, Bytes: n, Reason: codeinterp.TruncatedByLimit})
			}
			res := codeinterp.Result{Error: &codeinterp.ProgramError{Name: "Oops"}}
			c.Finish(&res)
			if len(res.Truncated) != 1 || res.Truncated[0].Stream != tt.stream || res.Truncated[0].Bytes != tt.want {
				t.Errorf("%s %v with limit %d: %+v, want %d", tt.stream, tt.bytes, limit, res.Truncated, tt.want)
			}
		}
	}
}

// TestErrorLostTwice shortens an error that came shortened.
func TestErrorLostTwice(t *testing.T) {
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000})
	c.Lost(codeinterp.Truncation{Stream: "error", Bytes: 500, Reason: codeinterp.TruncatedByLimit})
	res := codeinterp.Result{Error: &codeinterp.ProgramError{Message: strings.Repeat("x", 100<<10)}}
	c.Finish(&res)
	want := codeinterp.Truncation{Stream: "error", Bytes: 100<<10 + 500, Kept: 64 << 10, Reason: codeinterp.TruncatedByLimit}
	if len(res.Truncated) != 1 || res.Truncated[0] != want {
		t.Errorf("%+v, want %+v", res.Truncated, want)
	}
}
