//go:build linux && real

package toolcell_test

import "testing"

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

// modulesAgree wants programs with import and export to be strict in every provider:
// contract row 20.
func modulesAgree(t *testing.T, p *places) {
	const want = "ReferenceError\nTypeError\nTypeError\nundefined\nTypeError\n1\nundefined\n"
	for _, place := range []string{"memory", "javascript"} {
		ci := p.of(place)
		res, err := ci.RunCode(t.Context(), "javascript", strictProgram, nil)
		if err != nil || res.Stdout() != want {
			t.Errorf("%s, RunCode: %q, %v, %v", place, res.Stdout(), res.Error, err)
		}
		res, err = ci.RunInContext(t.Context(), newContext(t, ci, "javascript"), strictProgram, nil)
		if err != nil || res.Stdout() != want {
			t.Errorf("%s, RunInContext: %q, %v, %v", place, res.Stdout(), res.Error, err)
		}
	}
}
