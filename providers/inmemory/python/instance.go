package python

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/internal/pydriver"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/wasi"
)

// An instance is an interpreter with the state of a context.
type instance struct {
	engine  *Engine
	config  engine.Config
	guest   *guest
	runs    int
	offered []string // names of functions
	forked  bool     // since its last run
}

var (
	_ engine.Completer = (*instance)(nil)
	_ engine.Forker    = (*instance)(nil)
)

// Close implements engine.Instance.
func (in *instance) Close() { in.guest.close() }

// Run implements engine.Instance.
func (in *instance) Run(ctx context.Context, p engine.Program, h engine.Host) engine.Outcome {
	g := in.guest
	r := newRun(ctx, g, p, h)
	g.machine.Begin()
	g.machine.Breathe = h.Breathe
	defer g.stopWith(ctx)()
	g.run = r
	defer func() { g.run, g.machine.Breathe = nil, nil }()
	g.system.SetInput(p.Stdin)
	err := in.turns(in.programFrames(p))
	r.close()
	g.machine.End()
	out := in.outcome(r, err)
	// Its KeyboardInterrupt tells where the program was.
	out.Stopped = ctx.Err() != nil && out.Error == nil
	if !out.Lost {
		g.calm()
	}
	return out
}

// stopWith has the program end with ctx, until the result is called.
func (g *guest) stopWith(ctx context.Context) (unwatch func()) {
	stopped := make(chan struct{})
	end := context.AfterFunc(ctx, func() {
		defer close(stopped)
		g.machine.Stop()
	})
	return func() {
		if !end() {
			<-stopped // or it would stop the next run
		}
	}
}

// turns lets the driver deal with frames.
func (in *instance) turns(list [][]byte) error {
	g := in.guest
	for _, f := range list {
		g.run.next = f
		result, err := g.engine.variant.turn(g)
		if err == nil && result != 0 {
			err = errors.New("the driver failed")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// programFrames are what the driver is sent for a run.
func (in *instance) programFrames(p engine.Program) (list [][]byte) {
	if in.runs++; in.runs == 1 {
		how, file := "", ""
		if p.Last {
			how = "once"
		}
		if p.Script {
			file = p.Name
		}
		list = append(list, frames.Encode(frames.Configure, append([]string{how, "/" + in.config.Cwd, file}, p.Args...)...))
	}
	if in.forked {
		in.forked = false
		list = append(list, frames.Encode(forked))
	}
	if !slices.Equal(in.offered, p.Functions) {
		in.offered = slices.Clone(p.Functions)
		list = append(list, frames.Encode(frames.Names, p.Functions...))
	}
	fields := []string{strconv.Itoa(in.runs), p.Code, ""}
	if p.Stdin != nil {
		fields[2] = "given"
	}
	for k, v := range p.Env {
		fields = append(fields, k, v)
	}
	return append(list, frames.Encode(frames.Run, fields...))
}

// outcome is how a run ended.
func (in *instance) outcome(r *run, err error) engine.Outcome {
	var exit wasi.Exit
	switch {
	case r.report != nil && (err == nil || errors.As(err, &exit)):
		out := engine.Outcome{ExitCode: r.report.Code, Error: r.report.Err, ErrorLost: r.report.Lost, Value: r.value}
		if e := out.Error; e != nil && e.Name == "MemoryError" && in.guest.machine.Refused() {
			out.Cause = codeinterp.CauseMemory
		}
		return out
	case errors.As(err, &exit) && r.program.Last:
		return engine.Outcome{ExitCode: int(exit.Code & 0xff), Value: r.value}
	case errors.As(err, &exit):
		return engine.Outcome{ExitCode: int(exit.Code & 0xff), Cause: codeinterp.CauseExit, Lost: true}
	case errors.Is(err, machine.ErrKilled):
		return engine.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true}
	case err == nil:
		err = errors.New("the driver ended without a word")
	}
	// The rest of the error is the machine's stack.
	message, _, _ := strings.Cut(err.Error(), "\n")
	if message == "wasm error: unreachable" {
		message = "it aborted, or waited for a lock that no other thread can free"
	}
	return engine.Outcome{ExitCode: 134, Lost: true, Error: &codeinterp.ProgramError{Name: "InternalError",
		Message: fmt.Sprintf("the interpreter failed: %s", message)}}
}

// Fork implements engine.Forker.
func (in *instance) Fork(c engine.Config, reopen func(codeinterp.File) codeinterp.File) (engine.Instance, error) {
	n := &instance{engine: in.engine, config: c, runs: in.runs, offered: in.offered, forked: true, guest: &guest{engine: in.engine}}
	m, err := in.engine.module.Fork(in.guest.machine, machine.Config{Memory: c.Limits.Memory, Budget: c.Budget, Host: n.guest})
	if err != nil {
		return nil, err
	}
	n.guest.system = in.guest.system.Clone(n.guest.surroundings(c.Files), reopen)
	return n.with(m), nil
}

// with gives an instance its machine.
func (in *instance) with(m *machine.Instance) *instance {
	in.guest.machine, m.Interrupt = m, in.guest.interrupt
	return in
}

// completeLimit is for how long other programs wait for a completion.
const completeLimit = time.Second

// Complete implements engine.Completer. It calls nothing of the program, but that can have
// set what the interpreter calls by itself, such as gc.callbacks.
func (in *instance) Complete(ctx context.Context, code string) (start int, matches []string, err error) {
	g := in.guest
	g.machine.Begin()
	ctx, cancel := context.WithTimeout(ctx, completeLimit)
	defer cancel()
	defer g.stopWith(ctx)()
	g.run = newRun(ctx, g, engine.Program{}, nil)
	defer func() { g.run = nil }()
	if err := in.turns([][]byte{frames.Encode(frames.Complete, "1", pydriver.Source("complete"), code, strconv.Itoa(len(code)))}); err != nil {
		return 0, nil, err
	}
	g.calm()
	f := g.run.completed
	if f == nil {
		return 0, nil, nil
	}
	start = max(f.Number(1), 0)
	if list := string(f.Field(3)); list != "" && start <= len(code) {
		matches = strings.Split(list, "\n")
	}
	return start, matches, nil
}
