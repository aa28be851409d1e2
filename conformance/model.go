package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func modelChecks() []check {
	return []check{
		{
			name: "GeneratedPrograms", row: 21, scope: everyRun,
			clause: "a Result is what the program made, byte by byte and in order, with an OnOutput and without: every stream, display, value and error of it, and nothing else",
			run:    generatedPrograms,
		},
	}
}

// How long programs are made at random, after the fixed ones.
const (
	randomTime = time.Second
	randomRuns = 60
)

func generatedPrograms(e *env) {
	seed := e.s.cfg.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	r := rand.New(rand.NewPCG(seed, 0))
	all, ends := e.steps(), e.ends()
	for i := range max(len(all), len(ends)) { // each at least once
		e.asModeled([]step{all[i%len(all)], all[(i+1)%len(all)], ends[i%len(ends)]}, i%2 == 0)
	}
	end := time.Now().Add(randomTime)
	// Three at least, however busy the machine is.
	for n := 0; n < randomRuns && (n < 3 || time.Now().Before(end)); n++ {
		var program []step
		for range 1 + r.IntN(5) {
			program = append(program, all[r.IntN(len(all))])
		}
		program = append(program, ends[r.IntN(len(ends))])
		about(fmt.Sprintf("seed %d", seed), func() { e.asModeled(program, r.IntN(2) == 0) })
	}
}

// A step is a part of a generated program and what a Result has of it.
type step struct {
	code  string
	out   codeinterp.Output // of kind 0 if there is none
	exits bool
	exit  int
	err   *codeinterp.ProgramError
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
	"%s %d ${x} $HOME `id` 'quotes' \"double\" \\back\\n",
	strings.Repeat("long line without an end ", 1000),
}

// steps lists what programs can be made of here: each text in each stream, outputs
// of the sizes at which buffers end, and displays.
func (e *env) steps() (list []step) {
	add := func(kind codeinterp.Kind, code, data string) {
		list = append(list, step{code: code, out: codeinterp.Output{Kind: kind, Data: []byte(data)}})
	}
	for _, text := range awkward {
		add(codeinterp.Stdout, e.p.Print(text), text)
		add(codeinterp.Stderr, e.p.PrintErr(text), text)
	}
	for i, n := range []int{4 << 10, 64 << 10, 1 << 20} {
		if e.p.Repeat == nil || e.lacks(FullOutput) && n > 64<<10 {
			break
		}
		unit, rest := strings.Repeat("0123456789", 99), strings.Repeat("r", 1+i)
		if i == 1 {
			unit += "\n"
		}
		text := strings.Repeat(unit, n/len(unit))
		add(codeinterp.Stdout, lines(e.p.Repeat(codeinterp.Stdout, unit, n/len(unit)), e.p.Print(rest)), text+rest)
		add(codeinterp.Stderr, lines(e.p.Repeat(codeinterp.Stderr, unit, n/len(unit)), e.p.PrintErr(rest)), text+rest)
	}
	if e.p.Bytes != "" {
		add(codeinterp.Stdout, e.p.Bytes, allBytes())
	}
	if e.p.Show != nil && !e.lacks(Displays) {
		// As given by a program that sorts nothing.
		bundle := []codeinterp.Representation{
			{MIME: "text/plain", Data: []byte("plain e\u0301 \n ")},
			{MIME: "text/html", Data: []byte("<b>rich</b>\r\n")},
			{MIME: "application/json", Data: []byte(`{"b":[1,2.5,null],"a":"é"}`)},
			{MIME: "image/png", Data: PNG()},
			{MIME: "text/markdown", Data: []byte("# *title*  \n")},
		}
		for n := 1; n <= len(bundle); n += 2 {
			sorted := slices.Clone(bundle[:n])
			codeinterp.SortBundle(sorted)
			list = append(list, step{code: e.p.Show(bundle[:n]), out: codeinterp.Output{Kind: codeinterp.Display, Bundle: sorted}})
		}
	}
	return list
}

// ends lists how programs can end here.
func (e *env) ends() []step {
	list := []step{{code: e.p.Comment}}
	if e.p.Number != nil && !e.lacks(Values) {
		for _, n := range []int{7, 1 << 40} {
			text := []byte(strconv.Itoa(n))
			list = append(list, step{code: e.p.Number(n), out: codeinterp.Output{Kind: codeinterp.Value, Value: text,
				Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: text}}}})
		}
	}
	if e.p.Fail != nil {
		const message = "two\nlines e\u0301 "
		list = append(list, step{code: e.p.Fail(message), exit: 1, err: &codeinterp.ProgramError{Name: e.p.FailName, Message: message}})
	}
	if e.p.Exit != nil {
		list = append(list, step{code: e.p.Exit(200), exits: true, exit: 200}, step{code: e.p.Exit(0), exits: true})
	}
	return list
}

// gaps are how long a program waits between outputs of several kinds. A
// provider that reads each by a way of its own may mix up what is closer; what
// it mixes up at any distance is a failure.
var gaps = []time.Duration{0, 100 * time.Millisecond, 400 * time.Millisecond, 2 * time.Second}

// asModeled runs a program and compares its Result with what its steps are to make.
func (e *env) asModeled(program []step, unseen bool) {
	where := group{e.language, e.way}
	for first := e.s.gap[where]; ; first++ {
		opts := &codeinterp.RunOptions{} // a watch puts an OnOutput into options
		if unseen {
			opts = nil
		}
		code := joinSteps(e.p, program, gaps[first])
		res, err := e.run(code, opts)
		if err != nil {
			failf("error %w, want none (%s)", err, describe(res))
		}
		err = e.compare(res, program, 1+strings.Count(strings.TrimSuffix(code, program[len(program)-1].code), "\n"))
		if err == nil {
			return
		}
		if !errors.Is(err, errOrder) || first == len(gaps)-1 {
			failf("the program %s: %w", quote(code), err)
		}
		// What needed a distance once needs it again, but for the longer
		// ones, which a busy machine is to blame for.
		e.s.gap[where] = min(first+1, 1)
	}
}

// joinSteps returns the program's text. It waits for gap wherever the kind of output
// changes.
func joinSteps(p *Programs, program []step, gap time.Duration) string {
	var list []string
	for i, s := range program {
		if i > 0 && s.out.Kind != 0 && s.out.Kind != program[i-1].out.Kind && gap > 0 {
			list = append(list, p.Pause(gap))
		}
		list = append(list, s.code)
	}
	return strings.Join(list, "\n")
}

// compare returns the first thing in which a Result is not as a program of the steps
// makes it. What cannot be known is left out: Duration and an error's Traceback.
func (e *env) compare(got codeinterp.Result, program []step, line int) error {
	var outputs []codeinterp.Output
	for _, s := range program {
		if s.out.Kind != 0 {
			outputs = append(outputs, s.out)
		}
	}
	end := program[len(program)-1]
	status, exit := codeinterp.StatusOK, end.exit
	switch {
	case exit != 0:
		status = codeinterp.StatusError
	case end.exits && got.StateLost && got.Cause == codeinterp.CauseExit: // whether it came to its end is not known
		status, exit = codeinterp.StatusLost, codeinterp.ExitKilled
	}
	if got.Status != status || got.ExitCode != exit || !end.exits && (got.Cause != "" || got.StateLost) || len(got.Truncated) > 0 || got.CallbackErr != nil {
		return fmt.Errorf("%s, Truncated %+v, CallbackErr %v; want %q (exit %d)", describe(got), got.Truncated, got.CallbackErr, status, exit)
	}
	if err := sameOutputs(got.Outputs, joined(outputs)); err != nil || end.exits { // a runtime may call an exit an error or not
		return err
	}
	if want := end.err; (want == nil) != (got.Error == nil) ||
		want != nil && (want.Name != "" && got.Error.Name != want.Name || got.Error.Message != want.Message || !e.lacks(ErrorLine) && got.Error.Line != line) {
		return fmt.Errorf("got Error %+v, want %+v in line %d", got.Error, want, line)
	}
	return nil
}

// errOrder is a difference that may come of outputs that were close in time.
var errOrder = errors.New("not whole, or in another order")

func sameOutputs(got, want []codeinterp.Output) error {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("%w: output %d is missing: %s", errOrder, i, outputLine(want[i]))
		case i >= len(want) || got[i].Kind != want[i].Kind:
			return fmt.Errorf("%w: output %d is %s", errOrder, i, outputLine(got[i]))
		case !bytes.Equal(got[i].Data, want[i].Data) && (bytes.HasPrefix(want[i].Data, got[i].Data) || bytes.HasPrefix(got[i].Data, want[i].Data)):
			return fmt.Errorf("%w: output %d: %s", errOrder, i, difference(got[i], want[i])) // another stream may stand between
		case !sameOutput(got[i], want[i]):
			return fmt.Errorf("output %d: %s", i, difference(got[i], want[i]))
		}
	}
	return nil
}

// sameOutput compares what JSON stands for, and all else byte by byte; an id of a display
// where one is wanted.
func sameOutput(got, want codeinterp.Output) bool {
	return bytes.Equal(got.Data, want.Data) && bytes.Equal(got.Value, want.Value) && got.Late == want.Late && got.Dropped == 0 &&
		(want.DisplayID == "" || got.DisplayID == want.DisplayID && bytes.Equal(got.Metadata, want.Metadata)) &&
		slices.EqualFunc(got.Bundle, want.Bundle, func(a, b codeinterp.Representation) bool {
			var x, y any
			return a.MIME == b.MIME && (bytes.Equal(a.Data, b.Data) ||
				codeinterp.IsJSON(a.MIME) && json.Unmarshal(a.Data, &x) == nil && json.Unmarshal(b.Data, &y) == nil && reflect.DeepEqual(x, y))
		})
}

// difference shows two outputs from where their data differs on.
func difference(got, want codeinterp.Output) string {
	at := 0
	for at < min(len(got.Data), len(want.Data)) && got.Data[at] == want.Data[at] {
		at++
	}
	got.Data, want.Data = got.Data[max(0, at-20):], want.Data[max(0, at-20):]
	return fmt.Sprintf("got %s (value %s), want %s (value %s), from byte %d on", outputLine(got), got.Value, outputLine(want), want.Value, max(0, at-20))
}
