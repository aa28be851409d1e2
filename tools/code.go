package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/git"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/shell"
)

// ForCode returns the tools for an interpreter in a workspace, in a fixed order. They
// depend on what ci can do now. opts may be nil.
//
// The workspace's name follows [CheckWorkspaceName]; it may be empty if Options.Namer
// ignores it.
func ForCode(workspace string, ci codeinterp.CodeInterpreter, opts *Options) ([]Tool, error) {
	o, err := opts.complete(workspace)
	if err != nil {
		return nil, err
	}
	return newKit(workspace, ci, o).tools()
}

// tools makes the tools of all operations that the kit supports.
func (k *kit) tools() (list []Tool, err error) {
	for i := range operations {
		if op := &operations[i]; op.needs(k) {
			list = append(list, k.tool(op).Scrubbed(k.Secrets))
		}
	}
	for _, t := range list {
		if err := CheckToolName(t.Name, maxToolName); err != nil {
			return nil, fmt.Errorf("tools: %w", err)
		}
	}
	return list, nil
}

// toolsFor returns the tools of a kit for commands, which info is about.
func (k *kit) toolsFor(workspace string, info codeinterp.Info, opts *Options) (list []Tool, err error) {
	if k.Options, err = opts.complete(workspace); err != nil {
		return nil, err
	}
	k.workspace, k.limits = workspace, k.Options.limits(info.Limits)
	k.facts = newFacts(info, k)
	return k.tools()
}

// A kit is what the tools of one interpreter, of files, or of a shell share.
type kit struct {
	Options
	workspace string
	ci        codeinterp.CodeInterpreter     // nil: none
	contexts  codeinterp.StatefulInterpreter // nil: none
	manager   codeinterp.ContextManager      // nil: none
	forker    codeinterp.ContextForker       // nil: no language has forks
	files     *files.Workdir                 // nil: none
	shell     *shell.Shell                   // nil: none
	git       *git.Git                       // nil: none
	facts     facts
	limits    limits
}

func newKit(workspace string, ci codeinterp.CodeInterpreter, o Options) *kit {
	info := codeinterp.Describe(ci)
	ci = codeinterp.Wrap(ci) // so that OnStart works
	k := &kit{workspace: workspace, ci: ci}
	k.contexts, _ = codeinterp.Stateful(ci)
	k.manager, _ = codeinterp.Manager(ci)
	if slices.ContainsFunc(info.Languages, func(l codeinterp.LanguageInfo) bool { return l.Forks }) {
		k.forker, _ = codeinterp.Forks(ci)
	}
	k.limits = o.limits(info.Limits)
	k.limits.languages, k.limits.contexts = ci.Languages(), withContexts(info)
	k.Options = o
	k.facts = newFacts(info, k)
	return k
}

// limits lowers options to the limits of the interpreter, and returns those of arguments.
func (o *Options) limits(l codeinterp.Limits) limits {
	if l.Timeout > 0 {
		o.MaxTimeout = min(o.MaxTimeout, l.Timeout)
		// No timeout exceeds any limit.
		if o.Timeout <= 0 || o.Timeout > l.Timeout {
			o.Timeout = l.Timeout
		}
	}
	return limits{code: l.Code, maxTimeout: max(o.MaxTimeout.Milliseconds(), 1), timeout: max(o.Timeout, 0).Milliseconds(), maxRead: int64(o.MaxText)}
}

// withContexts returns the languages that have contexts.
func withContexts(info codeinterp.Info) (names []string) {
	for _, l := range info.Languages {
		if l.Contexts {
			names = append(names, l.Name)
		}
	}
	return names
}

// A toolCall is a call with decoded and checked arguments.
type toolCall struct {
	Invocation
	*input
}

// name returns the name of an operation's tool.
func (k *kit) name(op string) string {
	if k.Prefix != "" && k.ci != nil && op != opReadOutput {
		op = k.Prefix + "_" + op
	}
	return k.Namer(k.workspace, op)
}

// tool makes the tool for an operation.
func (k *kit) tool(op *operation) Tool {
	name := k.name(op.name)
	serve := k.guardFiles(op)
	t := Tool{
		Name:         name,
		Op:           op.op,
		Title:        strings.ToUpper(op.name[:1]) + strings.ReplaceAll(op.name[1:], "_", " "),
		Description:  k.facts.describe(op.name),
		OutputSchema: op.output(),
		Annotations:  op.hints(k.facts.info.Isolation),
		Invoke: func(ctx context.Context, c Invocation) *Answer {
			c.Tool = name
			if c.ID == "" {
				c.ID = k.NewID()
			}
			in, f := decode(c.Args, op.args, &k.limits)
			if code := k.check(op, in, &f); len(f) > 0 {
				return k.invalid(c.ID, name, code, f)
			}
			return serve(k, ctx, toolCall{c, in})
		},
		OnRemembered: func(ctx context.Context, c Invocation, a *Answer) { k.reportRemembered(ctx, op, c, a) },
	}
	t.InputSchema, t.StrictSchema = schemas(op.args, &k.limits)
	return t
}

// reportRemembered reports a call that is answered from memory.
func (k *kit) reportRemembered(ctx context.Context, op *operation, c Invocation, a *Answer) {
	if k.files != nil && op.name != opReadOutput {
		if k.OnFile != nil {
			in, _ := decode(c.Args, op.args, &k.limits)
			f := k.fileCall(op, toolCall{c, in})
			f.Remembered, f.Err = true, a.Err
			k.OnFile(f)
		}
		return
	}
	e := observe.Event{Kind: observe.Remembered, Op: op.op, CallID: a.CallID, Tool: a.Tool, Err: a.Err}
	if a.Result != nil {
		ended := *a.Result
		ended.Outputs = nil
		e.Result = &ended
	}
	observe.Report(ctx, e)
}

// check checks the values of arguments and returns the failure code: an argument's own
// if it is the only fault.
func (k *kit) check(op *operation, in *input, f *faults) string {
	own := ""
	for i := range op.args {
		if check := op.args[i].check; check != nil {
			if code := check(k, in, f); code != "" {
				own = code
			}
		}
	}
	if own == "" || len(*f) > 1 {
		return CodeInvalid
	}
	return own
}

func (k *kit) run(ctx context.Context, r toolCall) *Answer {
	ev := observe.Event{Op: codeinterp.OpRun, CallID: r.ID, Tool: r.Tool, Language: r.language, Code: r.code}
	opts := k.runOptions(r, k.Artifacts && k.facts.info.HasFiles(r.language))
	opts.Functions = k.functions(r.language)
	res, err := observe.From(ctx, k.Secrets.Set()).Run(ctx, ev, opts, func(ctx context.Context, o *codeinterp.RunOptions) (codeinterp.Result, error) {
		return k.ci.RunCode(ctx, r.language, r.code, o)
	})
	return k.reply(ctx, r, func() string { return r.language }, res, err)
}

func (k *kit) runIn(ctx context.Context, r toolCall) *Answer {
	id := codeinterp.ContextID(r.contextID)
	ev := observe.Event{Op: codeinterp.OpRunIn, CallID: r.ID, Tool: r.Tool, ContextID: id, Code: r.code}
	files := false
	if k.Artifacts { // the language costs a call
		language := k.languageOf(ctx, id)
		files = language != "" && k.facts.info.HasFiles(language)
	}
	res, err := observe.From(ctx, k.Secrets.Set()).Run(ctx, ev, k.runOptions(r, files), func(ctx context.Context, o *codeinterp.RunOptions) (codeinterp.Result, error) {
		return k.contexts.RunInContext(ctx, id, r.code, o)
	})
	return k.reply(ctx, r, func() string { return k.languageOf(ctx, id) }, res, err)
}

func (k *kit) runOptions(r toolCall, files bool) codeinterp.RunOptions {
	o := codeinterp.RunOptions{Timeout: max(k.Timeout, 0), OnOutput: r.OnOutput, MaxOutput: k.MaxOutput,
		Artifacts: files, FunctionLimits: k.FunctionLimits}
	if r.timeoutMs > 0 {
		o.Timeout = time.Duration(r.timeoutMs) * time.Millisecond
	}
	return o
}

// reply returns the answer to a run. A run that started has a Result, however it
// ended.
func (k *kit) reply(ctx context.Context, c toolCall, language func() string, res codeinterp.Result, err error) *Answer {
	if err != nil && (res.Status == codeinterp.StatusNotRun || res.Status == "") {
		return k.failed(ctx, c, err)
	}
	pictures, shown := images(ctx, res.Outputs, k.MaxImages)
	v := newView(&res, shown, k.MaxText, k.Secrets.Set())
	r := &Answer{CallID: c.ID, Tool: c.Tool, Images: pictures, Result: &res, Err: err, view: v}
	var notes []string
	if res.Error != nil && res.Error.MissingModule != "" {
		r.hint = k.facts.missingModule(res.Error.MissingModule, language())
		notes = append(notes, r.hint)
	}
	if len(res.Refusals) > 0 {
		refused := "The network policy refused: " + strings.Join(res.Refusals, "; ") + "."
		r.hint = strings.TrimSpace(r.hint + " " + refused)
		notes = append(notes, refused)
	}
	if h := formHint(c.code, &res); h != "" {
		r.hint = h
		notes = append(notes, h)
	}
	if v.cut() {
		r.OutputID = k.Outputs.put(ctx, k.NewID(), &res, k.Secrets.Set())
		if k.ReadOutput && r.OutputID != "" {
			has := "all of it"
			if len(res.Truncated) > 0 {
				has = "what was kept of it"
			}
			notes = append(notes, fmt.Sprintf("Some of the output is left out below; %s with outputId %q has %s.",
				k.name(opReadOutput), r.OutputID, has))
		}
	}
	r.Text = v.text(append(append(notes, v.lostNotes()...), v.files()...))
	return r
}

// languageOf returns a context's language, empty if unknown.
func (k *kit) languageOf(ctx context.Context, id codeinterp.ContextID) string {
	if len(k.limits.languages) == 1 {
		return k.limits.languages[0]
	}
	if k.manager == nil {
		return ""
	}
	list, err := k.manager.ListContexts(ctx)
	if err != nil {
		return ""
	}
	for _, info := range list {
		if info.ID == id {
			return info.Language
		}
	}
	return ""
}

// failed returns the answer to a call that the interpreter rejected with an error.
func (k *kit) failed(ctx context.Context, r toolCall, err error) *Answer {
	err = k.Secrets.Error(err)
	f := failureOf(err)
	// failureOf does not know a cause of the caller's own.
	if f.Code == CodeInternal && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		f.Code = CodeCanceled
	}
	return fail(r.ID, r.Tool, f, err)
}
