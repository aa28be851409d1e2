package workspace

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/git"
	"github.com/toolcell/toolcell/shell"
)

// ErrLacking reports that an interpreter lacks what was declared.
var ErrLacking = errors.New("declared capability is missing")

// Capabilities are what a workspace is made of.
type Capabilities struct {
	// Code is the main interpreter. Its tools are run_code and so on.
	Code codeinterp.CodeInterpreter

	// Beside holds further interpreters by name. The tools of one that is
	// called "script" are script_run_code and so on.
	Beside map[string]codeinterp.CodeInterpreter

	// Files are those that the agent works on; its tools are read_file and so
	// on. The workspace does not own them.
	Files *files.Workdir

	// Dir names the directory of Files and programs if it outlives the process, for
	// [Open] to recognise it.
	Dir string

	// Shell runs commands; its tools are run_command and so on. The workspace owns
	// it.
	Shell *shell.Shell

	// Git works with repositories; its tools are git_status and so on. Its commands
	// run where those of Code do.
	Git *git.Git

	// Declared is what the program relies on. New fails if it is missing. Of a
	// declared interpreter nothing else is offered; one that is not declared is
	// offered as it is.
	Declared Declaration
}

// A Declaration says what a workspace has.
type Declaration struct {
	Code   *CodeDeclaration           `json:"code,omitempty"`
	Beside map[string]CodeDeclaration `json:"beside,omitempty"`
	// Files says that there are files.
	Files bool `json:"files,omitempty"`
	// Shell says that there is a shell.
	Shell bool `json:"shell,omitempty"`
}

// A CodeDeclaration says what an interpreter has, and what is offered of it.
type CodeDeclaration struct {
	// Languages are names of its languages. At least one is required; the
	// others are refused before the interpreter is asked.
	Languages []string `json:"languages,omitempty"`
	// Stateful says that one of these languages has contexts.
	Stateful bool `json:"stateful,omitempty"`
	// Managed says that its contexts can be listed, restarted and
	// interrupted.
	Managed bool `json:"managed,omitempty"`
}

// narrow returns ci with what is declared and nothing else.
func (d *CodeDeclaration) narrow(ci codeinterp.CodeInterpreter) (codeinterp.CodeInterpreter, error) {
	return codeinterp.Narrow(ci, &codeinterp.NarrowOptions{Languages: d.Languages, Contexts: d.Stateful, Manager: d.Managed})
}

// narrowed returns the interpreters by name, "" for the main one, with what is
// declared of those that are.
func (c *Capabilities) narrowed() (map[string]codeinterp.CodeInterpreter, error) {
	all := map[string]codeinterp.CodeInterpreter{}
	maps.Copy(all, c.Beside)
	if c.Code != nil {
		all[""] = c.Code
	}
	declared := maps.Clone(c.Declared.Beside)
	if d := c.Declared.Code; d != nil {
		if declared == nil {
			declared = map[string]CodeDeclaration{}
		}
		declared[""] = *d
	}
	for name, d := range declared {
		ci, err := d.narrow(all[name])
		if err != nil {
			return nil, err
		}
		all[name] = ci
	}
	return all, nil
}

// provided returns the declaration that ci fulfils exactly.
func provided(ci codeinterp.CodeInterpreter) CodeDeclaration {
	_, managed := codeinterp.Manager(ci)
	d := CodeDeclaration{Languages: ci.Languages(), Managed: managed}
	d.Stateful = d.contexts(ci)
	return d
}

// check compares what is declared with what is there and names all that is
// missing.
func (c *Capabilities) check() error {
	var errs []error
	if c.Code == nil && len(c.Beside) == 0 && c.Files == nil && c.Shell == nil {
		errs = append(errs, fmt.Errorf("%w: there is no interpreter, no files, and no shell", codeinterp.ErrInvalid))
	}
	if c.Declared.Files && c.Files == nil {
		errs = append(errs, fmt.Errorf("%w: files", ErrLacking))
	}
	if c.Declared.Shell && c.Shell == nil {
		errs = append(errs, fmt.Errorf("%w: a shell", ErrLacking))
	}
	if d := c.Declared.Code; d != nil {
		errs = append(errs, d.check("code", c.Code))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Declared.Beside)) {
		d := c.Declared.Beside[name]
		errs = append(errs, d.check(name, c.Beside[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Beside)) {
		if c.Beside[name] == nil {
			errs = append(errs, fmt.Errorf("%w: the interpreter %q is nil", codeinterp.ErrInvalid, name))
		}
	}
	return errors.Join(errs...)
}

func (d *CodeDeclaration) check(name string, ci codeinterp.CodeInterpreter) error {
	if ci == nil {
		return fmt.Errorf("%w: the interpreter %q", ErrLacking, name)
	}
	var lacks []string
	has := provided(ci)
	for _, language := range d.Languages {
		if !slices.Contains(has.Languages, language) {
			lacks = append(lacks, fmt.Sprintf("language %s (it has %s)", language, strings.Join(has.Languages, ", ")))
		}
	}
	if d.Stateful && !d.contexts(ci) {
		lacks = append(lacks, "contexts that keep state")
	}
	if d.Managed && !has.Managed {
		lacks = append(lacks, "listing, restarting and interrupting contexts")
	}
	var errs []error
	if len(d.Languages) == 0 {
		errs = append(errs, fmt.Errorf("%w: the declaration of the interpreter %q names no language", codeinterp.ErrInvalid, name))
	}
	if lacks != nil {
		errs = append(errs, fmt.Errorf("%w: the interpreter %q lacks %s", ErrLacking, name, strings.Join(lacks, "; ")))
	}
	return errors.Join(errs...)
}

// contexts reports whether a declared language has contexts.
func (d *CodeDeclaration) contexts(ci codeinterp.CodeInterpreter) bool {
	return slices.ContainsFunc(codeinterp.Describe(ci).Languages, func(l codeinterp.LanguageInfo) bool {
		return l.Contexts && (len(d.Languages) == 0 || slices.Contains(d.Languages, l.Name))
	})
}
