package inmemory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
)

// both returns options with JavaScript and TypeScript.
func both() *inmemory.Options {
	js := quickjs.New(nil)
	return &inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}}
}

// lines is a program that prints n lines of eight bytes.
func lines(n int) string {
	return fmt.Sprintf(`{
	const ends = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, "0") + "\n");
	for (let i = 0; i < %[1]d; i += 1000) {
		const start = String(i / 1000).padStart(4, "0");
		void process.stdout.write(start + ends.slice(0, %[1]d - i).join(start));
	}
	void 0;
}`, n)
}

// programs are the suite's own, but for the one that prints many lines: it is to
// measure how output is handled, and this engine takes longer to make it.
func programs() map[string]conformance.Programs {
	all := map[string]conformance.Programs{}
	for _, language := range []string{"javascript", "typescript"} {
		p, _ := conformance.ProgramsFor(language)
		p.Lines = lines
		all[language] = p
	}
	return all
}

// TestConformance tries the whole contract in JavaScript; with tag full in TypeScript
// too, and without contexts.
func TestConformance(t *testing.T) {
	cfg := conformance.Config{Programs: programs(), Languages: []string{"javascript"}, Timeout: 2 * time.Minute, Patience: 30 * time.Second,
		// There are no processes, and nothing outlives a run.
		Lacks: []conformance.Feature{conformance.Processes, conformance.Children, conformance.LateOutput},
		New:   func() (codeinterp.CodeInterpreter, error) { return inmemory.NewStateful(both()) }, Stateful: true}
	if tier.Full {
		cfg.Languages = nil
	}
	t.Run("contexts", func(t *testing.T) { conformance.Run(t, cfg) })
	if !tier.Full {
		return
	}
	cfg.New, cfg.Stateful = func() (codeinterp.CodeInterpreter, error) { return inmemory.New(both()) }, false
	t.Run("no contexts", func(t *testing.T) { conformance.Run(t, cfg) })
}
