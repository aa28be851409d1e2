//go:build unix

package subprocess_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// redeclared are sequences of programs, each with its outcome behind the arrow.
var redeclared = []string{
	`const a = 1 => ok | let a = 2; a => ok value=2 | const a = 3; a => ok value=3 | var a = 4; a => ok value=4 | class a {} typeof a => ok value=function`,
	`function f() { return 1 } => ok | const f = () => 2; f() => ok value=2 | let f = 3; f => ok value=3 | class f { static s = 4 }
f.s => ok value=4 | function f() { return 5 } f() => ok value=5`,
	`let f = 1 => ok | f() + f.name; function f() { return 2 } => ok value=2f | import { sep as f } from 'path' => ok | f => ok value=/ | let f = 3; f => ok value=3 | function g() {} => ok | class g {} function f() { return typeof g } f() => ok value=function`,
	`var a = 1; let b = 2 => ok | const { b, a } = { a: 3, b: 4 }, [c] = [5] => ok | [a, b, c].join() => ok value=3,4,5 | let a, b = 6; [a, b].join() => ok value=,6 | let { a, c } = { a: 7, c: 8 }; a + c => ok value=15`,
	`const a = 1 => ok | a = 2 => error error=TypeError: Assignment to constant variable. | for (a of []) ;
a++ => error error=TypeError: Assignment to constant variable. | ((a) => { a = 3; return a })(4) => ok value=3 | { let a = 4; a = 5 } a => ok value=1 | let d; [d, a] = [1, 2] => error error=TypeError: Assignment to constant variable. | ({ d, a } = { d: 3 }) => error error=TypeError: Assignment to constant variable. | [d, { a }.a] => ok value=[ 3, 1 ] | const b = 1, g = (a) => a; b += 1 => error error=TypeError: Assignment to constant variable. | let a = 6; a = 7 => ok value=7 | a += 8 => ok value=15`,
	`const s = JSON.parse('{') => error error=SyntaxError: Expected property name or '}' in JSON at position 1 | let s = 1; s = 2; s => ok value=2`,
	`const x; => error error=SyntaxError: Missing initializer in const declaration | let x = 1, x = 2 => error error=SyntaxError: Identifier 'x' has already been declared | x = 3 => ok value=3`,
	`let t = 1, keep = () => t => ok | const t = 2; keep() => ok value=2 | (async () => { const { sep } = await import('path'); return sep + t })() => ok value=/2`,
}

// TestRedeclared: what a program has declared a later one may declare as another kind.
func TestRedeclared(t *testing.T) {
	if aparttest.Run(t) {
		return
	}
	for _, language := range []subprocess.Language{subprocess.JavaScript(), subprocess.TypeScript()} {
		ci := open(t, subprocess.Options{Languages: []subprocess.Language{language}})
		for _, programs := range redeclared {
			n := newNotebook(t, ci, language.Name)
			for program := range strings.SplitSeq(programs, " | ") {
				code, _, _ := strings.Cut(program, " => ok")
				if strings.Contains(program, " => error ") {
					code, _, _ = strings.Cut(program, " => error")
				}
				want := program[len(code)+len(" => "):]
				if got := summary(n.run(code, nil)); !strings.HasPrefix(got, want) {
					t.Errorf("%s, %s:\ngot  %s\nwant %s", language.Name, code, got, want)
				}
			}
		}
	}
}
