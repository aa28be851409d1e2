package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A generated program is a list of steps, which leave known outputs behind, and
// an end.
type generated struct {
	steps  []step
	end    programEnd
	unseen bool // it is run without OnOutput
}

// A step makes one output, or a part of one. Exactly one of text, raw and
// bundle is set.
type step struct {
	kind   codeinterp.Kind // Stdout or Stderr, or Display
	text   string
	times  int  // how often the text is written
	raw    bool // the bytes 0 to 255, to standard output
	bundle []codeinterp.Representation
}

// A programEnd is how a generated program ends, normally unless it says otherwise.
type programEnd struct {
	valued  bool // its last expression is number
	number  int
	failed  bool // an uncaught error with the message
	message string
	exited  bool // by exiting with code
	code    int
}

// An alphabet is what a language's generated programs can be made of.
type alphabet struct {
	p       *Programs
	sizes   []int
	repeats bool
	raw     bool
	shows   bool
	values  bool
	texts   []string
}

// alphabet returns what programs can be made of here.
func (e *env) alphabet() alphabet {
	lacks := func(f Feature) bool { return e.s.cfg.lacks(f, e.language) }
	size := sizes
	if lacks(FullOutput) {
		size = sizes[:2]
	}
	texts := slices.Clone(awkward)
	if lacks(BinaryOutput) {
		for i := range texts {
			texts[i] = strings.ReplaceAll(texts[i], "\x00", "")
		}
	}
	return alphabet{
		p:       e.p,
		texts:   texts,
		sizes:   size,
		repeats: e.p.Repeat != nil && e.p.RepeatErr != nil,
		raw:     e.p.Bytes != "" && !lacks(BinaryOutput),
		shows:   e.p.Show != nil && !lacks(Displays),
		values:  e.p.Number != nil && !lacks(Values),
	}
}

// code returns the program's text. It waits for gap wherever the kind of output
// changes, for providers that read the kinds by ways of their own. line is the
// line on which the program fails, 0 where it does not.
func (g generated) code(p *Programs, gap time.Duration) (code string, line int) {
	var list []string
	kind := codeinterp.Kind(0)
	for _, s := range g.steps {
		if kind != 0 && s.kind != kind && gap > 0 {
			list = append(list, p.Pause(gap))
		}
		kind = s.kind
		list = append(list, s.code(p))
	}
	code = lines(list...)
	switch {
	case g.end.valued:
		return code + p.Number(g.end.number), 0
	case g.end.failed:
		return code + p.Fail(g.end.message), strings.Count(code, "\n") + 1
	case g.end.exited:
		return code + p.Exit(g.end.code), 0
	}
	return code + p.Comment, 0
}

func (s step) code(p *Programs) string {
	switch {
	case s.kind == codeinterp.Display:
		return p.Show(s.bundle)
	case s.raw:
		return p.Bytes
	case s.kind == codeinterp.Stderr && s.times > 1:
		return p.RepeatErr(s.text, s.times)
	case s.kind == codeinterp.Stderr:
		return p.PrintErr(s.text)
	case s.times > 1:
		return p.Repeat(s.text, s.times)
	}
	return p.Print(s.text)
}

// data is what the step writes.
func (s step) data() []byte {
	if s.raw {
		return []byte(allBytes())
	}
	return []byte(strings.Repeat(s.text, max(s.times, 1)))
}

// String tells the program in a line.
func (g generated) String() string {
	var list []string
	for _, s := range g.steps {
		switch {
		case s.kind == codeinterp.Display:
			var types []string
			for _, rep := range s.bundle {
				types = append(types, rep.MIME)
			}
			list = append(list, "display "+strings.Join(types, "+"))
		case s.raw:
			list = append(list, "stdout 256 bytes")
		case s.times > 1:
			list = append(list, fmt.Sprintf("%s %d times %s", s.kind, s.times, quote(s.text)))
		default:
			list = append(list, fmt.Sprintf("%s %s", s.kind, quote(s.text)))
		}
	}
	switch {
	case g.end.valued:
		list = append(list, fmt.Sprintf("value %d", g.end.number))
	case g.end.failed:
		list = append(list, fmt.Sprintf("error %q", g.end.message))
	case g.end.exited:
		list = append(list, fmt.Sprintf("exit %d", g.end.code))
	}
	if g.unseen {
		list = append(list, "without OnOutput")
	}
	return strings.Join(list, "; ")
}

// awkward are texts that a careless hand changes on the way.
var awkward = []string{
	"\ufeffafter a byte order mark\n",
	"trailing blanks  \t \n \t\n   ",
	"decomposed: e\u0301 a\u0308 \u1112\u1161\u11ab n\u0303\n",
	"\r\n\rcarriage\r\n\n\r",
	"no end of line",
	"\x00\x01\x1b[31mred\x1b[0m\x7f\u0085",
	"日本語 🙂 👩‍👩‍👧 \u2028 \u202e \n",
	"\n",
	"%s %d ${x} `id` 'quotes' \"double\" \\back\\n",
}

// sizes are those at which buffers end.
var sizes = []int{4 << 10, 64 << 10, 1 << 20}

// unit is what long outputs are made of; 1,000 bytes without a line's end.
var unit = strings.Repeat("0123456789", 100)

// long returns steps that write n bytes, in lines or without a single one.
func (a alphabet) long(kind codeinterp.Kind, n int, inLines bool) []step {
	if !a.repeats {
		n = min(n, 5000)
	}
	u := unit
	if inLines {
		u = unit[:len(unit)-1] + "\n"
	}
	if !a.repeats || n < 2*len(u) {
		return []step{{kind: kind, text: strings.Repeat(u, n/len(u)+1)[:n]}}
	}
	list := []step{{kind: kind, text: u, times: n / len(u)}}
	if rest := n % len(u); rest > 0 {
		list = append(list, step{kind: kind, text: u[:rest]})
	}
	return list
}

// richBundle has five types, as given by a program that sorts nothing.
func richBundle() []codeinterp.Representation {
	return []codeinterp.Representation{
		{MIME: "text/plain", Data: []byte("plain e\u0301 \n ")},
		{MIME: "text/html", Data: []byte("<b>rich</b>\r\n")},
		{MIME: "application/json", Data: []byte(`{"b":[1,2.5,null],"a":"é"}`)},
		{MIME: "image/png", Data: PNG()},
		{MIME: "text/markdown", Data: []byte("# *title*  \n")},
	}
}

// fixed are the programs that are tried with every seed: each edge at least
// once.
func (a alphabet) fixed() []generated {
	out := func(text string) step { return step{kind: codeinterp.Stdout, text: text} }
	errs := func(text string) step { return step{kind: codeinterp.Stderr, text: text} }
	var list []generated
	for i, text := range a.texts {
		list = append(list, generated{steps: []step{out(text), errs(a.texts[(i+1)%len(a.texts)])}})
	}
	for i, n := range a.sizes {
		list = append(list,
			generated{steps: append(a.long(codeinterp.Stdout, n+1, false), a.long(codeinterp.Stderr, n, true)...)},
			generated{steps: append(a.long(codeinterp.Stderr, n+i-1, false), a.long(codeinterp.Stdout, n-1, true)...)})
	}
	if a.raw {
		list = append(list, generated{steps: []step{{kind: codeinterp.Stdout, raw: true}, errs("e"), {kind: codeinterp.Stdout, raw: true}}})
	}
	if a.shows {
		rich := step{kind: codeinterp.Display, bundle: richBundle()}
		list = append(list, generated{steps: []step{errs("before"), rich, errs("after")}},
			generated{steps: []step{out("before"), rich, rich, out("after")}})
	}
	text := []step{out("before\n"), errs("before\n")}
	if a.values {
		list = append(list, generated{end: programEnd{valued: true, number: 7}}, generated{steps: text, end: programEnd{valued: true, number: 8}})
	}
	if a.p.Fail != nil {
		list = append(list, generated{steps: text, end: programEnd{failed: true, message: "two\nlines e\u0301 "}})
	}
	if a.p.Exit != nil {
		list = append(list, generated{steps: text, end: programEnd{exited: true, code: 200}}, generated{end: programEnd{exited: true}})
	}
	for i := range list {
		list[i].unseen = i%2 == 0
	}
	return list
}

// random returns a program by chance.
func (a alphabet) random(r *rand.Rand) generated {
	g := generated{unseen: r.IntN(2) == 0}
	kinds := []codeinterp.Kind{codeinterp.Stdout, codeinterp.Stderr}
	if a.shows {
		kinds = append(kinds, codeinterp.Display)
	}
	kind := kinds[r.IntN(len(kinds))]
	for range 1 + r.IntN(5) {
		if r.IntN(3) == 0 {
			kind = kinds[r.IntN(len(kinds))]
		}
		g.steps = append(g.steps, a.randomStep(r, kind)...)
	}
	switch n := r.IntN(8); {
	case n < 3 && a.values:
		g.end = programEnd{valued: true, number: r.IntN(1 << 40)}
	case n == 3 && a.p.Fail != nil:
		g.end = programEnd{failed: true, message: "failure " + fmt.Sprint(r.IntN(1000))}
	case n == 4 && a.p.Exit != nil:
		g.end = programEnd{exited: true, code: r.IntN(256)}
	}
	return g
}

func (a alphabet) randomStep(r *rand.Rand, kind codeinterp.Kind) []step {
	if kind == codeinterp.Display {
		bundle := richBundle()
		r.Shuffle(len(bundle), func(i, j int) { bundle[i], bundle[j] = bundle[j], bundle[i] })
		bundle = bundle[:1+r.IntN(len(bundle))]
		// Programs.Show is promised one.
		if !slices.ContainsFunc(bundle, func(rep codeinterp.Representation) bool { return rep.MIME == "text/plain" }) {
			bundle = append(bundle, codeinterp.Representation{MIME: "text/plain", Data: []byte("plain")})
		}
		return []step{{kind: kind, bundle: bundle}}
	}
	switch n := r.IntN(10); {
	case n == 0:
		return a.long(kind, a.sizes[r.IntN(len(a.sizes))]+r.IntN(3)-1, r.IntN(2) == 0)
	case n == 1:
		return a.long(kind, 1+r.IntN(10_000), r.IntN(2) == 0)
	case n == 2 && a.raw && kind == codeinterp.Stdout:
		return []step{{kind: kind, raw: true}}
	case n < 7:
		return []step{{kind: kind, text: a.texts[r.IntN(len(a.texts))]}}
	}
	return []step{{kind: kind, text: fmt.Sprintf("word %d", r.IntN(1000)) + strings.Repeat("\n", r.IntN(2))}}
}
