package codemode

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// A Mode is a code tool whose functions may change, and the tools beside it. It
// is safe for concurrent use.
type Mode struct {
	ci       codeinterp.CodeInterpreter
	opts     Options
	language string
	locks    locks

	mu        sync.Mutex
	now       *table // what programs are given
	described *table // what the model was last told of
}

// A table is what programs can call from some moment on. It does not change.
type table struct {
	all    []function // of the entries
	given  []codeinterp.Function
	direct []tools.Tool
	text   string // for the model
}

// Open returns the mode of entries, whose programs ci runs. Names are as with
// [New]. opts may be nil.
func Open(ci codeinterp.CodeInterpreter, list []Entry, opts *Options) (*Mode, error) {
	if ci == nil {
		return nil, fmt.Errorf("codemode: %w: no interpreter", codeinterp.ErrInvalid)
	}
	m := &Mode{ci: ci}
	if opts != nil {
		m.opts = *opts
	}
	m.opts.Name = cmp.Or(m.opts.Name, "run_code")
	m.opts.MaxDeclarations = cmp.Or(m.opts.MaxDeclarations, DefaultMaxDeclarations)
	var err error
	if m.language, err = pick(ci, m.opts.Language); err != nil {
		return nil, err
	}
	if _, found := codeinterp.Files(ci); m.opts.Files && !found {
		return nil, fmt.Errorf("codemode: %w: Files wants an interpreter that has contexts with files", codeinterp.ErrInvalid)
	}
	if err := m.Set(list); err != nil {
		return nil, err
	}
	m.described = m.now
	// Tried here, where it can be told: Tools has no error.
	if _, err := tools.ForCode("", m.Interpreter(), m.toolOptions()); err != nil {
		return nil, err
	}
	return m, nil
}

// Set gives programs that begin from now on the functions of list in place of
// the earlier ones. Where the model was told of others, each answer says what
// has changed, until Tools or Wrap is called again. A list that is an error
// changes nothing.
func (m *Mode) Set(list []Entry) error {
	t := &table{}
	var err error
	if t.all, err = m.functions(slices.Clone(list)); err != nil {
		return err
	}
	d := dialectOf(m.language, t.all)
	for _, f := range slices.Concat(t.all, finders(t.all, d), []function{displayer()}) {
		t.given = append(t.given, f.Function)
	}
	if _, err := codeinterp.CheckRun("", &codeinterp.RunOptions{Functions: t.given, FunctionLimits: m.opts.Limits}); err != nil {
		return fmt.Errorf("codemode: %w", err)
	}
	for _, e := range list {
		if e.Use == Direct || e.Use == Both {
			if e.Invoke == nil {
				return fmt.Errorf("codemode: %w: tool %.80q is to be called directly and has no Invoke", codeinterp.ErrInvalid, e.Name)
			}
			t.direct = append(t.direct, e.Tool)
		}
	}
	t.text = describe(t.all, d, m.opts.MaxDeclarations)
	if slices.ContainsFunc(list, func(e Entry) bool { return e.Files }) {
		t.text += "\n\n" + d.files
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = t
	return nil
}

// Tools returns the code tool, and after it those that the model calls itself,
// as they are now.
func (m *Mode) Tools() []tools.Tool {
	made, err := tools.ForCode("", m.Interpreter(), m.toolOptions())
	if err != nil {
		panic(err) // Open has tried it
	}
	return append([]tools.Tool{m.Wrap(made[0])}, m.Direct()...)
}

// Direct returns the tools that the model calls itself, as they are now.
func (m *Mode) Direct() []tools.Tool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.now.direct)
}

// Wrap returns a tool that runs code by Interpreter, such as a workspace's, with
// the functions added to its description, as they are now, and later changes of
// them to its answers.
func (m *Mode) Wrap(t tools.Tool) tools.Tool {
	m.mu.Lock()
	m.described = m.now
	t.Description += "\n\n" + m.now.text
	m.mu.Unlock()
	invoke := t.Invoke
	t.Invoke = func(ctx context.Context, c tools.Invocation) *tools.Answer {
		keepSecrets(ctx, m.opts.Tools.Secrets)
		a := invoke(ctx, c)
		note := m.changes()
		if a == nil || a.Failure != nil || note == "" {
			return a
		}
		// A copy, since an Answer may be shared.
		noted := *a
		noted.Text = strings.TrimRight(a.Text, "\n") + "\n\n" + note
		return &noted
	}
	return t
}

// changes says what has become of the functions that the model was told of.
func (m *Mode) changes() string {
	m.mu.Lock()
	before, now := m.described, m.now
	m.mu.Unlock()
	if before == now {
		return ""
	}
	added, gone := missing(now.all, before.all), missing(before.all, now.all)
	// The same functions in another table: there is nothing to tell.
	if len(added)+len(gone) == 0 {
		return ""
	}
	text := "[The functions of programs have changed;"
	if len(added) > 0 {
		text += " new: " + listed(added) + "; tools.describe declares them;"
	}
	if len(gone) > 0 {
		text += " gone: " + listed(gone) + ";"
	}
	return strings.TrimSuffix(text, ";") + ".]"
}

// missing returns the names in list that are not in other.
func missing(list, other []function) (names []string) {
	known := make(map[string]bool, len(other))
	for _, f := range other {
		known[f.Name] = true
	}
	for _, f := range list {
		if !known[f.Name] {
			names = append(names, f.Name)
		}
	}
	return names
}

// listed lists the first ones of names.
func listed(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// toolOptions are the options of the code tool.
func (m *Mode) toolOptions() *tools.Options {
	o := m.opts.Tools
	o.Prefix, o.Namer = "", func(string, string) string { return m.opts.Name }
	// They would be tools beside the one.
	o.ReadOutput, o.ManageContexts = false, false
	return &o
}
