package tools

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// ForCode returns the tools for an interpreter in the workspace of that name,
// in an order that is always the same. Which tools there are is decided here,
// once, by what ci can do. opts may be nil.
//
// The workspace's name follows [CheckWorkspaceName]; it may be empty where
// Options.Namer does without it.
func ForCode(workspace string, ci codeinterp.CodeInterpreter, opts *Options) ([]Tool, error) {
	o, err := opts.complete()
	if err == nil && (workspace != "" || opts == nil || opts.Namer == nil) {
		err = CheckWorkspaceName(workspace)
	}
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	k := newKit(workspace, ci, o)
	list := []Tool{tool(k, "run_code", k.run)}
	if s, ok := codeinterp.Stateful(ci); ok {
		list = append(list,
			tool(k, "create_code_context", k.create(s)),
			tool(k, "run_in_code_context", k.runIn(s)),
			tool(k, "delete_code_context", k.delete(s)))
	}
	if m, ok := codeinterp.Manager(ci); ok && o.ManageContexts {
		list = append(list,
			tool(k, "list_code_contexts", k.list(m)),
			tool(k, "restart_code_context", k.restart(m)),
			tool(k, "interrupt_code_context", k.interrupt(m)))
	}
	if o.ReadOutput {
		list = append(list, tool(k, "read_output", k.readOutput))
	}
	for _, t := range list {
		if err := checkToolName(t.Name, o.MaxToolName); err != nil {
			return nil, fmt.Errorf("tools: %w", err)
		}
	}
	return list, nil
}

// A kit is what the tools of one interpreter share.
type kit struct {
	Options
	workspace string
	ci        codeinterp.CodeInterpreter
	languages []string
	facts     facts
	limits    limits
	observer  observer
}

func newKit(workspace string, ci codeinterp.CodeInterpreter, o Options) *kit {
	k := &kit{Options: o, workspace: workspace, ci: ci, languages: ci.Languages(), observer: observer{o.Secrets, o.OnEvent}}
	k.limits = limits{
		languages:  k.languages,
		maxTimeout: o.MaxTimeout.Milliseconds(),
		timeout:    max(o.Timeout, 0).Milliseconds(),
		maxRead:    int64(o.MaxText),
	}
	k.facts = newFacts(codeinterp.Describe(ci), k)
	return k
}

// A handler serves calls whose arguments were decoded.
type handler[In any] func(ctx context.Context, c Call, name string, in *In) *Reply

// tool makes the tool for an operation from its handler. In is what the schema
// is made from and what calls are decoded into.
func tool[In any, P interface {
	*In
	arguments
}](k *kit, op string, h handler[In]) Tool {
	name := k.Namer(k.workspace, op)
	s := newSchema(reflect.TypeFor[In](), &k.limits)
	return Tool{
		Name:         name,
		Title:        strings.ToUpper(op[:1]) + strings.ReplaceAll(op[1:], "_", " "),
		Description:  k.facts.describe(op),
		InputSchema:  s.neutral,
		StrictSchema: s.strict,
		OutputSchema: outputSchema(op),
		Annotations:  k.facts.annotate(op),
		Call: func(ctx context.Context, c Call) *Reply {
			if c.ID == "" {
				c.ID = k.NewID()
			}
			in := new(In)
			f := decode(c.Args, s.params, P(in).bind)
			code := CodeInvalid
			if v, ok := any(in).(interface{ check(*kit, *faults) string }); ok {
				code = v.check(k, &f)
			}
			if len(f) > 0 {
				return k.scrubbed(invalid(c.ID, name, code, f))
			}
			return h(ctx, c, name, in)
		},
	}
}

// check resolves the language and looks at the code. The code of the fault is
// the language's where it is the only one.
func (a *runArgs) check(k *kit, f *faults) string {
	code := checkLanguage(&a.Language, k, f)
	checkCode(&a.Code, k, f)
	if len(*f) > 1 {
		return CodeInvalid
	}
	return code
}

func (a *createArgs) check(k *kit, f *faults) string { return checkLanguage(&a.Language, k, f) }

func (a *runInArgs) check(k *kit, f *faults) string {
	checkCode(&a.Code, k, f)
	return CodeInvalid
}

func checkLanguage(language *string, k *kit, f *faults) string {
	if *language == "" && len(*f) > 0 {
		return CodeInvalid
	}
	name, err := codeinterp.ResolveLanguage(*language, k.languages)
	if err != nil {
		f.add("language: %v", err)
		if len(*f) == 1 {
			return CodeLanguage
		}
	}
	*language = name
	return CodeInvalid
}

func checkCode(code *string, k *kit, f *faults) {
	if k.StripFences {
		*code = stripFence(*code)
	}
	if _, err := codeinterp.CheckRun(*code, nil); err != nil {
		f.add("%s", strings.TrimPrefix(err.Error(), codeinterp.ErrInvalid.Error()+": "))
	}
}

// run serves run_code.
func (k *kit) run(ctx context.Context, c Call, name string, in *runArgs) *Reply {
	ev := Event{CallID: c.ID, Tool: name, Language: in.Language}
	res, err := k.observer.run(ev, k.runOptions(c, in.TimeoutMs), func(o *codeinterp.RunOptions) (codeinterp.Result, error) {
		return k.ci.RunCode(ctx, in.Language, in.Code, o)
	})
	return k.reply(ctx, c, name, func() string { return in.Language }, res, err)
}

// runIn serves run_in_code_context.
func (k *kit) runIn(s codeinterp.StatefulInterpreter) handler[runInArgs] {
	return func(ctx context.Context, c Call, name string, in *runInArgs) *Reply {
		id := codeinterp.ContextID(in.ContextID)
		ev := Event{CallID: c.ID, Tool: name, ContextID: id}
		res, err := k.observer.run(ev, k.runOptions(c, in.TimeoutMs), func(o *codeinterp.RunOptions) (codeinterp.Result, error) {
			return s.RunInContext(ctx, id, in.Code, o)
		})
		return k.reply(ctx, c, name, func() string { return k.languageOf(ctx, id) }, res, err)
	}
}

func (k *kit) create(s codeinterp.StatefulInterpreter) handler[createArgs] {
	return func(ctx context.Context, c Call, name string, in *createArgs) *Reply {
		id, err := s.CreateContext(ctx, in.Language, nil)
		if err != nil {
			return k.failed(ctx, c, name, err)
		}
		return answer(c.ID, name, createdJSON{string(id)})
	}
}

func (k *kit) delete(s codeinterp.StatefulInterpreter) handler[contextArgs] {
	return func(ctx context.Context, c Call, name string, in *contextArgs) *Reply {
		if err := s.DeleteContext(ctx, codeinterp.ContextID(in.ContextID)); err != nil {
			return k.failed(ctx, c, name, err)
		}
		return answer(c.ID, name, okJSON{true})
	}
}

func (k *kit) runOptions(c Call, timeoutMs int64) codeinterp.RunOptions {
	o := codeinterp.RunOptions{Timeout: max(k.Timeout, 0), OnOutput: c.OnOutput, MaxOutput: k.MaxOutput}
	if timeoutMs > 0 {
		o.Timeout = time.Duration(timeoutMs) * time.Millisecond
	}
	return o
}

// reply turns the outcome of a run into what the model gets. A run that began
// is a Result, whatever ended it.
func (k *kit) reply(ctx context.Context, c Call, name string, language func() string, res codeinterp.Result, err error) *Reply {
	if err != nil && (res.Status == codeinterp.StatusNotRun || res.Status == "") {
		return k.failed(ctx, c, name, err)
	}
	images, shown := k.Images.images(res.Outputs)
	v := newView(&res, shown, k.MaxText)
	v.scrub(k.Secrets)
	r := &Reply{CallID: c.ID, Tool: name, Images: images, Result: &res, Err: err, view: v}
	var notes []string
	if res.Error != nil && res.Error.MissingModule != "" {
		r.hint = k.facts.missingModule(res.Error.MissingModule, language())
		notes = append(notes, r.hint)
	}
	if v.cut() {
		r.OutputID = k.Outputs.put(k.NewID(), &res, k.Secrets)
		if k.ReadOutput && r.OutputID != "" {
			has := "all of it"
			if len(res.Truncated) > 0 {
				has = "what was kept of it"
			}
			notes = append(notes, fmt.Sprintf("Some of the output is left out below; %s with outputId %q has %s.",
				k.Namer(k.workspace, "read_output"), r.OutputID, has))
		}
	}
	r.Text = v.text(append(append(notes, v.lostNotes()...), v.files()...))
	return r
}

// languageOf returns a context's language, empty where it cannot be known.
func (k *kit) languageOf(ctx context.Context, id codeinterp.ContextID) string {
	if len(k.languages) == 1 {
		return k.languages[0]
	}
	m, ok := codeinterp.Manager(k.ci)
	if !ok {
		return ""
	}
	list, err := m.ListContexts(ctx)
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

// failed is the reply to a call that the interpreter answered with an error.
func (k *kit) failed(ctx context.Context, c Call, name string, err error) *Reply {
	err = k.Secrets.err(err)
	f := failureOf(err)
	if f.Code == CodeInternal && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		f.Code = CodeCanceled
	}
	return fail(c.ID, name, f, err)
}

// scrubbed replaces a failure's secrets.
func (k *kit) scrubbed(r *Reply) *Reply {
	if k.Secrets == nil {
		return r
	}
	f := *r.Failure
	f.Message = k.Secrets.Scrub(f.Message)
	return fail(r.CallID, r.Tool, &f, k.Secrets.err(r.Err))
}
