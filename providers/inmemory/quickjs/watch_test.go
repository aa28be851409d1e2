package quickjs

import (
	"context"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

// quiet is a host that takes no output.
type quiet struct{ engine.Host }

func (quiet) Write(codeinterp.Kind, []byte) {}
func (quiet) Breathe()                      {}
func (quiet) Idle(wait func())              { wait() }

// TestWatchAgain: runs with one ctx share a watcher, until it ends, be that in a
// run or between two.
func TestWatchAgain(t *testing.T) {
	inst, err := New(nil).New(engine.Config{Limits: engine.Limits{Memory: defaultMemory, Stack: defaultStack},
		Budget: engine.NewBudget(1 << 30), Files: memfs.New(nil), Cwd: "."})
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	in := inst.(*instance)
	run := func(ctx context.Context, code string) engine.Outcome {
		return in.Run(ctx, engine.Program{Name: "cell.js", Code: code}, quiet{})
	}
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		run(ctx, "1")
		first := in.watcher
		if out := run(ctx, "2"); out.ExitCode != 0 || in.watcher != first {
			t.Fatalf("got %+v, the same watcher: %v", out, in.watcher == first)
		}
		cancel() // between two runs
		if out := run(ctx, "for (;;);"); !out.Stopped || out.Lost {
			t.Errorf("after the end: %+v", out)
		}
		ctx, cancel = context.WithCancel(t.Context())
		if out := run(ctx, "3"); out.ExitCode != 0 || out.Stopped {
			t.Errorf("with another: %+v", out)
		}
		go cancel()
		if out := run(ctx, "for (;;);"); !out.Stopped {
			t.Errorf("in a run: %+v", out)
		}
	}
}
