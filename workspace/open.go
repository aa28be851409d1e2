package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/tools"
)

// A State says what became of a part of a workspace.
type State string

// The states of parts.
const (
	Kept  State = "kept"  // as it was, what went on meanwhile included
	Empty State = "empty" // started anew
	Gone  State = "gone"
)

// A Part is what became of a context, a command or the directory.
type Part struct {
	Context *ContextRef // of these three one is set
	Command *CommandRef
	Dir     string

	State State
	Err   error // why it is not kept, if that is known
}

// String returns a sentence for a model.
func (p *Part) String() string {
	s := "Directory " + p.Dir
	switch {
	case p.Context != nil:
		s = fmt.Sprintf("Context %s (%s)", p.Context.ID, p.Context.Language)
	case p.Command != nil:
		s = fmt.Sprintf("Command %s (%.80q)", p.Command.ID, p.Command.Command)
	}
	switch {
	case p.State == Kept:
		return s + ": kept."
	case p.State == Empty && p.Context != nil:
		return s + ": started anew, its variables are gone."
	case p.State == Empty:
		return s + ": another one."
	}
	return s + ": gone."
}

// Open is New for a workspace that another process had, as [Workspace.Ref] or
// [Workspace.Detach] described it. caps are its capabilities, opened again. ctx bounds Open
// alone.
//
// Contexts keep their ids. One whose state is gone is started anew, and its first run
// reports StateLost; parts say so, and so does the first answer to a model. The run in
// which the process before ended goes on: [codeinterp.ContextAttacher].ResumeRun of
// [Workspace.Code] returns it, otherwise the next run of its context reports it. Commands in
// the background that are kept have their ids too, and their output the numbers of its bytes.
// Events are numbered from ref.Events on.
func Open(ctx context.Context, ref Ref, caps Capabilities, opts *Options) (*Workspace, []Part, error) {
	if ref.Version != refVersion {
		return nil, nil, fmt.Errorf("workspace: %w: a reference of version %d, want %d", codeinterp.ErrInvalid, ref.Version, refVersion)
	}
	o := &opening{former: map[string]*formerContexts{}}
	w, err := newWorkspace(ref.Name, caps, opts, o)
	if err != nil {
		return nil, nil, err
	}
	w.stream.seq = ref.Events
	var parts []Part
	for i := range ref.Contexts {
		p := Part{Context: &ref.Contexts[i]}
		p.State, p.Err = o.attach(ctx, w, p.Context)
		parts = append(parts, p)
		if ctx.Err() != nil {
			return nil, nil, errors.Join(context.Cause(ctx), w.Close())
		}
	}
	for i := range ref.Commands {
		p := Part{Command: &ref.Commands[i], State: Kept}
		if p.Err = w.attachCommand(ctx, p.Command); p.Err != nil {
			p.State = Gone
		}
		parts = append(parts, p)
	}
	if w.files != nil {
		p := Part{Dir: w.files.Dir(), State: Kept}
		if ref.Dir == "" || ref.Dir != w.dir {
			p.State = Empty
		}
		parts = append(parts, p)
	}
	o.setNote(parts)
	return w, parts, nil
}

// An opening is what a workspace knows of the process before.
type opening struct {
	former map[string]*formerContexts // by interpreter
	note   atomic.Pointer[string]     // for the next answer
}

// attach attaches a context, or starts it anew.
func (o *opening) attach(ctx context.Context, w *Workspace, c *ContextRef) (State, error) {
	ci := w.raw[c.Interpreter]
	if ci == nil {
		return Gone, fmt.Errorf("workspace: %w: the interpreter %q", ErrLacking, c.Interpreter)
	}
	err := fmt.Errorf("workspace: %w: contexts end with their process here", codeinterp.ErrContext)
	if a, ok := codeinterp.Attaches(ci); ok && c.Ref != "" {
		var id codeinterp.ContextID
		if id, err = a.Attach(ctx, c.Ref); err == nil {
			o.former[c.Interpreter].add(c.ID, id, false)
			return Kept, nil
		}
	}
	s, ok := codeinterp.Stateful(ci)
	// A context that another process has is not replaced, and neither is one whose server is
	// away.
	if !ok || !errors.Is(err, codeinterp.ErrContext) {
		return Gone, err
	}
	id, failed := s.CreateContext(ctx, c.Language, nil)
	if failed != nil {
		return Gone, errors.Join(err, failed)
	}
	o.former[c.Interpreter].add(c.ID, id, true)
	return Empty, err
}

func (w *Workspace) attachCommand(ctx context.Context, c *CommandRef) error {
	if w.shell == nil {
		return fmt.Errorf("workspace: %w: a shell", ErrLacking)
	}
	return w.observedShell.Attach(ctx, shell.Info{ID: c.ID, Command: c.Command, Cwd: c.Cwd, Started: c.Started, Ref: c.Ref})
}

func (o *opening) setNote(parts []Part) {
	lines := []string{"[This workspace was opened again after its process had ended."}
	for i := range parts {
		lines = append(lines, parts[i].String())
	}
	text := strings.Join(lines, "\n") + "]\n"
	o.note.Store(&text)
}

// tell adds the note to the first answer. o may be nil.
func (o *opening) tell(a *tools.Answer) *tools.Answer {
	if o == nil || a == nil || o.note.Load() == nil {
		return a
	}
	if text := o.note.Swap(nil); text != nil {
		b := *a
		b.Text = *text + b.Text
		return &b
	}
	return a
}

// formerContexts let callers use the ids that contexts had before. Open alone changes the
// list.
type formerContexts struct{ list []*formerContext }

type formerContext struct {
	before, now codeinterp.ContextID
	lost        atomic.Bool // it was started anew, and no run has reported it
}

// wrap returns an interpreter whose contexts have their former ids.
func (o *opening) wrap(name string, ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
	if o == nil {
		return ci
	}
	f := &formerContexts{}
	o.former[name] = f
	return codeinterp.Wrap(ci, f.middleware)
}

func (f *formerContexts) add(before, now codeinterp.ContextID, lost bool) {
	c := &formerContext{before: before, now: now}
	c.lost.Store(lost)
	f.list = append(f.list, c)
}

func (f *formerContexts) middleware(next codeinterp.Handler) codeinterp.Handler {
	return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
		var of *formerContext
		if i := slices.IndexFunc(f.list, func(k *formerContext) bool { return k.before == c.Context }); i >= 0 {
			of = f.list[i]
			c.Context = of.now
		}
		r, err := next(ctx, c)
		if c.Op == codeinterp.OpList {
			r.Contexts = slices.Clone(r.Contexts)
			for i, info := range r.Contexts {
				if k := slices.IndexFunc(f.list, func(k *formerContext) bool { return k.now == info.ID }); k >= 0 {
					r.Contexts[i].ID = f.list[k].before
				}
			}
		}
		if of != nil && c.Op.Runs() && r.Result.Status != codeinterp.StatusNotRun && of.lost.Swap(false) {
			r.Result.StateLost = true
		}
		return r, err
	}
}
