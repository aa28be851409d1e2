package codemode

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// DefaultMaxDeclarations is the default of Options.MaxDeclarations.
const DefaultMaxDeclarations = 16 << 10

// Options configures [New]. The zero value is ready to use.
type Options struct {
	// Language is the language of programs. Empty means the first of typescript,
	// javascript and python whose programs can call functions.
	Language string

	// Name is the name of the code tool. Empty means "run_code".
	Name string

	// MaxDeclarations bounds the declarations in the description, in bytes. If they are
	// longer, the description has names only, up to the same bound. Zero means
	// DefaultMaxDeclarations.
	MaxDeclarations int

	// Files runs each program in a context of its own, in which images and files that
	// tools return are files below tool_files. The interpreter must have contexts with
	// files; programs in a language without contexts run without.
	Files bool

	// Approve, if set, makes calls of functions wait for a person.
	Approve *Approval

	// OnRun, if set, is called with each program before it runs. It may call Set.
	OnRun func(ctx context.Context, code string)

	// Tools are the options of the code tool, such as its timeout and its secrets.
	// Namer, Prefix, ReadOutput, ManageContexts and ForkContexts are not used.
	Tools tools.Options

	// Limits bound the calls of each program.
	Limits codeinterp.FunctionLimits
}

// A Mode is a code tool and the Direct tools. Its functions may change. It is safe
// for concurrent use.
type Mode struct {
	ci        codeinterp.CodeInterpreter
	opts      Options
	language  string
	approvals *approvals // nil if no call needs approval

	mu  sync.Mutex
	now *table
}

// A table is an immutable set of functions that programs can call.
type table struct {
	all    []function // of the entries
	given  []codeinterp.Function
	direct []tools.Tool
	text   string // for the model
}

// New returns a mode whose programs run in ci and call the tools of list. A name that
// programs cannot use is changed, and the declarations say so; two tools with the same
// name then are an error. opts may be nil.
func New(ci codeinterp.CodeInterpreter, list []Entry, opts *Options) (*Mode, error) {
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
		return nil, fmt.Errorf("codemode: %w: Files needs an interpreter that has contexts with files", codeinterp.ErrInvalid)
	}
	if m.opts.Approve != nil {
		m.approvals = newApprovals(m.opts.Approve, m.opts.Tools.Secrets)
		m.opts.Limits.ExcludeFromTimeout = true // a person may take longer than the program's timeout
	}
	if err := m.Set(list); err != nil {
		return nil, err
	}
	// Tried here: Tools returns no error.
	if _, err := tools.ForCode("", m.Interpreter(), m.toolOptions()); err != nil {
		return nil, err
	}
	return m, nil
}

// pick returns the language of programs.
func pick(ci codeinterp.CodeInterpreter, wanted string) (string, error) {
	var can []string
	for _, l := range codeinterp.Describe(ci).Languages {
		if _, known := dialects[l.Name]; known && l.Functions {
			can = append(can, l.Name)
		}
	}
	if wanted != "" {
		if slices.Contains(can, wanted) {
			return wanted, nil
		}
		return "", fmt.Errorf("codemode: %w: programs in %.40q cannot call functions here; those in %q can", codeinterp.ErrLanguage, wanted, can)
	}
	for _, l := range []string{"typescript", "javascript", "python"} {
		if slices.Contains(can, l) {
			return l, nil
		}
	}
	return "", fmt.Errorf("codemode: %w: no programs of this interpreter can call functions", codeinterp.ErrLanguage)
}

// Set replaces the functions of programs that start from now on. Tools that were made
// before say in their answers what has changed. On an error nothing changes.
func (m *Mode) Set(list []Entry) error {
	t := &table{}
	var err error
	if t.all, err = m.functions(slices.Clone(list)); err != nil {
		return err
	}
	d := dialects[m.language]
	for _, f := range slices.Concat(t.all, finders(t.all, d), []function{displayer()}) {
		t.given = append(t.given, f.Function)
	}
	if _, err := codeinterp.CheckRun("", &codeinterp.RunOptions{Functions: t.given, FunctionLimits: m.opts.Limits}); err != nil {
		return fmt.Errorf("codemode: %w", err)
	}
	for _, e := range list {
		if e.Direct {
			if e.Invoke == nil {
				return fmt.Errorf("codemode: %w: tool %.80q is Direct and has no Invoke", codeinterp.ErrInvalid, e.Name)
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

func (m *Mode) table() *table {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Tools returns the code tool, resume_code if calls need approval, and the Direct tools,
// as they are now.
func (m *Mode) Tools() []tools.Tool {
	made, err := tools.ForCode("", m.Interpreter(), m.toolOptions())
	if err != nil {
		panic(err) // New has tried it
	}
	return m.Extend(made)
}

// Extend returns list, the tools of an interpreter such as that of a workspace around
// [Mode.Interpreter], with the functions declared in the tool that runs code, followed by
// the others of Tools.
func (m *Mode) Extend(list []tools.Tool) []tools.Tool {
	now := m.table()
	all := make([]tools.Tool, 0, len(list)+1+len(now.direct))
	for _, t := range list {
		if t.Op != codeinterp.OpRun {
			all = append(all, t)
			continue
		}
		t = m.declared(t, now)
		if m.approvals == nil {
			all = append(all, t)
		} else {
			all = append(all, m.approvals.wrap(t)...)
		}
	}
	return append(all, now.direct...)
}

// declared adds the declarations of described to the description of a tool that runs code.
// Its answers say which functions have changed since.
func (m *Mode) declared(t tools.Tool, described *table) tools.Tool {
	t.Description += "\n\n" + described.text
	invoke := t.Invoke
	t.Invoke = func(ctx context.Context, c tools.Invocation) *tools.Answer {
		a := invoke(ctx, c)
		if a == nil || a.Failure != nil {
			return a
		}
		now := m.table()
		note := strings.TrimSpace(why(now, c.Args, a) + changes(described, now))
		if note == "" {
			return a
		}
		noted := *a // an Answer may be shared
		noted.Text = strings.TrimRight(a.Text, "\n") + "\n\n" + note
		return &noted
	}
	return t
}

// why says why a program that failed may not call functions that it names.
func why(now *table, args []byte, a *tools.Answer) (text string) {
	for _, f := range now.all {
		if f.refused != "" && a.Result != nil && a.Result.Error != nil && bytes.Contains(args, []byte("tools."+f.Name)) && !strings.Contains(a.Text, f.refused) {
			text += fmt.Sprintf("[tools.%s: %s.]\n", f.Name, comment(f.refused, 300))
		}
	}
	return text
}

// changes describes the difference of two tables to the model.
func changes(before, now *table) string {
	if before == now {
		return ""
	}
	added, gone := missing(now.all, before.all), missing(before.all, now.all)
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

// missing returns the names in list, of functions that programs may call, that are not in
// other.
func missing(list, other []function) (names []string) {
	known := make(map[string]bool, len(other))
	for _, f := range other {
		known[f.Name] = true
	}
	for _, f := range list {
		if !known[f.Name] && f.refused == "" {
			names = append(names, f.Name)
		}
	}
	return names
}

// listed joins the first of names.
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
	o.ReadOutput, o.ManageContexts, o.ForkContexts = false, false, false // they would add tools
	return &o
}
