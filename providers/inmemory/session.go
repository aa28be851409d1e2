package inmemory

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/artifact"
	"github.com/toolcell/toolcell/internal/scriptfile"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

// A session is a file system and the instance that works on it. It implements
// driver.Session.
type session struct {
	rt    *engines
	lang  *language
	once  bool
	files *memfs.FS
	cwd   string
	env   map[string]string

	id  string                // of the context
	net engine.NetworkSession // nil where programs reach nothing

	inst engine.Instance // nil where the state is gone
	runs int             // of inst
	idle stopper         // for the next run; see stopper

	current atomic.Pointer[run]
}

// connect gives the session its use of the network, if there is one.
func (s *session) connect(id codeinterp.ContextID) {
	if s.rt.opts.Network != nil {
		s.net, s.id = s.rt.opts.Network.Session(), string(id)
	}
}

func (s *session) open() (err error) {
	s.inst, err = s.lang.instance(s.rt.budget, s.files, s.cwd)
	return err
}

// Cwd tells the driver where programs start.
func (s *session) Cwd() string {
	if s.cwd == "." {
		return "/"
	}
	return "/" + s.cwd
}

// Run implements driver.Session.
func (s *session) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	r := &run{slots: s.rt.slots, out: out, stopper: s.stopper()}
	if !r.slots.tryAcquire() {
		// The wait for others is no slow start, so that no start limit ends it.
		p.Busy(true)
		got := r.slots.acquire(ctx)
		p.Busy(false)
		if !got {
			return driver.Outcome{}, context.Cause(ctx)
		}
	}
	r.slot = true
	defer r.leave()
	if s.inst == nil {
		if err := s.open(); err != nil {
			return driver.Outcome{}, err
		}
	}
	if p.HasFiles() {
		if err := p.CopyFiles(ctx, s.files.Files(s.cwd)); err != nil {
			return driver.Outcome{}, err
		}
	}
	// After the caller's files, which are nothing that the program did.
	before := s.files.Changes()
	s.current.Store(r)
	defer s.current.Store(nil)
	if err := p.HandOver(func() error { return nil }); err != nil { // it was stopped before, which costs no state
		return driver.Outcome{}, err
	}
	s.runs++
	ended, unwatch := false, p.AfterStop(ctx, r.kill)
	defer func() {
		if unwatch() && ended { // nothing that could end this run is left
			s.idle = r.stopper
		}
	}()
	prog := engine.Program{Name: s.programName(), Code: p.Code, Stdin: p.Stdin, Env: env(s.env, p.Env), Last: s.once}
	script := scriptfile.Of(ctx)
	if s.once {
		prog.Args = script.Args
	}
	if file := script.File; file != "" && s.once {
		prog.Script = true
		if !strings.ContainsAny(file, " \t\r\n():'\"") { // else it could not be distinguished from the rest of a frame
			prog.Name = file
		}
	}
	for _, f := range p.Functions() {
		prog.Functions = append(prog.Functions, f.Name)
	}
	// Without functions too: what kept one may call it.
	prog.Call = func(name string, args json.RawMessage, answer func(json.RawMessage, error)) {
		p.Start(context.Background(), name, args, answer)
	}
	if s.net != nil {
		s.net.BeginRun(s.id, p.Network, p.OnNetwork)
		prog.Fetch = s.net.Fetch(r.ctx)
	}
	end := r.in(s.inst, prog)
	o := r.outcome(p, end)
	if s.net != nil {
		o.Refusals = s.net.EndRun()
	}
	ended = true
	if p.Artifacts {
		o.Artifacts, o.Missing = s.artifacts(ctx, before)
	}
	o.Fresh = s.runs == 1
	if end.Lost {
		s.close()
	}
	return o, nil
}

// stopper returns the one that was kept, or a new one.
func (s *session) stopper() stopper {
	kept := s.idle
	s.idle = stopper{}
	if kept.ctx == nil || kept.ctx.Err() != nil {
		return newStopper()
	}
	return kept
}

// artifacts lists what was done to files since Changes was before.
func (s *session) artifacts(ctx context.Context, before int64) ([]codeinterp.Artifact, []codeinterp.Truncation) {
	found := artifact.List{Data: s.once}
	dir := s.files.Files(s.cwd)
	for _, name := range s.files.ChangedSince(s.cwd, before) {
		f, err := dir.Open(name)
		if err != nil {
			continue // it is gone
		}
		if info, err := f.Stat(); err == nil {
			found.Add(ctx, name, info.Size(), f)
		}
	}
	return found.Done()
}

// programName stands for the program in tracebacks.
func (s *session) programName() string {
	if s.once {
		return "program" + extension(s.lang.info.Name)
	}
	var name [40]byte
	return string(append(strconv.AppendInt(append(name[:0], "cell-"...), int64(s.runs), 10), extension(s.lang.info.Name)...))
}

// Interrupt implements driver.Session: the engine ends the program, with its
// state where it can.
func (s *session) Interrupt(context.Context) error {
	if r := s.current.Load(); r != nil {
		r.stop()
	}
	return nil
}

// Reset implements driver.Session. The files stay.
func (s *session) Reset(context.Context) error {
	s.close()
	return nil
}

// Close implements driver.Session.
func (s *session) Close(context.Context) error {
	s.close()
	if s.net != nil {
		s.net.Close()
	}
	return nil
}

func (s *session) close() {
	if s.inst != nil {
		s.inst.Close()
	}
	s.inst, s.runs = nil, 0
}

// env merges environments, later ones first.
func env(all ...map[string]string) map[string]string {
	var merged map[string]string
	for _, m := range all {
		if merged == nil && len(m) > 0 {
			merged = map[string]string{}
		}
		maps.Copy(merged, m)
	}
	return merged
}

// extension is the usual one of a language's files.
func extension(language string) string {
	switch language {
	case "javascript":
		return ".js"
	case "typescript":
		return ".ts"
	case "python":
		return ".py"
	}
	return ""
}
