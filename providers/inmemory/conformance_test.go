package inmemory_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
)

// both returns options with JavaScript and TypeScript.
func both() *inmemory.Options {
	js := quickjs.New(nil)
	engines := []engine.Engine{js, typescript.New(js)}
	if race.Enabled {
		engines = []engine.Engine{printer{engines[0]}, printer{engines[1]}}
	}
	return &inmemory.Options{Engines: engines}
}

// lacks is what an embedded engine cannot do: there are no processes, and
// nothing outlives a run.
var lacks = []conformance.Feature{conformance.Processes, conformance.Children, conformance.LateOutput}

// lines is a program that prints n lines of eight bytes.
func lines(n int) string {
	return fmt.Sprintf(`{
	const ends = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, "0") + "\n");
	for (let i = 0; i < %[1]d; i += 1000) {
		const start = String(i / 1000).padStart(4, "0");
		void process.stdout.write(start + ends.slice(0, %[1]d - i).join(start));
	}
	void 0;
} // %[1]d`, n)
}

// programs are the suite's own, but for the one that prints many lines: it
// measures how output is handled, and this engine takes longer to make it.
func programs() map[string]conformance.Programs {
	all := map[string]conformance.Programs{}
	for _, language := range []string{"javascript", "typescript"} {
		p, _ := conformance.ProgramsFor(language)
		p.Lines = lines
		p.Exhaust = "{ const all = []; for (;;) all.push(new Uint8Array(1 << 20)) }"
		p.CallTask = nil // a continuation goes on in the run that wakes it: see quickjs's Limits
		all[language] = p
	}
	return all
}

// A printer runs the program of lines in Go: with the race detector on, the
// engine takes a minute for what the suite asks for.
type printer struct{ engine.Engine }

type printerInstance struct{ engine.Instance }

func (p printer) New(c engine.Config) (engine.Instance, error) {
	inst, err := p.Engine.New(c)
	return printerInstance{inst}, err
}

// Complete is the instance's own.
func (i printerInstance) Complete(code string) (start int, matches []string) {
	return i.Instance.(engine.Completer).Complete(code)
}

func (i printerInstance) Run(ctx context.Context, p engine.Program, h engine.Host) engine.Outcome {
	var n int
	_, err := fmt.Sscanf(p.Code[strings.LastIndexByte(p.Code, ' ')+1:], "%d", &n)
	if err != nil || p.Code != lines(n) {
		return i.Instance.Run(ctx, p, h)
	}
	var block []byte
	for k := range n {
		block = fmt.Appendf(block, "%07d\n", k)
		if len(block) >= 8000 || k == n-1 {
			if ctx.Err() != nil {
				return engine.Outcome{Stopped: true}
			}
			h.Write(codeinterp.Stdout, block)
			block = block[:0]
		}
	}
	return engine.Outcome{}
}

// One language goes a long way where the interpreter is the same underneath.
// The race detector makes the engine thirty times slower, and finds nothing in
// one language or wrapper that it does not find in the others: make test runs
// all of them without it too.
func TestConformance(t *testing.T) {
	conform(t, conformance.Config{New: func() (codeinterp.CodeInterpreter, error) { return inmemory.NewStateful(both()) }, Stateful: true,
		Thrifty: race.Enabled, Brief: race.Enabled})
}

// share is all, and with -short a quarter.
func share(number int) conformance.Share {
	if !testing.Short() {
		return conformance.Share{}
	}
	return conformance.Share{Number: number, Of: 4}
}

func TestConformanceRunCode(t *testing.T) {
	conform(t, conformance.Config{New: func() (codeinterp.CodeInterpreter, error) { return inmemory.New(both()) }, Thrifty: true, Share: share(0)})
}

func TestConformanceStateless(t *testing.T) {
	conform(t, conformance.Config{New: func() (codeinterp.CodeInterpreter, error) {
		s, err := inmemory.NewStateful(both())
		return codeinterp.Stateless(s), err
	}, Languages: []string{"typescript"}, Thrifty: true, Share: share(1)})
}

func TestConformanceWrapped(t *testing.T) {
	conform(t, conformance.Config{New: func() (codeinterp.CodeInterpreter, error) {
		s, err := inmemory.NewStateful(both())
		return codeinterp.Wrap(s), err
	}, Stateful: true, Languages: []string{"javascript"}, Thrifty: true, Share: share(2)})
}

func conform(t *testing.T, cfg conformance.Config) {
	if race.Enabled && t.Name() != "TestConformance" {
		t.Skip("the race detector sees the same in TestConformance: make test runs it without")
	}
	if aparttest.Run(t) {
		return
	}
	if race.Enabled {
		cfg.Languages = []string{"javascript"}
	}
	cfg.Lacks, cfg.Programs, cfg.Timeout, cfg.Patience = lacks, programs(), 2*time.Minute, 10*time.Second
	conformance.Run(t, cfg)
}
