//go:build real && unix

package subprocess_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/tier"
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
	`for (var i = 0; i < 3; i++) {} => ok | let i = 5; i => ok value=5 | for (var i = 0, n = 4; i < n; i++) ; i => ok value=4 | const n = 6; i + n => ok value=10 | var i = 1; var i = 2; for (var i of [7]) ; i => ok value=7 | for (var { i, n, m } of [{ i: 1, n: 2, m: 3 }]) ; [i, n, m].join() => ok value=1,2,3 | class m {} typeof m => ok value=function`,
	`try { var data = 1 } catch {} => ok | let data = 2; data => ok value=2 | if (1) { 5; var data = 3 } => ok value=5 | data => ok value=3 | if (0) var data = 4; else var [data, more] = [5, 6]; data + more => ok value=11 | const more = 7; more => ok value=7`,
	`if (1) { function h() {} var r = 1 } switch (1) { case 1: label: var s = 1 } => ok | const h = () => 2, r = 3; class s {} h() + r => ok value=5 | import s, { sep as r } from 'path'; r + typeof s => ok value=/object | r = 1 => error error=TypeError: Assignment to constant variable. | for (var r = 8; 0;) ; r = r + 1; r => ok value=9`,
	`var p = 1; let q = 2 => ok | import p, { sep as q, join } from 'path' // a
q + typeof p => ok value=/object | import join, * as p from 'path'; p.sep + join.sep => ok value=// | import * as p from 'path'; p.sep => ok value=/ | const p = 3, join = 4, q = 5; p + join + q => ok value=12`,
	`let i = 1; for (var i = 2;;) ; => error error=SyntaxError: Identifier 'i' has already been declared | let i = 3; i => ok value=3 | let i = 1; for (var i = 2;;) ; => error error=SyntaxError: Identifier 'i' has already been declared | i => ok value=3`,
	`let u = (() => { throw 1 })(), w => error error=Uncaught: 1 | for (var u = 0, w = 3; u < 2; u++) ; u + w => ok value=5 | let v = (() => { throw 1 })() => error error=Uncaught: 1 | var v; typeof v => ok value=undefined`,
	`let total = 5, ba = 1 => ok | var total; total = (total || 0) + 1; total => ok value=6 | var a, ba, { total } = { total: 7 }, other; [a, ba, total, other].join() => ok value=,1,7, | if (1) { var ba } var ba; ba => ok value=1 | var x = 1 => ok | let x; typeof x => ok value=undefined`,
	`const q = 1; let r => ok | q ??= 5 => ok value=1 | q ||= 5; q => ok value=1 | q &&= r = 6 => error error=TypeError: Assignment to constant variable. | [q, r].join() => ok value=1,6 | 'use strict'; q &&= 6 => error error=TypeError: Assignment to constant variable. | let q = 0; q ||= 7 => ok value=7`,
	`function e() {} => ok | export default class e { static s = 1 } => ok | e.s => ok value=1 | let f => ok | function f() { return 1 } function f() { return 2 } var f; f() => ok value=2`,
	`class z {} => ok | switch (1) { case 1: var z = 4, [y, x] = [5, 6] } [x, y, z].join() => ok value=6,5,4 | import y, { sep as x, join } from 'path'; typeof y + x => ok value=object/ | const x = 6, y = 8; x + y => ok value=14 | var z = 1, k; var z = 2, l = 3 => ok | const k = 4, l = 5; k + l => ok value=9`,
	`const c = 1; { function c() {} } => ok | c = 2 => error error=TypeError: Assignment to constant variable. | { function c() {} } => error error=SyntaxError: Identifier 'c' has already been declared | c => ok value=1`,
	`let total = 0 => ok | var total = 1, i = 0; for (var i = 0; i < 3; i++) total += i; total => ok value=4 | let k = 1 => ok | k + typeof l; var k = 2, l = 3; var l = 4 => ok value=1undefined | [k, l].join() => ok value=2,4 | 'use strict'; var k = 5, m = k; for (var m of [6]) ; k + m => ok value=11`,
	`null.x; let z = 1 => error error=TypeError: Cannot read properties of null (reading 'x') | 'use strict'; var z = 2; z => ok value=2 | null.x; var y = 3, z = 4 => error error=TypeError: Cannot read properties of null (reading 'x') | typeof y + z => ok value=undefined2`,
	`var d = 1 => ok | { var d = 2 } let d = 3 => error error=SyntaxError: Identifier 'd' has already been declared | let d = 4; const d = 5 => error error=SyntaxError: Identifier 'd' has already been declared | d => ok value=1 | import d from 'os'; import * as d from 'path' => error error=SyntaxError: Identifier 'd' has already been declared | d => ok value=1`,
	`let t = 1, keep = () => t => ok | const t = 2; keep() => ok value=2 | (async () => { const { sep } = await import('path'); return sep + t })() => ok value=/2`,
}

// TestRedeclared: what a program has declared a later one may declare as another kind.
func TestRedeclared(t *testing.T) {
	languages := []subprocess.Language{subprocess.JavaScript()}
	if tier.Full {
		languages = append(languages, subprocess.TypeScript())
	}
	for _, language := range languages {
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
