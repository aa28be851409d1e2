package typescript

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// erased are programs whose types become blanks. Runs of blanks count as one.
var erased = []struct{ name, in, out string }{
	{"annotation", "let a: number = 1, b: string[]", "let a  = 1, b"},
	{"definite assignment", "let a!: number; a", "let a ; a"},
	{"function", "function f<T>(a?: T, ...b: T[]): T { return a! }", "function f (a , ...b )  { return a  }"},
	{"this parameter", "function f(this: Window, a: any) {}", "function f( a ) {}"},
	{"predicates", "const f = (a: any): a is string => true; function g(a: any): asserts a is T {}", "const f = (a )  => true; function g(a )  {}"},
	{"overload", "function f(a: string): void\nfunction f(a: any) {}", ";\nfunction f(a ) {}"},
	{"interface", "interface A<T> extends B<{ a: 1 }> {\n  f(): void\n}\n1", ";\n\n\n1"},
	{"alias", "type A = B\n(x)", ";\n(x)"},
	{"type as a name", "type = 1; type\nFoo = 2; let interface_ = type", "type = 1; type\nFoo = 2; let interface_ = type"},
	{"as", "x as any as B; y satisfies C; (a as any) = 1", "x ; y ; (a ) = 1"},
	{"as before a line that would continue it", "x as any\n(y)", "x;\n(y)"},
	{"assertion", "<any>x + <const>[1]", " x +  [1]"},
	{"assertion of an object", "() => <T>{ a: 1 }", "() => ( { a: 1 })"},
	{"assertion over lines", "function f() { return <\nT>\nx }", "function f() { return (\n\nx) }"},
	{"non-null", "a!.b![0]!(); a! = b!; a != b", "a .b [0] (); a  = b ; a != b"},
	{"generic arrow", "const f = <T,>(a: T): T => a, g = async <T>(a: T) => a", "const f =  (a )  => a, g = async  (a ) => a"},
	{"arrow over lines", "const f = (a): {\n  b: 1\n} => a", "const f = (a \n\n) => a"},
	{"return type over lines", "const f = async <\nT>(a: T) => a", "const f = async (\n a ) => a"},
	{"arrow in a conditional", "a ? (b): c => d : e", "a ? (b)  => d : e"},
	{"no arrow in a conditional", "a ? (b) : c => d", "a ? (b) : c => d"},
	{"case", "switch (a) { case (b): c; default: d as any }", "switch (a) { case (b): c; default: d  }"},
	{"type arguments", "f<A, B>(x); new C<D>; a?.<B>(c); f<T>`x`; const g = f<T>;", "f (x); new C ; a?. (c); f `x`; const g = f ;"},
	{"comparisons", "a < b > c; f(a < b, c > d); a<b>>c; i<n; x as number < 3", "a < b > c; f(a < b, c > d); a<b>>c; i<n; x  < 3"},
	{"comparison of a shift", "a<<A>0>(0)", "a<<A>0>(0)"},
	{"argument of JSDoc", "f<Y!>(0)", "f (0)"},
	{"nested arguments", "f<<T>(x: T) => A<B<C>>>(y)", "f (y)"},
	{"shift", "1 << n; a >> b >>> c; d >>= 1", "1 << n; a >> b >>> c; d >>= 1"},
	{"class", "abstract class A<T> extends B<T> implements C, D { private readonly x: T; declare y: 1; [k: string]: any; abstract z(): void }",
		" class A  extends B  { ; x ; ;  ;  ; }"},
	{"members", "class A { x?: 1\n get: T\n f() {} static readonly y = 1; override async g?<T>(): P {} }", "class A { x;\n get;\n f() {} static  y = 1; ; async g ()  {} }"},
	{"member that would continue", "class A { a = b\n readonly [c] = d }", "class A { a = b\n ; [c] = d }"},
	{"imports", "import type A from 'a'; import { type B, c, type D as E } from 'b'; import type from 'c'", ";  import { c, } from 'b'; import type from 'c'"},
	{"exports", "export type { A }; export type B = 1; export { type C, d } from 'e'; export interface E {}", ";  ;  export { d } from 'e'; ;"},
	{"declare", "declare const a: 1; declare function f(): void; declare module 'm' { export = x }; declare global { var y: 1 }\nz", ";  ;  ; ; ;\nz"},
	{"namespaces", "namespace A { export interface C {} type D = 1; namespace E {} }\nexport namespace F { }\n1", ";\n;\n1"},
	{"catch", "try {} catch (e: unknown) {}", "try {} catch (e ) {}"},
	{"for", "for (const a of b as C[]) {} for (let i: number = 0; i < n; i++) {}", "for (const a of b ) {} for (let i  = 0; i < n; i++) {}"},
	{"types", "let a: typeof import('x').y<z>, b: `a${infer B extends C ? D : E}`, c: new () => unique symbol, d: [a?: b, ...c: d[]], e: -1", "let a , b , c , d , e"},
	{"conditional types", "type A = B extends infer C extends D ? { e: F } : G extends H ? I : J\nx", ";\nx"},
	{"object literal", "{ a: 1 as any, f<T>(b: T) {} }", "{ a: 1 , f (b ) {} }"},
	{"block", "{ let a: number = 1 }", "{ let a  = 1 }"},
	{"template", "`${a as any}${`${b!}`}`", "`${a }${`${b }`}`"},
	{"regular expressions", "/[/]'/.test(a!) / b! / c", "/[/]'/.test(a ) / b  / c"},
	{"accessors", "class A { get x(): number { return 1 } set x(v: number) {} }", "class A { get x()  { return 1 } set x(v ) {} }"},
	{"satisfies and as as names", "as = satisfies; let as_ = as as as", "as = satisfies; let as_ = as "},
	{"async names", "async = 1; async(a); async <T>(a); async < b", "async = 1; async(a); async  (a); async < b"},
	{"wide characters", "let a: '😀é' = x", "let a  = x"},
	{"carriage returns", "let a: {\r\n b: 1\r\n} = x", "let a\r\n\r\n  = x"},
}

func TestErased(t *testing.T) {
	for _, tt := range erased {
		pr, err := Erase(context.Background(), tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if squeeze(pr.Code) != squeeze(tt.out) {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, pr.Code, tt.out)
		}
		if err := inPlace(tt.in, pr); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

var blanks = regexp.MustCompile(` *([ \n;,()[\]{}:=])+ *| +`)

// squeeze takes out the spaces that make no difference.
func squeeze(s string) string {
	return blanks.ReplaceAllStringFunc(s, func(s string) string {
		if t := strings.ReplaceAll(s, " ", ""); t != "" {
			return t
		}
		return " "
	})
}

// inPlace checks that what was not erased stands where it stood, unless text
// was inserted before it.
func inPlace(source string, pr *Program) error {
	in, out := strings.Split(source, "\n"), strings.Split(pr.Code, "\n")
	if len(in) != len(out) {
		return fmt.Errorf("%d lines became %d: %q", len(in), len(out), pr.Code)
	}
	if pr.Moved() {
		return nil
	}
	for i, line := range in {
		was, is := utf16.Encode([]rune(line)), utf16.Encode([]rune(out[i]))
		for c, u := range is {
			if !strings.ContainsRune(" ;()\r", rune(u)) && (c >= len(was) || was[c] != u) {
				return fmt.Errorf("column %d of %q is not that of %q", c, out[i], line)
			}
		}
	}
	return nil
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		in, message  string
		line, column int
	}{
		{"let x: number = ;", "Unexpected token ';'", 1, 17},
		{"f(\n", "Unexpected end of input", 2, 1},
		{"let a = 'é😀' b", "Unexpected identifier 'b'", 1, 15},
		{"let a: = 1", "Unexpected token '='", 1, 8},
		{"x = 'abc", "Invalid or unexpected token", 1, 5},
		{"`${", "Unexpected end of input", 1, 4},
		{"`abc", "Unterminated template literal", 1, 2},
		{"/abc", "Invalid regular expression: missing /", 1, 1},
		{"a\n/*", "Invalid or unexpected token", 2, 1},
		{"a + b as T * c", "Put the expression before as or satisfies into parentheses: without types it would be another", 1, 12},
		{"x = @d class {}", "Decorators are not supported", 1, 5},
		{"x = class { @d y }", "Decorators are not supported", 1, 13},
		{"@d class A { }", "Decorators are not supported", 1, 1},
		{"export @d class A { }", "Decorators are not supported", 1, 8},
		{"class A { m(@d a) {} }", "Decorators are not supported", 1, 13},
		{"class A { accessor x = 1 }", "The accessor keyword is not supported: write get and set", 1, 11},
		{"{ using x = f() }", "The using declaration is not supported: write try and finally", 1, 3},
		{"await using x = f()", "The using declaration is not supported: write try and finally", 1, 1},
		{"enum A { B } enum A { C }", "Declarations of one name are not merged: A is declared already", 1, 19},
		{"class A {} namespace A.B { f() }", "Namespaces are not supported: write an object or a module", 1, 12},
		{"export namespace A { export const b = 1 }", "Namespaces are not supported: write an object or a module", 1, 8},
		{"class A extends B { constructor(public x) { if (x) super() } }", "A constructor with parameter properties must call super in a statement of its own", 1, 43},
		{"return <div>a</div>", "Invalid regular expression: missing /", 1, 15},
	} {
		_, err := Erase(context.Background(), tt.in)
		var e *SyntaxError
		if !errors.As(err, &e) || e.Message != tt.message || e.Line != tt.line || e.Column != tt.column || e.bound {
			t.Errorf("%q: got %v, want %d:%d: %s", tt.in, err, tt.line, tt.column, tt.message)
		}
	}
}

func TestProgramError(t *testing.T) {
	e := &SyntaxError{Message: "m", Line: 2, Column: 3}
	pe := e.ProgramError("a.ts", "a\r\nbcd\r\n")
	want := []string{"SyntaxError: m", "    at a.ts:2:3", "    bcd", "      ^"}
	if pe.Name != "SyntaxError" || pe.Message != "m" || pe.Line != 2 || !slices.Equal(pe.Traceback, want) {
		t.Errorf("%#v", pe)
	}
	if pe := e.ProgramError("a.ts", "a\n"+strings.Repeat("x", 2000)); len(pe.Traceback) != 2 {
		t.Errorf("%q", pe.Traceback)
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("why"))
	if _, err := Erase(ctx, strings.Repeat("a;", 5000)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestPositions finds the character ★ of each program in its translation, and
// asks where it comes from.
func TestPositions(t *testing.T) {
	for _, in := range []string{
		"let a: number = '★'",
		"enum A { B, C = 1, D } let x: T = '★'",
		"enum A { B = '★' }",
		"enum A {\n B,\n C = '★' }",
		"class A { constructor(public a: number, private b = '★') { this.c('★') } }",
		"class A extends B { constructor(public a: number) { super(); f('★') } }",
		"import a = require('b'); f('★')",
		"const f = (a): {\n b: 1 } => '★'",
	} {
		pr, err := Erase(context.Background(), in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		for from, seen := 0, 0; ; seen++ {
			i := strings.Index(pr.Code[from:], "★")
			if i < 0 {
				if seen == 0 {
					t.Errorf("%q: %q has no star", in, pr.Code)
				}
				break
			}
			from += i + 1
			line, column := place(pr.Code, from-1)
			gotLine, gotColumn := pr.Position(line, column)
			if l := strings.Split(in, "\n")[gotLine-1]; !strings.HasPrefix(skipUnits(l, gotColumn-1), "★") {
				t.Errorf("%q: %d:%d of %q became %d:%d", in, line, column, pr.Code, gotLine, gotColumn)
			}
		}
	}
}

func place(s string, offset int) (line, column int) {
	before := s[:offset]
	return 1 + strings.Count(before, "\n"), 1 + units(before[strings.LastIndexByte(before, '\n')+1:])
}

func skipUnits(s string, n int) string {
	for i, r := range s {
		if n <= 0 {
			return s[i:]
		}
		n -= units(string(r))
	}
	return ""
}

func TestPositionOfInsertedText(t *testing.T) {
	pr, err := Erase(context.Background(), "x; enum E {\n A, B }\n class C {}")
	if err != nil {
		t.Fatal(err)
	}
	if !pr.Moved() {
		t.Error("nothing moved")
	}
	for _, tt := range [][4]int{{1, 1, 1, 1}, {1, 4, 1, 4}, {1, 40, 1, 4}, {2, 2, 2, 2}, {2, 15, 2, 2}, {99, 5, 99, 5}, {0, 0, 0, 0}, {-1, 7, -1, 7}} {
		if line, column := pr.Position(tt[0], tt[1]); line != tt[2] || column != tt[3] {
			t.Errorf("%d:%d of %q became %d:%d, want %d:%d", tt[0], tt[1], pr.Code, line, column, tt[2], tt[3])
		}
	}
	if pr, _ = Erase(context.Background(), "let x: number = 1"); pr.Moved() {
		t.Error("something moved")
	}
}
