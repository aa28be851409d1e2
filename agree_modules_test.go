//go:build linux && real

package toolcell_test

import (
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// strictProgram is one that only modules are, and prints what strict code does.
const strictProgram = `import fs from 'fs';
const T = f => { try { console.log(f()) } catch (e) { console.log(e.name) } };
T(() => { undeclared = 5; return 'assigned' });
T(() => { Object.freeze({a: 1}).a = 2; return 'wrote' });
T(() => { delete Object.prototype; return 'deleted' });
T(() => (function () { return typeof this })());
T(() => { const o = { get x() { return 1 } }; o.x = 2; return 'wrote' });
T(() => (function (a) { a = 2; return arguments[0] })(1));
T(() => { eval('var leaked = 1'); return typeof leaked });
export const x = typeof fs;`

// Programs with import and export are strict in every provider: contract row 20.
func TestModulesAgree(t *testing.T) {
	const want = "ReferenceError\nTypeError\nTypeError\nundefined\nTypeError\n1\nundefined\n"
	for name, of := range map[string]func(t *testing.T) codeinterp.StatefulInterpreter{
		"memory": embedded, "node": processes(subprocess.JavaScript()),
	} {
		t.Run(name, func(t *testing.T) {
			ci := of(t)
			res, err := ci.RunCode(t.Context(), "javascript", strictProgram, nil)
			if err != nil || res.Stdout() != want {
				t.Errorf("RunCode: %q, %v, %v", res.Stdout(), res.Error, err)
			}
			id, err := ci.CreateContext(t.Context(), "javascript", nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err = ci.RunInContext(t.Context(), id, strictProgram, nil)
			if err != nil || res.Stdout() != want {
				t.Errorf("RunInContext: %q, %v, %v", res.Stdout(), res.Error, err)
			}
		})
	}
}
