package typescript

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// What is replaced is marked with an at sign: the import of calls, and in modules the this
// of the program.
func TestReplace(t *testing.T) {
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
		"#!/usr/bin/env node import('a')\n@import('b')", "\ufeff@import('é'), @import('b')",
		"`${`${@import('a')}`}${(() => { return `}${@import('b')}` })()}`",
		"label: for (;;) @import('a'); switch (a) { case @import('b'): default: @import('c') }",
		"@import(import.meta.url)", "x.import", "",
		"import 'a'; @this.x = 1; ({ a: @this, b() { this }, get c() { return this }, d: () => @this, e(f = this) {} })",
		"export const f = (a = @this) => { @this; function g(a = this) { return () => this } }; @this",
		"import.meta; class A extends @this.B { x = this.y; static { this.z }; constructor(a = this) { this } } `${@this}`",
		"a ? (b) : c => @this; a ? (@this) : async (d) => { @this }; x.this; ({ this: 1 }); export {}",
		"this; @import('a'); x.export",
	} {
		source := strings.ReplaceAll(in, "@", "")
		want := strings.NewReplacer("@import", "__impt", "@this", "__th").Replace(in)
		got := source
		pr, err := Replace(context.Background(), source, Words{"__impt", "__th"}, Memory(len(source)))
		if pr != nil {
			got = pr.Code
		}
		if err != nil || got != want {
			t.Errorf("got  %s\nwant %s, %v", got, want, err)
		}
	}
}

func TestReplaceEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if pr, err := Replace(ctx, strings.Repeat("import('a');", 5000), Words{"__impt", "__th"}, 1<<20); pr != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", pr, err)
	}
	if pr, err := Replace(context.Background(), strings.Repeat("(", 1<<20)+"import('a')", Words{"__impt", "__th"}, 1<<25); pr != nil || err == nil {
		t.Errorf("%v, %v", pr, err)
	}
}
