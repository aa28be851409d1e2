package inmemory_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

var (
	fuzzSeed = flag.Uint64("seed", 0, "seed of the first programs that are compared with node; zero: by the clock")
	fuzzFor  = flag.Duration("fuzzfor", 10*time.Second, "how long random programs are compared with node")
)

// TestNodeFuzz compares random programs with node: loops, labels, exceptions,
// closures, classes, generators, promises, and what built-ins answer.
func TestNodeFuzz(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("node is not installed")
		}
		t.Skip("node is not installed")
	}
	if testing.Short() {
		*fuzzFor = time.Second
	}
	seed := *fuzzSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	s := open(t, nil)
	const batch = 400
	compared, wrong := 0, 0
	for end := time.Now().Add(*fuzzFor); time.Now().Before(end) && wrong < 5; seed += batch {
		programs := make([]string, batch)
		for i := range programs {
			programs[i] = randomProgram(seed + uint64(i))
		}
		want := nodeOutput(t, node, programs)
		for i, code := range programs {
			res, err := s.RunCode(t.Context(), "javascript", code, nil)
			if err != nil {
				t.Fatal(err)
			}
			if res.Error != nil && res.Error.Name == "InternalError" && res.Error.Message == "out of memory" ||
				strings.Contains(res.Stdout(), "InternalError") {
				continue // strings that double in a loop, which a program may catch: node has more room
			}
			if compared++; res.Stdout() != want[i] || !res.OK() {
				wrong++
				t.Errorf("-seed=%d\n%s\n%v, in these lines:\n%s", seed+uint64(i), code, res.Error, firstDifferent(res.Stdout(), want[i]))
			}
		}
	}
	t.Logf("%d programs compared, %d wrong, the next seed is %d", compared, wrong, seed)
}

// randomProgram returns a program that ends by itself and prints what happened.
func randomProgram(seed uint64) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, 1)), left: 16}
	body := g.block(place{capture: true})
	return `const L = [], F = []; let fuel = 200; const G = () => fuel-- > 0; let t = 0; const T = () => t++;
(async () => { try ` + body + ` catch (e) { L.push("thrown", e instanceof Error ? e.name : e) }
for (let k = 0; k < F.length; k++) { const f = F[k]; try { L.push(f()) } catch (e) { L.push(e.name) } } })().then(() => console.log(L));`
}

// A place is where a statement stands: what may be jumped to, and whether
// closures may capture variables there. The engine is known to bind them
// wrongly in for (let) loops with continue and in try blocks of loops.
type place struct {
	loops, blocks []string
	loop          bool // an unlabelled break or continue has a loop
	continues     bool // the loops around allow continue
	capture       bool
	inner         bool // in any loop
	vars, mutable []string
}

type generator struct {
	r    *rand.Rand
	left int
	n    int
}

func (g *generator) pick(list ...string) string { return list[g.r.IntN(len(list))] }
func (g *generator) name(p string) string       { g.n++; return fmt.Sprintf("%s%d", p, g.n) }
func (g *generator) chance(n int) bool          { return g.r.IntN(n) == 0 }

func (g *generator) block(p place) string {
	var b strings.Builder
	b.WriteString("{ ")
	p.vars, p.mutable = append([]string{}, p.vars...), append([]string{}, p.mutable...)
	for range 1 + g.r.IntN(3) {
		b.WriteString(g.statement(&p) + " ")
	}
	return b.String() + "}"
}

func (g *generator) value(p *place) string {
	v := "7"
	if len(p.vars) > 0 {
		v = g.pick(p.vars...)
	}
	return g.pick(v, v+" + 1", v+" * 2", fmt.Sprint(g.r.IntN(10)), "`<${"+v+"}>`", "["+v+", 2, 3]", "{ a: "+v+", b: [1] }", "[..."+g.iterable()+"]",
		v+" ?? 4", "typeof "+v, "String("+v+").length", "(x => x)("+v+")", "Math.max(1, 2)", "T()")
}

func (g *generator) iterable() string {
	return g.pick("[1, 2, 3]", `"aé👍"`, "new Map([[1, 2], [3, 4]])", "new Set([1, 1, 2])", "(function* () { yield 1; yield 2 })()", "[3, 1, 2].entries()", "Object.entries({ x: 1, y: 2 })")
}

// builtin returns an expression over built-ins.
func (g *generator) builtin(p *place) string {
	n := fmt.Sprintf("(%d)", g.r.IntN(100)-50)
	return g.pick(
		"["+n+", 3, -1, 20].sort()", "["+n+", 3, -1, 20].toSorted((a, b) => a - b)", "[1, 2, 3, 4].findLast((x) => x < "+n+")", "[[1, [2, ["+n+"]]]].flat(2)",
		"("+n+" / 7).toFixed(3)", "("+n+" / 3).toPrecision(4)", "("+n+" + 0.5).toString(2)", "parseInt('0x1f')", "Number('"+n[1:len(n)-1]+"e2')", n+" >> 2", n+" >>> 28", n+" ** 3", n+" % 7", "BigInt("+n+") ** 5n",
		"JSON.stringify({ a: "+n+", b: undefined, c: [undefined, () => 1], d: new Date(0) })", "JSON.stringify([NaN, -0, 'x\\u2028'], null, 2)", "JSON.parse('["+n[1:len(n)-1]+", {\"a\": null}]')",
		"'a-b-c'.split('-', 2)", "'abcabc'.replace(/b(.)/g, (m, x, i) => x + i)", "'x'.padStart(4, 'ab')", "'tEst'.at("+n+" % 4)", "'2024-05-06'.match(/(?<y>\\d+)-(?<m>\\d+)/).groups.m", "[...'a1b2'.matchAll(/\\d/g)].map((m) => m.index)",
		"Object.fromEntries([['a', "+n+"], ['b', 2]])", "structuredClone({ a: [1, { b: "+n+" }] })", "new Date("+n+" * 864e5).toISOString()", "new Date(2024, 1, "+n+").getTime()",
		"[1, 2, 3].reduce((a, b) => a + b, "+n+")", "Array.from({ length: 3 }, (_, i) => i * "+n+")", "new Uint8Array(["+n+", 256]).join()", "[1, 2, 3, 4, 5].toSpliced(1, 2, "+n+")", "[,1,,2].map((x) => x + "+n+")", "isNaN('"+n+"x')", "[10, 9, 1].sort().join()",
		"(("+g.value(p)+")?.a?.b ?? 'none')", "encodeURIComponent('é&"+n+"')", "[0, -0, NaN].includes(NaN)", "Object.is(-0, "+n+" * 0)", "`${["+n+", [2]]}`", "+[] + {} + "+n, "new Intl.NumberFormat().format("+n+" * 1234.5)", "'ä'.localeCompare('z')")
}

func (g *generator) log(p *place) string {
	if len(p.vars) > 0 && p.capture && g.chance(2) {
		v := g.pick(p.vars...)
		return g.pick("F.push(() => "+v+");", "F.push(function () { return ["+v+", "+g.pick(p.vars...)+"] });")
	}
	if g.chance(3) {
		return "L.push(" + g.builtin(p) + ");"
	}
	return "L.push(" + g.value(p) + ");"
}

func (g *generator) jump(p *place) string {
	var list []string
	if p.loop {
		list = append(list, "break;")
		if p.continues {
			list = append(list, "continue;", "continue;")
		}
	}
	for _, l := range p.loops {
		list = append(list, "break "+l+";")
		if p.continues {
			list = append(list, "continue "+l+";")
		}
	}
	for _, l := range p.blocks {
		list = append(list, "break "+l+";")
	}
	if len(list) == 0 {
		return g.log(p)
	}
	return "if (" + g.condition(p) + ") " + g.pick(list...)
}

func (g *generator) condition(p *place) string {
	v := "T()"
	if len(p.vars) > 0 {
		v = g.pick(p.vars...)
	}
	return g.pick(v+" > 1", v+" == 1", "T() % 3 == 0", "T() % 2 == 1", "!"+v)
}

func (g *generator) statement(p *place) string {
	if g.left--; g.left < 0 {
		return g.log(p)
	}
	switch g.r.IntN(16) {
	case 0, 1:
		v, kind := g.name("v"), g.pick("let", "let", "const")
		s := kind + " " + v + " = " + g.value(p) + ";"
		p.vars = append(p.vars, v)
		if kind == "let" {
			p.mutable = append(p.mutable, v)
		}
		return s
	case 2:
		if len(p.mutable) > 0 {
			return g.pick(p.mutable...) + g.pick(" = ", " += ", " ??= ") + g.value(p) + ";"
		}
		return g.log(p)
	case 3, 4:
		return g.jump(p)
	case 5:
		return "if (" + g.condition(p) + ") " + g.block(*p) + " else " + g.block(*p)
	case 6, 7, 8:
		return g.loop(*p)
	case 9, 10:
		return g.try(*p)
	case 11:
		l := g.name("b")
		q := *p
		q.blocks = append(append([]string{}, p.blocks...), l)
		return l + ": " + g.block(q)
	case 12:
		return "switch (" + g.value(p) + ") { case 1: " + g.log(p) + " case 7: " + g.log(p) + g.pick(" break;", "") + " default: " + g.log(p) + " }"
	case 13:
		return g.function(*p)
	case 14:
		a, b, v := g.name("d"), g.name("d"), g.value(p)
		p.vars = append(p.vars, a, b)
		return g.pick("const ["+a+", ..."+b+"] = "+g.iterable()+";", "const { a: "+a+" = 5, ..."+b+" } = { b: "+v+", c: 1 };")
	}
	return g.log(p)
}

func (g *generator) loop(p place) string {
	label := ""
	p.loop, p.inner = true, true
	p.continues = g.chance(2) && (p.continues || len(p.loops) == 0)
	if g.chance(3) {
		l := g.name("l")
		label = l + ": "
		p.loops = append(append([]string{}, p.loops...), l)
	}
	v := g.name("i")
	q := p
	q.vars = append(append([]string{}, p.vars...), v)
	switch g.r.IntN(5) {
	case 0, 1:
		q.capture = p.capture && !p.continues
		return label + "for (let " + v + " = 0; G() && " + v + " < 3; " + v + "++) " + g.block(q)
	case 2:
		return label + "for (" + g.pick("const", "let") + " " + v + " of " + g.iterable() + ") " + g.block(q)
	case 3:
		return label + "for (const " + v + " in { a: 1, b: 2 }) " + g.block(q)
	}
	return label + g.pick("while (G() && T() % 5) "+g.block(p), "do "+g.block(p)+" while (G() && T() % 4);")
}

func (g *generator) try(p place) string {
	if p.inner {
		p.capture = false
	}
	e := g.name("e")
	q := p
	q.vars = append(append([]string{}, p.vars...), e)
	body := g.block(p)
	// What errors say differs, so that only their names are kept.
	handler := func() string {
		return "{ " + e + " = " + e + " instanceof Error ? " + e + ".name : " + e + "; " + strings.TrimPrefix(g.block(q), "{")
	}
	if g.chance(2) {
		body = strings.TrimSuffix(body, "}") + "if (" + g.condition(&p) + ") throw " + g.value(&p) + "; }"
	}
	switch g.r.IntN(3) {
	case 0:
		return "try " + body + " catch (" + e + ") " + handler()
	case 1:
		return "try { try " + body + " finally " + g.block(p) + " } catch { " + g.log(&p) + " }"
	}
	return "try " + body + " catch (" + e + ") " + handler() + " finally " + g.block(p)
}

func (g *generator) function(p place) string {
	f, a := g.name("f"), g.name("a")
	q := place{capture: p.capture, vars: append(append([]string{}, p.vars...), a)}
	body := g.block(q)
	inner := strings.TrimSuffix(body, "}")
	switch g.r.IntN(4) {
	case 0:
		return "const " + f + " = (" + a + " = 2) => " + inner + "return " + g.value(&q) + " }; L.push(" + f + "(), " + f + "(1));"
	case 1:
		return "function* " + f + "(" + a + ") " + inner + "yield " + g.value(&q) + "; yield 2 } L.push([..." + f + "(1)]);"
	case 2:
		return "class " + f + " { #p = 1; static s = 2; constructor(" + a + ") " + inner + "this.v = " + a + " } get p() { return this.#p } } L.push(new " + f + "(3).v, new " + f + "(1).p, " + f + ".s);"
	}
	return "const " + f + " = async (" + a + ") => " + inner + "await null; return " + g.value(&q) + " }; " + f + "(1).then((x) => L.push(x), (e) => L.push(String(e)));"
}
