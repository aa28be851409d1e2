package conformance

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	artifacts "github.com/toolcell/toolcell/internal/artifact"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

// A toy is a runtime of a language made of line commands; see machine. Driven,
// it keeps the whole contract: it is what the suite is tested with.
type toy struct{ gate *toyGate }

// toyDriver has a short grace, since some programs are stubborn.
var toyDriver = driver.Config{Grace: 100 * time.Millisecond}

func newToyStateful() (codeinterp.CodeInterpreter, error) {
	return driver.NewStateful(outliving{newToy(), &sync.Map{}}, toyDriver), nil
}

func newToyStateless() (codeinterp.CodeInterpreter, error) {
	return driver.New(newToy(), toyDriver), nil
}

func toyErr(op string, err error) error {
	if err == nil {
		return nil
	}
	return &codeinterp.Error{Provider: "toy", Op: op, Err: err}
}

func (toy) Describe() codeinterp.Info {
	return codeinterp.Info{Provider: "toy", Pause: "a gate", Languages: []codeinterp.LanguageInfo{{Name: "toy", Runtime: "toy 1", Contexts: true, Functions: true, Completion: true, Forks: true}},
		Isolation: codeinterp.Isolation{Backend: "engine", Filesystem: codeinterp.ReachBlocked, Network: codeinterp.ReachBlocked,
			Processes: codeinterp.ReachBlocked, Signals: codeinterp.ReachBlocked}}
}

func (t toy) Start(_ context.Context, o driver.Options) (driver.Session, error) {
	m := &machine{gate: t.gate, o: o, files: memfs.New(nil)}
	m.empty()
	return m, nil
}

func (toy) Close(context.Context) error { return nil }

// A toyRun is a program on a machine.
type toyRun struct {
	ctx  context.Context // ends when the program has to end
	stop chan struct{}   // closed when it is to
	in   *driver.Program
	out  *driver.Output

	atEnd []func() error     // what the program waits for
	value *codeinterp.Output // of its last command
}

// Run implements driver.Session.
func (m *machine) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	r := &toyRun{ctx: ctx, stop: make(chan struct{}), in: p, out: out}
	if p.Resume {
		return driver.Outcome{}, codeinterp.ErrNoRun
	}
	if err := p.CopyFiles(ctx, m.files.Files(".")); err != nil {
		return driver.Outcome{}, err
	}
	before := m.files.Changes()
	p.Begin()
	m.enter(r)
	err := m.execute(r, p.Code)
	p.End()
	if r.value != nil && err == nil {
		out.Add(*r.value)
	}
	m.enter(nil)
	o := m.outcome(err)
	if p.Artifacts {
		o.Artifacts = m.artifacts(before)
	}
	return o, nil
}

// Complete implements driver.Completer: what stands behind the ü is a name.
func (toy) Complete(_ context.Context, s driver.Session, code string, cursor int) (codeinterp.Completion, error) {
	start := strings.LastIndex(code[:cursor], "ü") + len("ü")
	if start < len("ü") {
		return codeinterp.Completion{}, nil
	}
	c := codeinterp.Completion{Start: start, End: cursor}
	for name := range s.(*machine).vars {
		if strings.HasPrefix(name, code[start:cursor]) {
			c.Matches = append(c.Matches, name)
		}
	}
	return c, nil
}

// Fork implements driver.Forker.
func (t toy) Fork(_ context.Context, s driver.Session, o driver.Options) (driver.Session, error) {
	files, _ := s.(*machine).files.Clone()
	n := &machine{gate: t.gate, o: o, files: files}
	n.empty()
	n.vars = maps.Clone(s.(*machine).vars)
	return n, nil
}

// Files implements driver.Filer.
func (toy) Files(s driver.Session) (codeinterp.FS, error) {
	m := s.(*machine)
	return m.files.Files("."), nil
}

// artifacts lists what was done to files since before.
func (m *machine) artifacts(before int64) []codeinterp.Artifact {
	found := artifacts.List{Data: m.o.Once}
	for _, name := range m.files.ChangedSince(".", before) {
		if f, err := m.files.Open(name); err == nil {
			found.Add(context.Background(), name, 0, f)
		}
	}
	list, _ := found.Done()
	return list
}

// outcome says how a program ended.
func (m *machine) outcome(err error) (o driver.Outcome) {
	var exit toyExit
	var death toyDeath
	switch {
	case errors.As(err, &death):
		m.empty()
		o = driver.Outcome{Lost: !m.o.Once, ExitCode: int(death), Cause: codeinterp.CauseExit}
		if m.o.Once {
			o.Cause = ""
		}
	case errors.Is(err, errToyKilled):
		m.empty()
		o = driver.Outcome{Lost: true, Cause: codeinterp.CauseSignal}
	case errors.As(err, &exit):
		o.ExitCode = int(exit)
	case err != nil:
		o.ExitCode = 1
		errors.As(err, &o.Error)
	}
	return o
}

// Interrupt implements driver.Session.
func (m *machine) Interrupt(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.run; r != nil && !r.stopped() {
		close(r.stop)
	}
	return nil
}

// Reset implements driver.Session.
func (m *machine) Reset(context.Context) error {
	m.empty()
	return nil
}

// Close implements driver.Session.
func (m *machine) Close(context.Context) error {
	m.empty()
	return nil
}

// pause waits; it reports false where the program is to end.
func (r *toyRun) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return !r.stopped()
	case <-r.stop:
	case <-r.ctx.Done():
	}
	return false
}

func (r *toyRun) stopped() bool {
	select {
	case <-r.stop:
		return true
	case <-r.ctx.Done():
		return true
	default:
		return false
	}
}

// interrupted is the end of a program that was stopped at c.
func (r *toyRun) interrupted(c command) error {
	if r.ctx.Err() != nil {
		return errToyKilled
	}
	return fail("Interrupt", "interrupted", c)
}

// A toyExit is a program's exit code.
type toyExit int

func (toyExit) Error() string { return "exit" }

// A toyDeath is the exit code of the process that a toy pretends to be.
type toyDeath int

func (toyDeath) Error() string { return "gone" }

var errToyKilled = errors.New("killed")
