package typescript

import (
	"context"
	"errors"
	"slices"
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
	if got, err := Outlined(context.Background(), strings.Repeat("(", 1<<20)+"import('a')", 1<<25); err != nil || len(got.Imports) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}
