package typescript

import (
	"context"
	"testing"
)

var guarded = []struct{ name, in, out string }{
	{"no loop", "for (const a of b) c", ""},
	{"block", "for await (const a of b) { c }", "<for await (const a of (b)) { c }>"},
	{"statement without a semicolon", "for await (a.b of c, d) e\nf", ""},
	{"expression", "for await (a.b of c ? d : e) f\ng", "<for await (a.b of (c ? d : e)) f>\ng"},
	{"labels", "x: y: for await (a of b) continue y; z: while (1) for await (a of b);", "<x: y: for await (a of (b)) continue y;> z: while (1) <for await (a of (b));>"},
	{"nested", "for await (a of b) for await (c of d) e; f", "<for await (a of (b)) <for await (c of (d)) e;>> f"},
	{"in a row", "for await (a of b){}for await (c of d){}", "<for await (a of (b)){}><for await (c of (d)){}>"},
	{"branches", "if (a) for await (b of c) d; else for await (e of f) { g }", "if (a) <for await (b of (c)) d;> else <for await (e of (f)) { g }>"},
	{"within what is iterated over", "for await (a of (async function* () { for await (b of c) yield b })()) d", "<for await (a of ((async function* () { <for await (b of (c)) yield b> })())) d>"},
	{"within a guess", "a ? (b) : async () => { for await (c of d) e }", "a ? (b) : async () => { <for await (c of (d)) e> }"},
	{"arrow that is none", "x = a ? (b) : async (c) => { for await (c of d) e }; `${async () => { for await (f of g); }}`", "x = a ? (b) : async (c) => { <for await (c of (d)) e> }; `${async () => { <for await (f of (g));> }}`"},
	{"object", "{ async f() { for await (a of b) { c } } }", "{ async f() { <for await (a of (b)) { c }> } }"},
	{"comments and expressions", "for/*x*/await(const a of/*(*/b/*)*/)/x/.test(')')", "<for/*x*/await(const a of/*(*/(b)/*)*/)/x/.test(')')>"},
	{"comparisons are no types", "for await (a of b(c < d, e > (f))) { g as\nh }", "<for await (a of (b(c < d, e > (f)))) { g as\nh }>"},
	{"no program", "for await (a of b) {", ""},
}

// TestGuardLoops: what is written around for await loops is where they begin and end, and
// nothing else changes.
func TestGuardLoops(t *testing.T) {
	for _, tt := range guarded {
		t.Run(tt.name, func(t *testing.T) {
			pr, err := GuardLoops(context.Background(), tt.in, Guard{"<", "(", ">", func(string) string { return ")" }})
			if pr == nil {
				if tt.out != "" {
					t.Fatal(err)
				}
				return
			}
			if pr.Code != tt.out {
				t.Errorf("got  %s\nwant %s", pr.Code, tt.out)
			}
		})
	}
}

func TestGuardPositions(t *testing.T) {
	pr, err := GuardLoops(context.Background(), "a\nb; for await (c of d) { e }; f\ng", Guard{"<<<", "(", ">>", func(of string) string { return "," + of + ")" }})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range [][4]int{{1, 1, 1, 1}, {2, 1, 2, 1}, {2, 5, 2, 4}, {2, 7, 2, 4}, {2, 24, 2, 20}, {2, 38, 2, 29}, {3, 1, 3, 1}} {
		if line, column := pr.Position(p[0], p[1]); line != p[2] || column != p[3] {
			t.Errorf("%d:%d is %d:%d in the source, want %d:%d", p[0], p[1], line, column, p[2], p[3])
		}
	}
}
