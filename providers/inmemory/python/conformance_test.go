//go:build real

package python_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/inmemory"
)

// programs are the suite's own, but for those that need threads: a task stands for one.
func programs() map[string]conformance.Programs {
	p, _ := conformance.ProgramsFor("python")
	p.CallLeft = func(name, args string) string {
		return fmt.Sprintf(`import asyncio, json
wake, seen = asyncio.Event(), []
async def left():
    await wake.wait()
    try:
        await tools.aio.%s(**json.loads(%q))
        seen.append('called')
    except Exception as e:
        seen.append('refused')
task = asyncio.create_task(left())
`, name, args)
	}
	p.CallWake = "wake.set()\nawait task\nprint(seen[0])"
	return map[string]conformance.Programs{"python": p}
}

// TestConformance tries the whole contract; with tag full without contexts too.
func TestConformance(t *testing.T) {
	o := options(t)
	cfg := conformance.Config{Programs: programs(), Timeout: 2 * time.Minute, Patience: 30 * time.Second,
		// There are no processes, and nothing outlives a run.
		Lacks: []conformance.Feature{conformance.Processes, conformance.Children, conformance.LateOutput},
		New:   func() (codeinterp.CodeInterpreter, error) { return inmemory.NewStateful(o) }, Stateful: true}
	t.Run("contexts", func(t *testing.T) { conformance.Run(t, cfg) })
	if !tier.Full {
		return
	}
	cfg.New, cfg.Stateful = func() (codeinterp.CodeInterpreter, error) { return inmemory.New(o) }, false
	t.Run("no contexts", func(t *testing.T) { conformance.Run(t, cfg) })
}
