package typescript

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestOutlineImports finds the calls, which the programs mark with an at sign.
func TestOutlineImports(t *testing.T) {
	for _, in := range []string{
		"import fs from 'fs'; const p = await @import('path'); p.sep",
		"import { join } from 'path' // see import('x')\n'import(1)' + `import(2) ${@import('y')}` + /import(3)/ /* import(4) */",
		"const o = { import: 5, import(a) { return a } }; o.import(1); o?.import(2); ({ async *import() {} }); @import(o.import)",
		"class A { import(x) { return @import(x) } static import() {} #import() {} get import() { return this.#import() } }",
		"const half = a => a++ / 2; const m = await @import('path'); 1 / 2",
		"if (x) /[/]import(1)/.test(y); a = b / @import('c') / d; x = {} / @import('d') / e",
		"{ a: @import('a') }", "{ a: await @import('a'), b: /}import(/ }", "{ @import('b') }",
		"import /* a */ from 'b'; @import /* c */ ('d'); @import\n('e')",
		"import.meta.url; @import('a').then(import.meta.resolve)",
		"export default @import('a'); export const b = () => @import('b')",
		"a ? (b) : c => @import('d'); a ? (@import('b')) : c; f<a>(@import('x'))",
		"@import('a'); const = 1; import('b')",
		"#!/usr/bin/env node import('a')\n@import('b')", "\ufeff@import('é'), @import('b')",
		"`${`${@import('a')}`}${(() => { return `}${@import('b')}` })()}`",
		"label: for (;;) @import('a'); switch (a) { case @import('b'): default: @import('c') }",
		"@import(import.meta.url)", "x.import", "",
	} {
		var code strings.Builder
		var want []int
		for i, piece := range strings.Split(in, "@import") {
			if i > 0 {
				want = append(want, code.Len())
				code.WriteString("import")
			}
			code.WriteString(piece)
		}
		got, err := Outlined(context.Background(), code.String(), Memory(code.Len()))
		if err != nil || !slices.Equal(got.Imports, want) {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
}

// TestOutlineThis finds the this of the program, which the programs mark with an at sign.
func TestOutlineThis(t *testing.T) {
	for _, in := range []string{
		"import 'a'; @this.x = 1; ({ a: @this, b() { this }, get c() { return this }, d: () => @this, e(f = this) {} })",
		"export const f = (a = @this) => { @this; function g(a = this) { return () => this } }; @this",
		"import.meta; class A extends @this.B { x = this.y; static { this.z }; constructor(a = this) { this } } `${@this}`",
		"a ? (b) : c => @this; a ? (@this) : async (d) => { @this }; x.this; ({ this: 1 }); export {}",
	} {
		var code strings.Builder
		var want []int
		for i, piece := range strings.Split(in, "@this") {
			if i > 0 {
				want = append(want, code.Len())
				code.WriteString("this")
			}
			code.WriteString(piece)
		}
		got, err := Outlined(context.Background(), code.String(), Memory(code.Len()))
		if err != nil || !slices.Equal(got.This, want) || !got.Module {
			t.Errorf("%s: %+v, want %d, %v", in, got, want, err)
		}
	}
	if got, err := Outlined(context.Background(), "this; import('a'); x.export", 1<<20); err != nil || got.Module {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOutlineEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := Outlined(ctx, strings.Repeat("import('a');", 5000), 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Outlined(context.Background(), strings.Repeat("(", 1<<20)+"import('a')", 1<<25); err != nil || len(got.Imports) > 0 || got.Complete {
		t.Errorf("%v, %v", got, err)
	}
}

// TestOutline: what is declared at the top, what is assigned to (at its offset), and
// what is declared within too; h stands before what is hoisted.
func TestOutline(t *testing.T) {
	for _, tt := range []struct{ in, declared, assigned, within string }{
		{"const a = 1, { b, c: [d = e => 1], ...f } = g; let h; var i = (j) => k", "const a b d f; let h bare; var i", "", "e j"},
		{"function a(b) { let c } async function* d() { function e() {} } class F { g(h) { class i {} } }", "function a; function d; class F", "", "b c e h i"},
		{"if (a) { const b = 1 } for (const c of d) ; for (let e;;) ; { var f } try {} catch (g) {}", "h var f", "", "b c e g"},
		{"import a, { b, c as d } from 'e'; import * as f from 'g'; import 'h'; export const i = 1; export default class j {}", "import a b d; import f; const i; class j", "", ""},
		{"a = 1; b += c = 2; d++; --e; -f; g.h = 3; i[j] = 4; (k, l)[m] ??= 5; n == o; p <= q; r >>>= s", "", "a0 b7 c12 d19 e26 r85", ""},
		{"for (a of b) ; for (c.d in e) ; for (f in g) ; [h] = i; ({ j } = k)", "", "a5 f37 h48 j59", ""},
		{"(a, { b, c: d }, [e] = f, ...g) => h; async i => j; async (k) => l; m => n = 1; (o = 2)", "", "e18 n73 o81", "a b c d e f g i k m"},
		{"const f = (a): b => c; x ? (y) : z => w", "const f", "", "a z"},
		{"[a, b = c, ...d] = [e, [f] = g]; ({ h, i: j, k = l, m: [n], o: p.q, ...r } = { s, t }); [u]; { v }", "", "b4 a1 d14 f24 h36 j42 k45 n56 r71", ""},
		{"({ a, b: [c] } = {}) => d; [e, f].g = 1; [h(i)] = 2; for ([j] of k) ;", "", "a3 c10 j59", "a b c"},
		{"const a = 1; { let a } function b(a) {}", "const a; function b", "", "a a"},
		{"for (var a = 0, { b } = c;;) { var d } for (var e of f) g: var h; switch (i) { case 1: var j } if (k) function l() {}", "h var a b; h var d; h var e; h var h; h var j; h function l", "", "l"},
		{"try { function a() { var b } } finally { (() => { var c; { function d() {} } })(); class e { static { var f } constructor() { var g } } }", "h function a", "", "a b c d e f g"},
		{"++a.b; a.c++; a\n++d", "", "d18", ""}, {"{ a: b = 1 }", "", "b5", ""}, {"const {} = a, [] = b; import {} from 'c'", "", "", ""}, {"let x = ;", "", "", "x"},
	} {
		o, err := Outlined(context.Background(), tt.in, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		var declared, assigned []string
		for i, d := range slices.Concat(o.Declared, o.Hoisted) {
			words := []string{d.Keyword.Text}
			if i >= len(o.Declared) {
				words[0] = "h " + words[0]
			}
			words = append(words, d.Names...)
			if len(d.Bare) > 0 {
				words = append(words, "bare")
			}
			declared = append(declared, strings.Join(words, " "))
		}
		for _, n := range o.Assigned {
			assigned = append(assigned, n.Text+strconv.Itoa(n.Start))
		}
		within := withinStatements(tt.in)
		for _, is := range [][2]string{{strings.Join(declared, "; "), tt.declared}, {strings.Join(assigned, " "), tt.assigned}, {strings.Join(within, " "), tt.within}} {
			if is[0] != is[1] {
				t.Errorf("%s: %q, not %q", tt.in, is[0], is[1])
			}
		}
	}
}

// withinStatements returns what statements of the top level declare other than there.
func withinStatements(source string) (within []string) {
	p := newParser(context.Background(), source)
	p.outline = &Outline{}
	collect := func() {
		names := map[string]int{}
		for _, name := range p.outline.bound {
			names[name] = 0
		}
		p.outline.count(names)
		for name, n := range names {
			if n > 0 {
				within = append(within, name)
			}
		}
	}
	_ = p.parse(func(p *parser) {
		p.next()
		for p.scopes = append(p.scopes, nil); p.tok.kind != eof; p.outline.next() {
			p.statement()
			collect()
		}
	})
	collect()
	slices.Sort(within)
	return within
}
