//go:build full

package typescript

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// shapeVariable says which shape a process of TestHostile translates.
const shapeVariable = "TOOLCELL_TEST_TYPESCRIPT_SHAPE"

// TestHostile translates what is made to end or occupy a translator, each in a process of
// its own, which it might end. The stack is bounded to far less than a process has, and
// steps are counted, not timed.
func TestHostile(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			if os.Getenv(shapeVariable) == s.name {
				debug.SetMaxStack(16 << 20)
				erasesWithinBounds(t, s.source())
				return
			}
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostile$/^"+strings.ReplaceAll(s.name, " ", "_")+"$", "-test.timeout=2m")
			cmd.Env = append(os.Environ(), shapeVariable+"="+s.name)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out[max(0, len(out)-4000):])
			}
		})
	}
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
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if limit := uint64(100*len(source) + 64<<20); m.Sys > limit {
		t.Errorf("%d KiB for %d", m.Sys>>10, len(source)>>10)
	}
	runtime.KeepAlive(pr)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, _ = Erase(ctx, source)
	_, _ = Replace(ctx, source, Words{"__impt", "__th"}, Memory(len(source)))
}
