//go:build real

package inmemory_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/tier"
)

// Closures in loops see what they see in node: contract row 20. Programs are written at
// random, many in one file.
func TestLoopsAgainstNode(t *testing.T) {
	t.Parallel()
	node := lookNode(t)
	count := 400
	if tier.Full {
		count = 20_000
	}
	seed := rand.Uint64()
	ci := open(t, nil)
	const batch = 200
	for first := 0; first < count; first += batch {
		rnd := rand.New(rand.NewPCG(seed, uint64(first)))
		programs := make([]string, batch)
		for i := range programs {
			programs[i] = newLoopWriter(rnd).program()
		}
		source := loopsStart + strings.Join(programs, "") + "]);\n"
		file := filepath.Join(t.TempDir(), "loops.js")
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		want, err := exec.CommandContext(t.Context(), node, "--max-old-space-size=500", file).Output()
		if err != nil {
			t.Fatalf("node: %v\n%s", err, err.(*exec.ExitError).Stderr)
		}
		res, err := ci.RunCode(t.Context(), "javascript", source, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, all := strings.Split(res.Stdout(), "\n"), strings.Split(string(want), "\n")
		if len(all) != batch+1 || len(got) != len(all) {
			t.Fatalf("seed %d, %d: %d lines, not %d: %v", seed, first, len(got), len(all), res.Error)
		}
		for i := range all {
			if got[i] != all[i] {
				t.Fatalf("seed %d:\n%s\n got %s\nwant %s", seed, programs[i], got[i], all[i])
			}
		}
	}
}

// loopsStart is what runs the programs, one after the other. A program returns what its
// closures return when it has ended.
const loopsStart = `let fuel;
Error.prototype.toString = function () { return this.name; }; // words of errors differ
globalThis.T = () => fuel-- < 0;
async function all(programs) {
	for (const p of programs) {
		const fs = [];
		fuel = 60;
		let end = "end";
		try {
			const v = p(fs);
			if (v && typeof v.next === "function") {
				for (let k = 0; k < 30; k++) if ((await (k % 5 === 3 ? v.throw(k) : v.next(k))).done) break;
			} else await v;
		} catch (e) { end = e instanceof Error ? e.name : String(e); }
		const call = f => { try { return f(); } catch (e) { return e instanceof Error ? e.name : e; } };
		console.log(end + " " + JSON.stringify([fs.map(call), fs.map(call)]));
	}
}
all([
`

// A loopWriter writes one program.
type loopWriter struct {
	*rand.Rand
	b       strings.Builder
	scopes  [][]string // names that blocks declare
	labels  []string   // of loops around, "" for one without
	depth   int
	yields  string // await, yield or ""
	strict  bool
	returns bool
	next    int
	left    int // statements that may have others in them
}

func newLoopWriter(r *rand.Rand) *loopWriter { return &loopWriter{Rand: r, left: 5 + r.IntN(20)} }

func (w *loopWriter) program() string {
	kind := []string{"function", "function", "async function", "function*", "async function*"}[w.IntN(5)]
	w.yields = map[string]string{"async function": "await ", "function*": "yield ", "async function*": "yield "}[kind]
	w.strict = w.IntN(2) == 0
	how := w.IntN(6)
	w.scopes = [][]string{{"n"}}
	w.block(2 + w.IntN(3))
	body := w.b.String()
	strict := ""
	if w.strict {
		strict = `"use strict"; `
	}
	switch {
	case how == 0 && w.yields == "":
		return fmt.Sprintf("fs => { let n = 0; new Function('fs', 'n', %q)(fs, n); },\n", strict+body)
	case how == 1 && w.yields == "" && !w.returns && w.strict:
		return fmt.Sprintf("fs => { let n = 0; eval(%q); },\n", strict+body)
	}
	return kind + " p(fs) { " + strict + "let n = 0; " + body + " },\n"
}

func (w *loopWriter) put(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

// declare returns a name that the block at hand has not declared.
func (w *loopWriter) declare() string {
	top := len(w.scopes) - 1
	for range 6 {
		name := string(rune('a' + w.IntN(5)))
		if !strings.Contains(strings.Join(w.scopes[top], " "), name) {
			w.scopes[top] = append(w.scopes[top], name)
			return name
		}
	}
	w.next++
	name := fmt.Sprintf("v%d", w.next)
	w.scopes[top] = append(w.scopes[top], name)
	return name
}

func (w *loopWriter) name() string {
	for range 4 {
		scope := w.scopes[w.IntN(len(w.scopes))]
		if len(scope) > 0 {
			return scope[w.IntN(len(scope))]
		}
	}
	return "n"
}

// variable returns a name that may be assigned to: assigning to a constant that is not
// initialized yet is another error than in node.
func (w *loopWriter) variable() string {
	if name := w.name(); name[0] != 'k' {
		return name
	}
	return "n"
}

// constant returns the name of a new constant.
func (w *loopWriter) constant() string {
	w.next++
	name := fmt.Sprintf("k%d", w.next)
	top := len(w.scopes) - 1
	w.scopes[top] = append(w.scopes[top], name)
	return name
}

func (w *loopWriter) value() string {
	switch w.IntN(7) {
	case 0:
		return fmt.Sprint(w.IntN(9))
	case 1:
		return "n++"
	case 2:
		return w.name() + " + 1"
	case 3:
		return "Object.keys({...String(" + w.name() + ")}).length"
	case 4:
		if w.yields != "" {
			return "(" + w.yields + w.name() + ")"
		}
	}
	return w.name()
}

func (w *loopWriter) closure() {
	a, b := w.name(), w.name()
	switch w.IntN(5) {
	case 0:
		w.put("fs.push(() => %s++); ", w.variable())
	case 1:
		w.put("fs.push(function () { return [%s, () => %s].map(x => typeof x === 'function' ? x() : typeof x); }); ", a, b)
	default:
		w.put("fs.push(() => [%s, %s].map(x => typeof x === 'object' || typeof x === 'function' ? typeof x : x)); ", a, b)
	}
}

func (w *loopWriter) block(n int) {
	w.depth++
	w.scopes = append(w.scopes, nil)
	w.body(n)
	w.scopes = w.scopes[:len(w.scopes)-1]
	w.depth--
}

// body writes statements of a block. Its declarations come first.
func (w *loopWriter) body(n int) {
	for range w.IntN(3) {
		w.declaration()
	}
	for range n {
		w.statement()
	}
}

func (w *loopWriter) declaration() {
	v, plain := w.value(), w.name()
	switch name := w.declare(); w.IntN(7) {
	case 0:
		w.put("const %s = %s; ", w.constant(), v)
	case 1:
		if !w.strict { // where such a name is visible outside of the block too, differs
			w.next++
			name = fmt.Sprintf("f%d", w.next)
			w.scopes[len(w.scopes)-1] = append(w.scopes[len(w.scopes)-1], name)
		}
		w.put("function %s() { return [%s].length; } ", name, w.name())
	case 2:
		w.put("class %s { static s = %s; #p = n; get() { return [this.#p, %s.s].map(x => typeof x === 'number' ? x : typeof x); } } fs.push(() => new %s().get()); ", name, plain, name, name)
	case 3:
		other := w.declare()
		w.put("let [%s, {x: %s = () => %s}] = [%s, {}]; ", name, other, name, v)
	default:
		w.put("let %s = %s; ", name, v)
	}
	if w.IntN(2) == 0 {
		w.closure()
	}
}

func (w *loopWriter) statement() {
	if w.left--; w.depth > 6 || w.left < 0 {
		w.closure()
		return
	}
	switch w.IntN(16) {
	case 0, 1, 2, 3, 4:
		w.loop()
	case 5, 6:
		w.try()
	case 7, 8:
		w.jump()
	case 9:
		w.choice()
	case 10:
		w.put("{ ")
		w.block(1 + w.IntN(2))
		w.put("} ")
	case 11:
		w.put("if (n++ %% 3 == %d) { ", w.IntN(3))
		w.block(1)
		w.put("} else { ")
		w.block(1)
		w.put("} ")
	case 12:
		w.put("%s = %s; ", w.variable(), w.value())
	case 13:
		if w.yields != "" {
			w.put("%s%s; ", w.yields, w.name())
		}
	default:
		w.closure()
	}
}

func (w *loopWriter) jump() {
	condition := fmt.Sprintf("if (n++ %% %d == %d) ", 2+w.IntN(3), w.IntN(2))
	if w.IntN(6) == 0 {
		condition = ""
	}
	word := []string{"continue", "continue", "continue", "break"}[w.IntN(4)]
	switch {
	case len(w.labels) == 0 || w.IntN(5) == 0:
		w.put("%sthrow n; ", condition)
	case w.IntN(12) == 0:
		w.returns = true
		w.put("%sreturn; ", condition)
	default:
		if label := w.labels[w.IntN(len(w.labels))]; label != "" && w.IntN(2) == 0 {
			word += " " + label
		}
		w.put("%s%s; ", condition, word)
	}
}

func (w *loopWriter) loop() {
	label := ""
	if w.IntN(2) == 0 {
		w.next++
		label = fmt.Sprintf("L%d", w.next)
		w.put("%s: ", label)
	}
	w.scopes = append(w.scopes, nil)
	do := false
	switch w.IntN(9) {
	case 0:
		w.put("while (n++ %% 5 != 4) ")
	case 1:
		do = true
		w.put("do ")
	case 2:
		name := w.constant()
		w.put("for (const %s of [1, 2, 3]) ", name)
	case 3:
		name := w.declare()
		w.put("for (let %s in {x: 1, y: 2}) ", name)
	case 4:
		a, b := w.declare(), w.declare()
		w.put("for (let [%s, %s] of [[1, 2], [3, %s]]) ", a, b, "n")
	default:
		w.head()
	}
	w.labels = append(w.labels, label)
	w.put("{ if (T()) break; ")
	w.block(1 + w.IntN(3))
	w.put("} ")
	w.labels = w.labels[:len(w.labels)-1]
	if do {
		w.put("while (n++ %% 4); ")
	}
	w.scopes = w.scopes[:len(w.scopes)-1]
}

func (w *loopWriter) head() {
	a := w.declare()
	start := fmt.Sprintf("let %s = %s", a, "n % 5")
	if w.IntN(4) == 0 {
		b := w.declare()
		start += fmt.Sprintf(", %s = (fs.push(() => %s), %s)", b, a, "0")
	}
	test, update := "", ""
	switch w.IntN(4) {
	case 0:
	case 1:
		test = fmt.Sprintf("fs.push(() => %s), %s < 7", a, a)
	default:
		test = fmt.Sprintf("%s < 6", a)
	}
	switch w.IntN(4) {
	case 0:
	case 1:
		update = fmt.Sprintf("fs.push(() => %s), %s++", a, a)
	default:
		update = a + "++"
	}
	w.put("for (%s; %s; %s) ", start, test, update)
}

func (w *loopWriter) try() {
	w.put("try { ")
	w.block(1 + w.IntN(3))
	w.put("} ")
	finally := w.IntN(3) == 0
	if !finally || w.IntN(2) == 0 {
		w.scopes = append(w.scopes, nil)
		switch w.IntN(3) {
		case 0:
			w.put("catch { ")
		case 1:
			w.put("catch (%s) { ", w.declare())
		default:
			a := w.declare()
			w.put("catch ({name: %s = () => %s}) { ", a, a)
		}
		w.body2()
		w.put("} ")
		w.scopes = w.scopes[:len(w.scopes)-1]
	}
	if finally {
		w.put("finally { ")
		w.block(1 + w.IntN(2))
		w.put("} ")
	}
}

// body2 writes a block that must not declare what the one around it does.
func (w *loopWriter) body2() {
	w.depth++
	for range 1 + w.IntN(2) {
		w.statement()
	}
	w.depth--
}

func (w *loopWriter) choice() {
	w.put("switch (n++ %% 3) { ")
	w.scopes = append(w.scopes, nil)
	w.depth++
	for i := range 3 {
		w.put("case %d: ", i)
		if w.IntN(2) == 0 {
			w.declaration()
		}
		w.statement()
		if w.IntN(2) == 0 {
			w.put("break; ")
		}
	}
	w.depth--
	w.scopes = w.scopes[:len(w.scopes)-1]
	w.put("} ")
}
