//go:build unix

package subprocess_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestFunctionsThatAreNotQuick: functions that wait for other calls of the run,
// or end the goroutine that they are called on, hold up no call.
func TestFunctionsThatAreNotQuick(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}}), "python")
	let := make(chan struct{}, 1)
	list := append(callstest.Functions(t),
		callstest.Function("exits", func(context.Context, map[string]any) (any, error) { runtime.Goexit(); return nil, nil }),
		callstest.Function("waits", func(ctx context.Context, _ map[string]any) (any, error) {
			select {
			case <-let:
				return "let", nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}),
		callstest.Function("release", func(context.Context, map[string]any) (any, error) { let <- struct{}{}; return nil, nil }),
	)
	for _, p := range []struct{ code, want string }{
		{"import threading\ngot = []\nt = threading.Thread(target=lambda: got.append(tools.waits()))\nt.start()\ntools.echo(v=1)\ntools.release()\nt.join()\ngot", "ok value=['let']"},
		{"def exits():\n    try: tools.exits()\n    except ToolError as e: return e.message\n[(exits(), tools.echo(v=i)) for i in range(3)] == [('the function failed', i) for i in range(3)]", "ok value=True"},
		{"[tools.echo(v=i) for i in range(100)] == list(range(100))", "ok value=True"},
	} {
		for range 3 {
			if s := summary(n.run(p.code, &codeinterp.RunOptions{Timeout: time.Minute, Functions: list})); s != p.want {
				t.Errorf("%s: %s, want %s", p.code, s, p.want)
			}
		}
	}
}

// TestUnlistedFunction: a program that calls what is not there is not told of what only
// says why it cannot be called.
func TestUnlistedFunction(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{})
	code, unlisted, listed := callstest.PythonUnlisted()
	const javascript = "await tools.closed().catch((e) => console.log(e.message)); await tools.nope()"
	const nope = "error out=closed: not on Sundays\n error=TypeError: tools.nope is not a function; there is: "
	for _, tt := range []struct {
		language, code string
		unlisted       bool
		want           string
	}{
		{"python", code, true, "ok out=" + unlisted},
		{"python", code, false, "ok out=" + listed},
		{"javascript", javascript, true, nope + "works"},
		{"javascript", javascript, false, nope + "closed, works"},
	} {
		o := &codeinterp.RunOptions{Functions: callstest.Unlisted(tt.unlisted)}
		if got := summary(run(t, ci, tt.language, tt.code, o)); got != tt.want {
			t.Errorf("%s, %v: %q, want %q", tt.language, tt.unlisted, got, tt.want)
		}
	}
}
