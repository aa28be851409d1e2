package inmemory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// marked makes the engine mark the loops of a program.
const marked = "for (let i = 0; i < 3; i++) { const g = () => i; if (i == 1) continue; }\n"

// A program may have the numbers that the engine marks loops with, in any spelling: it is
// run as it stands or refused, and the process that runs it lives: contract row 20.
func TestNumbersLikeMarks(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	const call = "var h = (...a) => a.join(); function f(p) { return h(70e-302, p, 71e-302, p, 0.71e-300, p, 7.10e-301) }\n"
	const want = "7e-301,1,7.1e-301,1,7.1e-301,1,7.1e-301\n"
	for name, code := range map[string]string{
		"program":      marked + call + "console.log(f(1))",
		"one number":   marked + "var f = p => { let x = 71e-302; return x }; console.log('7e-301,1,' + [f(), 1, f(), 1, f()])",
		"eval":         fmt.Sprintf("console.log(eval(%q))", marked+call+"f(1)"),
		"new Function": fmt.Sprintf("console.log(new Function(%q)())", marked+call+"return f(1)"),
		"two numbers":  marked + call + "let y = [73e-302, 75e-302]; console.log(f(1))",
		"statement": marked + "var a = 1, h; for (let i = 0; i < 2; !71e-302,!a,!71e-302,i++) { h = () => i; if (i == 1) continue; }\n" +
			"console.log('7e-301,1,7.1e-301,1,7.1e-301,1,' + 7.10e-301)",
	} {
		res, err := s.RunCode(t.Context(), "javascript", code, nil)
		if err != nil || !res.OK() || res.Stdout() != want {
			t.Errorf("%s: %v, %v: %s", name, err, res.Error, res.Stdout())
		}
	}
	res, err := s.RunCode(t.Context(), "javascript", marked+call+"console.log(73e-302, 75e-302, 77e-302)", nil)
	if err != nil || res.Error == nil || res.Error.Name != "SyntaxError" || res.Stdout() != "" {
		t.Errorf("all marks: %v, %v: %s", err, res.Error, res.Stdout())
	}
}

// A program with the number of a mark gives what it gives with another expression of the
// same value.
func FuzzNumbersLikeMarks(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"))
	f.Add([]byte("\x10\x21\x32\x43\x54\x65\x76\x87\x98\xa9"))
	f.Add([]byte("\xff\xee\xdd\xcc\xbb\xaa\x99\x88\x77\x66\x55\x44\x33"))
	numbers := []string{"71e-302", "7.10e-301", "0.71E-300", "7_1e-302", "7.3000e-301", "730e-303", ".75e-300", "7.7e-301"}
	constructs := []string{
		"r.push(%s, p, %[1]s);", "p = [p, %s, ...[%[1]s, p]];", "r.push(!%s,!p,!%[1]s);", "!%s,!p,!%[1]s;",
		"for (let a = 0, b = %s; a < 3; !%[1]s,!a,!%[1]s,a++) { r.push(() => [a, b]); if (a == 1) continue; }",
		"for (let a = 0; a < 2; !%s,!a, a++) { r.push(() => a); if (%[1]s < a) continue; r.push(a); }",
		"try { for (let a of [%s, 2]) { r.push(() => a); if (a == 2) throw %[1]s; } } catch (e) { r.push(() => e); } finally { r.push(%[1]s); }",
		"switch (%s) { case p: r.push(1); case %[1]s: r.push(() => %[1]s); default: r.push({...'x', y: %[1]s}); }",
		"L: for (let a = 0; a < 3; a++) { for (let b = 0; b < 2; b++, p ? !%s : !a) { r.push(() => a + b); continue L; } }",
		"r.push((function* () { yield %s; yield !%[1]s; })().next().value, `${%[1]s}`);",
		"r.push(class { static x = %s; static y = !%[1]s }.x, ((q = %[1]s) => q)());",
		"r.push(p ? %s : !%[1]s, p && %[1]s, p?.[%[1]s], typeof %[1]s, -%[1]s);",
	}
	s := open(f, nil)
	f.Fuzz(func(t *testing.T, choices []byte) {
		program := func(number func(string) string) string {
			var b strings.Builder
			b.WriteString(marked + "var r = []; function f(p) {")
			for i, c := range choices[:min(len(choices), 24)] {
				n := numbers[(int(c)>>4+i)%len(numbers)]
				fmt.Fprintf(&b, "{ "+constructs[int(c)%len(constructs)]+" }\n", number(n))
			}
			return b.String() + "} f(1); f(0); console.log(JSON.stringify(r.map(x => typeof x == 'function' ? x() : x)))"
		}
		run := func(code string) codeinterp.Result {
			res, err := s.RunCode(t.Context(), "javascript", code, nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, code)
			}
			return res
		}
		code := program(func(n string) string { return n })
		got := run(code)
		if !got.OK() && strings.HasPrefix(got.Error.Message, "Loops with let and continue") {
			return
		}
		want := run(program(func(n string) string { return "Number('" + strings.ReplaceAll(n, "_", "") + "')" }))
		if !got.OK() || !want.OK() || got.Stdout() != want.Stdout() {
			t.Fatalf("%v, %v:\n%s\n got %s\nwant %s", got.Error, want.Error, code, got.Stdout(), want.Stdout())
		}
	})
}
