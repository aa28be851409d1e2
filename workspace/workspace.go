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
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/git"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/tools"
)

// Options tunes a workspace. The zero value is ready to use.
type Options struct {
	// Tools tunes the tools.
	Tools tools.Options

	// Calls says whether calls are remembered by their ids.
	Calls tools.SetOptions

	// Wrap, if set, returns the tools that the workspace offers in place of list, for
	// instance with traces; see package oteltools. It applies to Front too.
	Wrap func(list []tools.Tool) []tools.Tool

	// IdlePause, if set, pauses the workspace when for so long no run and no command,
	// also in the background, was in progress; see Workspace.Pause.
	IdlePause time.Duration

	// AutoResume resumes a paused workspace when something is to run. Otherwise that
	// is codeinterp.ErrPaused.
	AutoResume bool

	// Now is the clock of the events. Nil means time.Now.
	Now func() time.Time
}

// A Workspace is a name, its interpreters, files and shell, their tools, and one
// stream of events. It is safe for concurrent use.
type Workspace struct {
	name          string
	dir           string
	before        *opening // nil unless the workspace was opened again
	options       tools.Options
	order         []string                              // names of the interpreters, "" first
	raw           map[string]codeinterp.CodeInterpreter // narrowed to what is declared
	observed      map[string]codeinterp.CodeInterpreter
	files         *files.Workdir // nil: none
	shell         *shell.Shell   // nil: none
	observedShell *shell.Shell
	git           *git.Git                        // nil: none
	wrap          func([]tools.Tool) []tools.Tool // nil: none
	set           *tools.Set
	stream        *stream
	pauses        *pauses
	close         func() error
}

// New opens a workspace. Its name may be a user's id; see [tools.CheckWorkspaceName], and
// [tools.WorkspacePart] for what stands for it in the names of tools. The workspace owns the interpreters and the shell
// from then on; if New fails, it does not. opts may be nil.
func New(name string, caps Capabilities, opts *Options) (*Workspace, error) {
	return newWorkspace(name, caps, opts, nil)
}

// newWorkspace is New; before is nil without a process before.
func newWorkspace(name string, caps Capabilities, opts *Options, before *opening) (*Workspace, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := errors.Join(tools.CheckWorkspaceName(name), caps.check()); err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	raw, err := caps.narrowed()
	if err != nil {
		return nil, fmt.Errorf("workspace %q: %w", name, err)
	}
	w := &Workspace{
		name:     name,
		dir:      caps.Dir,
		before:   before,
		raw:      raw,
		files:    caps.Files,
		shell:    caps.Shell,
		git:      caps.Git,
		observed: map[string]codeinterp.CodeInterpreter{},
		stream:   newStream(name, opts.Now),
		pauses:   newPauses(opts),
	}
	w.order = slices.Sorted(maps.Keys(w.raw))
	for _, name := range w.order {
		w.raw[name] = before.wrap(name, w.raw[name])
	}
	w.pauses.open(w.raw)
	if w.git != nil {
		w.git = w.git.With(w.pauses.middlewares()...)
	}
	if w.shell != nil {
		w.shell = w.shell.With(shell.View{Middlewares: w.pauses.middlewares()})
	}
	if err := w.build(opts); err != nil {
		return nil, fmt.Errorf("workspace %q: %w", name, err)
	}
	w.close = sync.OnceValue(w.closeAll)
	return w, nil
}

// build makes the tools and the observed interpreters.
func (w *Workspace) build(opts *Options) error {
	w.options, w.wrap = opts.Tools, opts.Wrap
	if w.options.Outputs == nil {
		w.options.Outputs = tools.NewOutputStore(nil)
	}
	observe := func(name string) codeinterp.Middleware {
		return observe.Middleware(observe.Options{
			OnEvent: w.stream.emitter(name), Secrets: w.options.Secrets.Set(), NewID: w.options.NewID,
		})
	}
	for _, name := range w.order {
		w.observed[name] = codeinterp.Wrap(w.raw[name], observe(name))
	}
	if w.shell != nil {
		w.observedShell = w.shell.With(shell.View{Middlewares: []codeinterp.Middleware{observe("")}})
	}
	list, err := w.tools(w.options)
	if err != nil {
		return err
	}
	w.set, err = tools.NewSet(list, &opts.Calls)
	return err
}

// tools makes the tools of all interpreters, with the middlewares around each,
// of the files, and of the shell.
func (w *Workspace) tools(opts tools.Options, mw ...codeinterp.Middleware) ([]tools.Tool, error) {
	var list []tools.Tool
	add := func(some []tools.Tool, interpreter string) {
		// read_output, the last of each, reads the store that all share: one will do.
		if opts.ReadOutput && len(list) > 0 {
			some = some[:len(some)-1]
		}
		list = w.stream.watch(list, some, interpreter, w.before)
	}
	for _, name := range w.order {
		o := opts
		o.Prefix = name
		some, err := tools.ForCode(w.name, codeinterp.Wrap(w.raw[name], mw...), &o)
		if err != nil {
			return nil, err
		}
		add(some, name)
	}
	if w.files != nil {
		o := opts
		o.OnFile = w.stream.files(opts.OnFile)
		some, err := tools.ForFiles(w.name, w.files, &o)
		if err != nil {
			return nil, err
		}
		add(some, "")
	}
	if w.shell != nil {
		some, err := tools.ForShell(w.name, w.shell.With(shell.View{Middlewares: mw}), &opts)
		if err != nil {
			return nil, err
		}
		add(some, "")
	}
	if w.git != nil {
		some, err := tools.ForGit(w.name, w.git.With(mw...), &opts)
		if err != nil {
			return nil, err
		}
		add(some, "")
	}
	if w.wrap != nil {
		list = w.wrap(list)
	}
	return list, nil
}

// FrontOptions tunes [Workspace.Front]. The zero value is ready to use.
type FrontOptions struct {
	// Namer makes the tools' names where the workspace's options have none.
	Namer func(workspace, op string) string

	// Timeout bounds a run whose call sets none, where the workspace's options
	// do not say.
	Timeout time.Duration

	// Middlewares stand around each interpreter and the shell, the first
	// outermost. Each is called once for each of them.
	Middlewares []codeinterp.Middleware
}

// Front returns further tools over the same interpreters, for those who come in
// by a door of their own, such as the clients of a server. Their runs are
// events of the workspace like all others, and their outputs in its store.
func (w *Workspace) Front(opts *FrontOptions) ([]tools.Tool, error) {
	if opts == nil {
		opts = &FrontOptions{}
	}
	o := w.options
	if o.Namer == nil {
		o.Namer = opts.Namer
	}
	if o.Timeout == 0 && opts.Timeout > 0 {
		o.Timeout = opts.Timeout
		if o.MaxTimeout > 0 {
			o.Timeout = min(o.Timeout, o.MaxTimeout)
		}
	}
	list, err := w.tools(o, opts.Middlewares...)
	if err != nil {
		return nil, fmt.Errorf("workspace %q: %w", w.name, err)
	}
	return list, nil
}

// Name returns the workspace's name.
func (w *Workspace) Name() string { return w.name }

// Tools returns the tools of all interpreters, the main one's first, of the
// files, and of the shell.
func (w *Workspace) Tools() []tools.Tool { return w.set.Tools() }

// Dispatch serves a model's call; see [tools.Set].
func (w *Workspace) Dispatch(ctx context.Context, name string, args json.RawMessage, opts *tools.DispatchOptions) *tools.Answer {
	return w.set.Dispatch(ctx, name, args, opts)
}

// DispatchAll serves all calls of a model's turn; see [tools.Set].
func (w *Workspace) DispatchAll(ctx context.Context, calls []tools.Invocation, opts *tools.TurnOptions) []*tools.Answer {
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

// Files returns the files, for the program itself: secrets are not scrubbed. It
// is nil where the workspace has none.
func (w *Workspace) Files() *files.Workdir { return w.files }

// Shell returns the shell, for commands that the program runs by itself: they are
// events of the workspace, and secrets are scrubbed. It is nil where the workspace
// has none.
func (w *Workspace) Shell() *shell.Shell { return w.observedShell }

// Git returns what works with repositories, for the program itself. It is nil where the
// workspace has none.
func (w *Workspace) Git() *git.Git { return w.git }

// Outputs returns the store of outputs that were too long for an answer.
func (w *Workspace) Outputs() *tools.OutputStore { return w.options.Outputs }

// Scrub returns text with the workspace's secrets replaced.
func (w *Workspace) Scrub(text string) string { return w.options.Secrets.Scrub(text) }

// Close closes the shell and the interpreters, which ends their runs, and then the event
// stream: subscribers see the ends of those runs, and nothing afterwards. It
// is idempotent.
func (w *Workspace) Close() error { return w.close() }

func (w *Workspace) closeAll() error {
	w.pauses.close()
	errs := make([]error, len(w.order))
	var wg sync.WaitGroup
	if w.shell != nil {
		wg.Go(func() { _ = w.shell.Close() }) // which never fails
	}
	for i, name := range w.order {
		wg.Go(func() { errs[i] = w.raw[name].Close() })
	}
	wg.Wait()
	w.stream.close()
	return errors.Join(errs...)
}
