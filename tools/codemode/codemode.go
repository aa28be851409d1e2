package codemode

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// DefaultMaxDeclarations is how many bytes of declarations a description has
// where Options.MaxDeclarations is zero.
const DefaultMaxDeclarations = 16 << 10

// Options tunes [New]. The zero value is ready to use.
type Options struct {
	// Language is that of the programs. Empty means the first of typescript,
	// javascript and python whose programs can call functions.
	Language string

	// Name is the tool's. Empty means "run_code".
	Name string

	// MaxDeclarations is how many bytes the declarations of all functions may
	// have. Where they have more, the description has names only, no more
	// bytes of them either. Zero means DefaultMaxDeclarations.
	MaxDeclarations int

	// Tools are the options of the code tool, such as its timeout and its
	// secrets. Namer and Prefix are not used.
	Tools tools.Options

	// Limits bound the calls of each program.
	Limits codeinterp.FunctionLimits
}

// New returns the one tool for all of list, whose programs ci runs. A name that
// programs cannot use is changed, and the declarations say so; two that would
// then be the same are an error. opts may be nil.
func New(ci codeinterp.CodeInterpreter, list []tools.Tool, opts *Options) (tools.Tool, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Name = cmp.Or(o.Name, "run_code")
	o.MaxDeclarations = cmp.Or(o.MaxDeclarations, DefaultMaxDeclarations)
	language, err := pick(ci, o.Language)
	if err != nil {
		return tools.Tool{}, err
	}
	all := functions(list)
	text, named := describe(all, dialects[language], o.MaxDeclarations)
	if named {
		all = append(all, finders(all, dialects[language])...)
	}
	given := make([]codeinterp.Function, 0, len(all))
	for _, f := range all {
		given = append(given, f.Function)
	}
	run := &codeinterp.RunOptions{Functions: given, FunctionLimits: o.Limits}
	if _, err := codeinterp.CheckRun("", run); err != nil {
		return tools.Tool{}, fmt.Errorf("codemode: %w", err)
	}
	o.Tools.Prefix, o.Tools.Namer = "", func(string, string) string { return o.Name }
	o.Tools.ReadOutput, o.Tools.ManageContexts = false, false
	made, err := tools.ForCode("", &giving{ci, language, run}, &o.Tools)
	if err != nil {
		return tools.Tool{}, err
	}
	t := made[0]
	t.Description += "\n\n" + text
	return t, nil
}

// pick returns the language of the programs.
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
		return "", fmt.Errorf("codemode: %w: programs in %.40q cannot call functions; those in %q can", codeinterp.ErrLanguage, wanted, can)
	}
	for _, l := range []string{"typescript", "javascript", "python"} {
		if slices.Contains(can, l) {
			return l, nil
		}
	}
	return "", fmt.Errorf("codemode: %w: no programs of this interpreter can call functions", codeinterp.ErrLanguage)
}

// A function is a tool as programs call it.
type function struct {
	codeinterp.Function
	tool string // the tool's name
}

// taken are the names of the functions that find others.
var taken = []string{"search", "describe"}

func functions(list []tools.Tool) []function {
	all := make([]function, 0, len(list)+len(taken))
	for _, t := range list {
		f := function{t.Function(), t.Name}
		if slices.Contains(taken, f.Name) {
			f.Name += "_"
		}
		all = append(all, f)
	}
	return all
}

// describe returns what the description says of the functions, and whether it is
// names only.
func describe(all []function, d dialect, room int) (text string, named bool) {
	var b strings.Builder
	for i := range all {
		if b.WriteString(d.declare(&all[i])); b.Len() > room {
			return d.intro + "\n\n" + d.more + "\n\n" + names(all, room), true
		}
	}
	return d.intro + "\n\n```" + d.fence + "\n" + d.open + b.String() + d.close + "```", false
}

// names lists the functions as far as there is room.
func names(all []function, room int) string {
	var b strings.Builder
	b.WriteString("The functions: ")
	for i, f := range all {
		if b.Len()+len(f.Name) > room {
			fmt.Fprintf(&b, " and %d more", len(all)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Name)
	}
	return b.String() + "."
}

// A giving interpreter gives each run functions. It has one language and no
// contexts.
type giving struct {
	ci       codeinterp.CodeInterpreter
	language string
	run      *codeinterp.RunOptions
}

var _ codeinterp.Describer = (*giving)(nil)

// Languages implements codeinterp.CodeInterpreter.
func (g *giving) Languages() []string { return []string{g.language} }

// Close implements codeinterp.CodeInterpreter.
func (g *giving) Close() error { return g.ci.Close() }

// Describe implements codeinterp.Describer.
func (g *giving) Describe() codeinterp.Info {
	info := codeinterp.Describe(codeinterp.Stateless(g.ci))
	info.Languages = slices.DeleteFunc(slices.Clone(info.Languages), func(l codeinterp.LanguageInfo) bool { return l.Name != g.language })
	return info
}

// RunCode implements codeinterp.CodeInterpreter.
func (g *giving) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	o := codeinterp.RunOptions{}
	if opts != nil {
		o = *opts
	}
	o.Functions, o.FunctionLimits = g.run.Functions, g.run.FunctionLimits
	return g.ci.RunCode(ctx, language, code, &o)
}
