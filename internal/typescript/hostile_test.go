//go:build full

package typescript

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/typescripttest"
)

// TestHostile translates what is made to end or occupy a translator. The stack
// is bounded to far less than a process has, and steps are counted, not timed.
func TestHostile(t *testing.T) {
	typescripttest.Run(t, 1, 2*time.Minute, func(*testing.T) func(*testing.T, string) {
		debug.SetMaxStack(16 << 20)
		return erasesWithinBounds
	})
}

func erasesWithinBounds(t *testing.T, source string) {
	var p *parser
	pr, err := translate(context.Background(), source, func(made *parser) { p = made }, func(*parser) {})
	if e := (*SyntaxError)(nil); err != nil && !errors.As(err, &e) {
		t.Error(err)
	}
	if p.steps > stepsPerByte*len(source)+moreSteps+len(source)/64+checkEvery {
		t.Errorf("%d steps for %d bytes", p.steps, len(source))
	}
	if p.deepest > MaxDepth {
		t.Errorf("%d levels deep", p.deepest)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if limit := uint64(100*len(source) + 64<<20); m.Sys > limit {
		t.Errorf("%d KiB for %d", m.Sys>>10, len(source)>>10)
	}
	runtime.KeepAlive(pr)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, _ = Erase(ctx, source)
	_, _ = Outlined(ctx, source, Memory(len(source)))
}
