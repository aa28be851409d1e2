package workspace

import (
	"cmp"
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

// byName returns the interpreters and what is declared of them, "" for the main one.
func (c *Capabilities) byName() (all map[string]codeinterp.CodeInterpreter, declared map[string]CodeDeclaration) {
	all, declared = map[string]codeinterp.CodeInterpreter{}, map[string]CodeDeclaration{}
	maps.Copy(all, c.Beside)
	if c.Code != nil {
		all[""] = c.Code
	}
	maps.Copy(declared, c.Declared.Beside)
	if d := c.Declared.Code; d != nil {
		declared[""] = *d
	}
	return all, declared
}

// narrowed returns the interpreters by name, with what is declared of those that are.
func (c *Capabilities) narrowed() (map[string]codeinterp.CodeInterpreter, error) {
	all, declared := c.byName()
	for name, d := range declared {
		ci, err := codeinterp.Narrow(all[name], &codeinterp.NarrowOptions{Languages: d.Languages, Contexts: d.Stateful, Manager: d.Managed})
		if err != nil {
			return nil, err
		}
		all[name] = ci
	}
	return all, nil
}

// check compares what is declared with what is there and names all that is
// missing.
func (c *Capabilities) check() error {
	all, declared := c.byName()
	var errs []error
	if len(all) == 0 && c.Files == nil && c.Shell == nil {
		errs = append(errs, fmt.Errorf("%w: there is no interpreter, no files, and no shell", codeinterp.ErrInvalid))
	}
	if c.Declared.Files && c.Files == nil {
		errs = append(errs, fmt.Errorf("%w: files", ErrLacking))
	}
	if c.Declared.Shell && c.Shell == nil {
		errs = append(errs, fmt.Errorf("%w: a shell", ErrLacking))
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		d := declared[name]
		errs = append(errs, d.check(cmp.Or(name, "code"), all[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] == nil {
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
	for _, language := range d.Languages {
		if has := ci.Languages(); !slices.Contains(has, language) {
			lacks = append(lacks, fmt.Sprintf("language %s (it has %s)", language, strings.Join(has, ", ")))
		}
	}
	contexts := slices.ContainsFunc(codeinterp.Describe(ci).Languages, func(l codeinterp.LanguageInfo) bool {
		return l.Contexts && (len(d.Languages) == 0 || slices.Contains(d.Languages, l.Name))
	})
	if d.Stateful && !contexts {
		lacks = append(lacks, "contexts that keep state")
	}
	if _, managed := codeinterp.Manager(ci); d.Managed && !managed {
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
