// Package typescripttest holds programs in TypeScript that behave the same in every
// provider.
package typescripttest

import (
	"testing"
)

// A Program behaves the same in every provider: that it has this result, shown
// as Text and, unless empty, of this JSON Value, or this error.
type Program struct{ Code, Text, Value, Error string }

// Programs are tried in every provider.
var Programs = []Program{
	// The last value, also after an enum.
	{Code: "1 as number", Text: "1", Value: "1"},
	{Code: "enum A { B }\nA.B", Text: "0", Value: "0"},
	{Code: "enum A { B }\n'use strict'", Text: "use strict", Value: `"use strict"`},
	{Code: "enum A { B }\n({ a: A.B })", Text: "{ a: 0 }", Value: `{"a":0}`},
	{Code: "enum A { B }\n(() => 'é日').toString()", Text: "() => 'é日'", Value: `"() => 'é日'"`},
	{Code: "{ a: 1 as number }", Text: "{ a: 1 }", Value: `{"a":1}`},

	// Enums.
	{Code: "enum A { B, C = 5, D, E = 'e', F = C | D, G = `${E}g`, 'h i' = 7, default }\nJSON.stringify(A)",
		Text: `{"0":"B","5":"C","6":"D","7":"h i","8":"default","B":0,"C":5,"D":6,"E":"e","F":7,"G":"eg","h i":7,"default":8}`},
	{Code: "let v: any = 'x'; const w = 'y'; enum E { A = v, B = w, C = B }\nJSON.stringify(E)", Text: `{"A":"x","B":"y","C":"y"}`},
	{Code: "enum P { Read = 1, Write = 2, All = P.Read | P.Write }\nP.All", Text: "3"},
	{Code: "const enum A { B = 'x'.length + 2 } enum C { D = A.B * 2, E }\n[A.B, C.D, C.E]", Text: "[ 3, 6, 7 ]"},

	// Namespaces.
	{Code: "namespace A { export interface B {} }\ntypeof A", Text: "undefined"},
	{Code: "namespace A { export const b = 1 }", Error: "SyntaxError: Namespaces are not supported: write an object or a module"},

	// Classes.
	{Code: "class A { constructor(public a: number, private readonly b = a * 2) {} sum() { return this.a + this.b } }\n[new A(1).sum(), Object.keys(new A(1))]", Text: "[ 3, [ 'a', 'b' ] ]"},
	{Code: "class A { a = 1 } class B extends A { c = 3; constructor(public b: number) { const x = 5\n super()\n this.c += x } }\nnew B(2)", Text: "B { a: 1, b: 2, c: 8 }"},
	{Code: "abstract class A { abstract get x(): number; declare y: number; z?: string; static #n = 2; static get n(): number { return A.#n } }\nclass B extends A { override get x(): number { return 1 } }\n[new B().x, 'y' in new B(), 'z' in new B(), A.n]", Text: "[ 1, false, true, 2 ]"},
	{Code: "class A { get: number\n f() { return 1 }\n static: string\n async = 2;\n ['g'](): number { return 3 } }\nconst a = new A(); [a.f(), a.async, a.g(), Object.keys(a)]", Text: "[ 1, 2, 3, [ 'get', 'static', 'async' ] ]"},

	// What erasing could break.
	{Code: "function f() { return <any>\n4 }\nf()", Text: "4"},
	{Code: "let a = [1], b = a as any\n(1)\nb.length", Text: "1"},
	{Code: "const a = 3, b = 2, c = 1; const f = (...x: any[]) => x; f(a < b, b > c)", Text: "[ false, true ]"},
	{Code: "const f = (x: any): x is string => typeof x === 'string'; true ? f('a') : 0", Text: "true"},
	{Code: "const g = async <T,>(x: T): Promise<T> => x;\nawait g<number>(5)", Text: "5"},
	{Code: "let type = 1, as = 2, declare = 3, abstract = 4, of = 5;\ntype\nas\ndeclare\nabstract + of", Text: "9"},
	{Code: "const o = { a: { b: () => [7] } } as { a?: { b?(): number[] } };\no!.a?.b!()![0]!", Text: "7"},
	{Code: "const a: unknown = /[/`]/.test('`') as boolean, b = 4 / 2 / 1;\n[a, b]", Text: "[ true, 2 ]"},

	// Errors.
	{Code: "let x: number = ;", Error: "SyntaxError: Unexpected token ';'"},
	{Code: "enum A { B }\nthrow new RangeError('r' as string)", Error: "RangeError: r"},
	{Code: "a + b as number * c", Error: "SyntaxError: Put the expression before as or satisfies into parentheses: without types it would be another"},
}

// Check compares how a program ended with how it should: the text and the JSON
// of its result, and its error as a line, all "" where there is none.
func (p Program) Check(t *testing.T, text, value, failure string) {
	t.Helper()
	if text != p.Text || failure != p.Error || p.Value != "" && value != p.Value {
		t.Errorf("%s\n got %q %q %q\nwant %q %q %q", p.Code, text, value, failure, p.Text, p.Value, p.Error)
	}
}
