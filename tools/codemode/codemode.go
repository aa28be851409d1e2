package codemode

import (
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

	// Files runs each program in a context of its own, where the interpreter
	// has contexts with files (one of NewStateful, not of New), so that images
	// and files that tools return are in its directory, below tool_files. With
	// another it is ErrInvalid; where only the language has no contexts, programs
	// run without.
	Files bool

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
	m, err := Open(ci, Entries(list), opts)
	if err != nil {
		return tools.Tool{}, err
	}
	return m.Tools()[0], nil
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
		return "", fmt.Errorf("codemode: %w: programs in %.40q cannot call functions, or this interpreter has none; those in %q can", codeinterp.ErrLanguage, wanted, can)
	}
	for _, l := range []string{"typescript", "javascript", "python"} {
		if slices.Contains(can, l) {
			return l, nil
		}
	}
	return "", fmt.Errorf("codemode: %w: no programs of this interpreter can call functions", codeinterp.ErrLanguage)
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

// describe returns what the description says of the functions.
func describe(all []function, d dialect, room int) string {
	var b strings.Builder
	var able []function
	for _, f := range all {
		if f.refused == "" {
			able = append(able, f)
		}
	}
	named := false
	for i := range able {
		if b.WriteString(d.declare(&able[i])); b.Len() > room {
			named = true
			break
		}
	}
	absent := refusals(all, room)
	if named {
		return d.intro + absent + "\n\n" + d.more + "\n\n" + names(able, room)
	}
	return d.intro + absent + "\n\n```" + d.fence + "\n" + d.open + b.String() + d.close + "```"
}

// refusals says which tools programs may not call, and why, as far as there is
// room.
func refusals(all []function, room int) string {
	var b strings.Builder
	for _, f := range all {
		if f.refused == "" {
			continue
		}
		if b.Len() > room {
			b.WriteString("\n- and more, of which tools.search(query) tells")
			break
		}
		if b.Len() == 0 {
			b.WriteString("\n\nNot for programs:")
		}
		name := f.Name // by which a program that tries finds the reason
		if f.tool != name {
			name += fmt.Sprintf(" (the tool %s)", comment(f.tool, 100))
		}
		fmt.Fprintf(&b, "\n- %s: %s", name, comment(f.refused, 300))
	}
	return b.String()
}
