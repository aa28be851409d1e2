package inmemory

import (
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

const (
	provider = "inmemory"

	// grace is how long a program has, from the first interrupt on, to end with
	// its state. An engine takes its memory from one that does not, well before.
	grace = 300 * time.Millisecond

	// patience is for engines that do not: on a machine that is busy elsewhere,
	// what takes an engine milliseconds can take it seconds.
	patience = 10 * time.Second
)

// An Interpreter runs each program in a fresh instance of its engine.
type Interpreter struct{ *driver.Interpreter }

// A Stateful interpreter also keeps contexts, each an instance of its engine
// with a file system of its own.
type Stateful struct {
	*driver.Stateful
	rt *engines
}

var (
	_ codeinterp.CodeInterpreter     = (*Interpreter)(nil)
	_ codeinterp.Describer           = (*Interpreter)(nil)
	_ codeinterp.StatefulInterpreter = (*Stateful)(nil)
	_ codeinterp.ContextManager      = (*Stateful)(nil)
	_ codeinterp.Describer           = (*Stateful)(nil)
)

// New returns a stateless interpreter. o may be nil.
func New(o *Options) (*Interpreter, error) {
	rt, err := newEngines(o)
	if err != nil {
		return nil, &codeinterp.Error{Provider: provider, Op: "open", Err: err}
	}
	return &Interpreter{driver.New(rt, rt.config())}, nil
}

// NewStateful returns an interpreter with contexts. o may be nil.
func NewStateful(o *Options) (*Stateful, error) {
	rt, err := newEngines(o)
	if err != nil {
		return nil, &codeinterp.Error{Provider: provider, Op: "open", Err: err}
	}
	return &Stateful{driver.NewStateful(rt, rt.config()), rt}, nil
}

func (rt *engines) config() driver.Config {
	return driver.Config{Grace: grace, Patience: patience, MaxContexts: rt.opts.MaxContexts, MaxStuck: rt.opts.MaxAbandoned}
}

// Abandoned returns how many engines could not be stopped and still run.
func (p *Interpreter) Abandoned() int { return p.Stuck() }

// Abandoned returns how many engines could not be stopped and still run.
func (s *Stateful) Abandoned() int { return s.Stuck() }
