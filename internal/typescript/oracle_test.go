package typescript

import (
	"context"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// generated are programs that text is written into.
var generated = []string{
	"enum A { B, C = 5, D, 'e f' = D << 1, default = 'x' } A.B",
	"const enum A { B = 'b', C = `${B}c` }",
	"class A { constructor(public a: number, private readonly b = 1) { f(a) } }",
	"class A extends B { constructor(protected override c: string) { f(); super(c); g() } }",
	"import a = require('a'); import b = a.c; export = b",
	"export enum A { B = 1, C = A.B | 2 }",
	"export abstract class A { abstract b(): void }",
}

// TestEqual compares what is printed of translations with what is printed of
// esbuild's.
func TestEqual(t *testing.T) {
	for _, tt := range erased {
		pr, err := Erase(context.Background(), tt.in)
		if err != nil {
			continue // TestErased fails
		}
		want := esbuild(tt.in, api.LoaderTS)
		if len(want.Errors) > 0 {
			want = esbuild("("+tt.in+")", api.LoaderTS)
		}
		got := esbuild(pr.Code, api.LoaderJS)
		if len(got.Errors) > 0 {
			got = esbuild("("+pr.Code+")", api.LoaderJS)
		}
		if len(got.Errors)+len(want.Errors) > 0 {
			t.Errorf("%s: esbuild says %v of the source, %v of %q", tt.name, want.Errors, got.Errors, pr.Code)
			continue
		}
		if is, was := normal(got.Code), normal(want.Code); is != was {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, is, was)
		}
	}
}

// normal takes out empty statements, which esbuild keeps in JavaScript.
func normal(code []byte) string {
	s := string(code)
	for strings.Contains(s, ";;") {
		s = strings.ReplaceAll(s, ";;", ";")
	}
	return strings.Trim(strings.ReplaceAll(s, "{;", "{"), ";\n")
}

// TestGenerated has esbuild parse what text was written into.
func TestGenerated(t *testing.T) {
	for _, source := range generated {
		pr, err := Erase(context.Background(), source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got := esbuild(pr.Code, api.LoaderJS); len(got.Errors) > 0 {
			t.Errorf("%s: %s: %v", source, pr.Code, got.Errors[0].Text)
		}
	}
}
