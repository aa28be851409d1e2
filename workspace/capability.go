package workspace

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
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

	// Declared is what the program relies on; New checks it. The zero value
	// declares nothing.
	Declared Declaration
}

// A Declaration says what a workspace has to have.
type Declaration struct {
	Code   *CodeDeclaration           `json:"code,omitempty"`
	Beside map[string]CodeDeclaration `json:"beside,omitempty"`
}

// A CodeDeclaration says what an interpreter has to have.
type CodeDeclaration struct {
	// Languages are the names that must be among its languages.
	Languages []string `json:"languages,omitempty"`
	// Stateful says that it must have contexts.
	Stateful bool `json:"stateful,omitempty"`
	// Managed says that its contexts can be listed, restarted and
	// interrupted.
	Managed bool `json:"managed,omitempty"`
}

// provided returns the declaration that ci fulfils exactly.
func provided(ci codeinterp.CodeInterpreter) CodeDeclaration {
	_, stateful := codeinterp.Stateful(ci)
	_, managed := codeinterp.Manager(ci)
	return CodeDeclaration{ci.Languages(), stateful, managed}
}

// check compares what is declared with what is there and names all that is
// missing.
func (c *Capabilities) check() error {
	var errs []error
	if c.Code == nil && len(c.Beside) == 0 {
		errs = append(errs, fmt.Errorf("%w: there is no interpreter", codeinterp.ErrInvalid))
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
	if d.Stateful && !has.Stateful {
		lacks = append(lacks, "contexts that keep state")
	}
	if d.Managed && !has.Managed {
		lacks = append(lacks, "listing, restarting and interrupting contexts")
	}
	if lacks == nil {
		return nil
	}
	return fmt.Errorf("%w: the interpreter %q lacks %s", ErrLacking, name, strings.Join(lacks, "; "))
}
