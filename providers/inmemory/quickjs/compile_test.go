package quickjs

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

// printing is a host that takes a program's output.
type printing struct {
	quiet
	out *strings.Builder
}

func (p printing) Write(_ codeinterp.Kind, b []byte) { p.out.Write(b) }

// A program that has the number of the mark, in whatever spelling, is refused. Any other
// gives what it gives with expressions that no compiler takes for a number.
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
	inst, err := New(nil).New(engine.Config{Limits: engine.Limits{Memory: defaultMemory, Stack: defaultStack},
		Budget: engine.NewBudget(1 << 30), Files: memfs.New(nil), Cwd: "."})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { inst.Close() })
	inst.(*instance).vm.newMark = func() string { return "7.1e-301" }
	const marked = "for (let i = 0; i < 3; i++) { const g = () => i; if (i == 1) continue; }\n"
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
		run := func(code string) (string, engine.Outcome) {
			var b strings.Builder
			out := inst.Run(t.Context(), engine.Program{Name: "cell.js", Code: code}, printing{out: &b})
			return b.String(), out
		}
		refused := false
		code := program(func(n string) string {
			v, _ := strconv.ParseFloat(strings.ReplaceAll(n, "_", ""), 64)
			refused = refused || v == 7.1e-301
			return n
		})
		got, out := run(code)
		want, other := run(program(func(n string) string { return "Number('" + strings.ReplaceAll(n, "_", "") + "')" }))
		if refused {
			want, other.Error = "", nil
			if out.Error == nil || out.Error.Name != "SyntaxError" {
				t.Fatalf("not refused: %v, %s\n%s", out.Error, got, code)
			}
		} else if out.Error != nil {
			t.Fatalf("%v\n%s", out.Error, code)
		}
		if other.Error != nil || got != want {
			t.Fatalf("%v:\n%s\n got %s\nwant %s", other.Error, code, got, want)
		}
	})
}
