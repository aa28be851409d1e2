package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// Options tunes a workspace. The zero value is ready to use.
type Options struct {
	// Tools tunes the tools. Its OnEvent, if set, is called after the
	// subscribers were.
	Tools tools.Options

	// Calls says how calls are remembered by their ids.
	Calls tools.SetOptions

	// Now is the clock of the events. Nil means time.Now.
	Now func() time.Time
}

// A Workspace is a name, its interpreters, their tools, and one stream of
// events. It is safe for concurrent use.
type Workspace struct {
	name     string
	declared Declaration
	order    []string // names of the interpreters, "" first
	raw      map[string]codeinterp.CodeInterpreter
	observed map[string]codeinterp.CodeInterpreter
	set      *tools.Set
	outputs  *tools.OutputStore
	stream   *stream
	close    func() error
}

// New opens a workspace. Its name follows [tools.CheckWorkspaceName], and so do
// those of further interpreters. The workspace owns the interpreters from then
// on; if New fails, it does not. opts may be nil.
func New(name string, caps Capabilities, opts *Options) (*Workspace, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := errors.Join(tools.CheckWorkspaceName(name), caps.check()); err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	w := &Workspace{
		name:     name,
		raw:      maps.Clone(caps.Beside),
		observed: map[string]codeinterp.CodeInterpreter{},
		stream:   newStream(name, opts.Now),
	}
	if w.raw == nil {
		w.raw = map[string]codeinterp.CodeInterpreter{}
	}
	if caps.Code != nil {
		w.raw[""] = caps.Code
	}
	w.order = slices.Sorted(maps.Keys(w.raw))
	if err := w.build(opts); err != nil {
		return nil, fmt.Errorf("workspace %q: %w", name, err)
	}
	w.declared = w.provided()
	w.close = sync.OnceValue(w.closeAll)
	return w, nil
}

// build makes the tools and the observed interpreters.
func (w *Workspace) build(opts *Options) error {
	o := opts.Tools
	if o.Outputs == nil {
		o.Outputs = tools.NewOutputStore(nil)
	}
	w.outputs = o.Outputs
	var list []tools.Tool
	for _, name := range w.order {
		o := o
		o.OnEvent = w.stream.emitter(name, opts.Tools.OnEvent)
		if name != "" {
			if err := tools.CheckWorkspaceName(name); err != nil {
				return fmt.Errorf("interpreter: %w", err)
			}
			o.Namer = prefixed(name, o.Namer)
		}
		some, err := tools.ForCode(w.name, w.raw[name], &o)
		if err != nil {
			return err
		}
		if len(list) > 0 && o.ReadOutput {
			some = some[:len(some)-1]
		}
		list = append(list, some...)
		w.observed[name] = codeinterp.Wrap(w.raw[name], tools.Observe(tools.ObserveOptions{
			OnEvent: o.OnEvent, Secrets: o.Secrets, NewID: o.NewID,
		}))
	}
	var err error
	w.set, err = tools.NewSet(list, &opts.Calls)
	return err
}

// prefixed puts an interpreter's name in front of its operations; read_output
// is one tool for all.
func prefixed(name string, namer func(workspace, op string) string) func(workspace, op string) string {
	if namer == nil {
		namer = tools.Prefixed
	}
	return func(workspace, op string) string {
		if op == "read_output" {
			return namer(workspace, op)
		}
		return namer(workspace, name+"_"+op)
	}
}

// Name returns the workspace's name.
func (w *Workspace) Name() string { return w.name }

// Tools returns the tools of all interpreters, the main one's first.
func (w *Workspace) Tools() []tools.Tool { return w.set.Tools() }

// Dispatch serves a model's call; see [tools.Set].
func (w *Workspace) Dispatch(ctx context.Context, name string, args json.RawMessage, opts *tools.CallOptions) *tools.Reply {
	return w.set.Dispatch(ctx, name, args, opts)
}

// DispatchAll serves all calls of a model's turn; see [tools.Set].
func (w *Workspace) DispatchAll(ctx context.Context, calls []tools.Request, opts *tools.TurnOptions) []*tools.Reply {
	return w.set.DispatchAll(ctx, calls, opts)
}

// Code returns the main interpreter, for code that the program runs by itself:
// its runs are events of the workspace, and secrets are scrubbed. It is nil
// where the workspace has none.
func (w *Workspace) Code() codeinterp.CodeInterpreter { return w.observed[""] }

// Beside returns the further interpreter of that name like Code, nil where
// there is none.
func (w *Workspace) Beside(name string) codeinterp.CodeInterpreter {
	if name == "" {
		return nil
	}
	return w.observed[name]
}

// Outputs returns the store of outputs that were too long for a reply.
func (w *Workspace) Outputs() *tools.OutputStore { return w.outputs }

// Close closes the interpreters, which ends their runs, and then the event
// stream: subscribers see the ends of those runs, and nothing afterwards. It
// is idempotent.
func (w *Workspace) Close() error { return w.close() }

func (w *Workspace) closeAll() error {
	errs := make([]error, len(w.order))
	var wg sync.WaitGroup
	for i, name := range w.order {
		wg.Go(func() { errs[i] = w.raw[name].Close() })
	}
	wg.Wait()
	w.stream.close()
	return errors.Join(errs...)
}
