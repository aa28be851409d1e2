package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/toolcell/toolcell/codeinterp"
)

// model predicts the Result of a generated program. line is where it fails.
// What the model cannot know is left out: Duration and, in an error, Traceback.
func (g generated) model(p *Programs, line int) codeinterp.Result {
	res := codeinterp.Result{Status: codeinterp.StatusOK}
	for _, s := range g.steps {
		o := codeinterp.Output{Kind: s.kind}
		if s.kind == codeinterp.Display {
			o.Bundle = append(o.Bundle, s.bundle...)
			codeinterp.SortBundle(o.Bundle)
		} else {
			o.Data = s.data()
		}
		res.Outputs = append(res.Outputs, o)
	}
	switch {
	case g.end.valued:
		n := []byte(strconv.Itoa(g.end.number))
		res.Outputs = append(res.Outputs, codeinterp.Output{Kind: codeinterp.Value, Value: n,
			Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: n}}})
	case g.end.failed:
		res.Status, res.ExitCode = codeinterp.StatusError, 1
		res.Error = &codeinterp.ProgramError{Name: p.FailName, Message: g.end.message, Line: line}
	case g.end.exited && g.end.code != 0:
		res.Status, res.ExitCode = codeinterp.StatusError, g.end.code
	}
	res.Outputs = joined(res.Outputs)
	return res
}

// compare tells the first thing in which a Result is not as predicted.
func (e *env) compare(got, want codeinterp.Result, exited bool) error {
	if got.Status != want.Status || got.ExitCode != want.ExitCode || !exited && (got.Cause != want.Cause || got.StateLost != want.StateLost) {
		return fmt.Errorf("%s, want %s", describe(got), describe(want))
	}
	if len(got.Truncated) > 0 || got.CallbackErr != nil {
		return fmt.Errorf("got Truncated %+v and CallbackErr %v, want none", got.Truncated, got.CallbackErr)
	}
	if err := sameOutputs(got.Outputs, want.Outputs); err != nil {
		return err
	}
	if exited { // a runtime may call an exit an error or not, and end with it or not
		return nil
	}
	return e.sameError(got.Error, want.Error)
}

func (e *env) sameError(got, want *codeinterp.ProgramError) error {
	switch {
	case (got == nil) != (want == nil):
		return fmt.Errorf("got Error %v, want %v", got, want)
	case want == nil:
		return nil
	case want.Name != "" && got.Name != want.Name || got.Message != want.Message:
		return fmt.Errorf("got Error %q, want %q", got, want)
	case !e.s.cfg.lacks(ErrorLine, e.language) && got.Line != want.Line:
		return fmt.Errorf("got an error in line %d, want line %d", got.Line, want.Line)
	}
	return nil
}

// errOrder is a difference that may come of outputs that were close in time.
var errOrder = errors.New("not whole, or in another order")

func sameOutputs(got, want []codeinterp.Output) error {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("%w: %d outputs, want %d; output %d to be %s", errOrder, len(got), len(want), i, outputLine(want[i]))
		case i >= len(want):
			return fmt.Errorf("%w: %d outputs, want %d; output %d is %s", errOrder, len(got), len(want), i, outputLine(got[i]))
		case got[i].Kind != want[i].Kind:
			return fmt.Errorf("%w: output %d is %s, want %s", errOrder, i, outputLine(got[i]), outputLine(want[i]))
		}
		if err := sameOutput(got[i], want[i]); err != nil {
			return fmt.Errorf("output %d, %s: %w", i, got[i].Kind, err)
		}
	}
	return nil
}

func sameOutput(got, want codeinterp.Output) error {
	if !bytes.Equal(got.Data, want.Data) {
		difference := differenceOf(got.Data, want.Data)
		if bytes.HasPrefix(want.Data, got.Data) || bytes.HasPrefix(got.Data, want.Data) {
			return fmt.Errorf("%w: %s", errOrder, difference) // another stream may stand between
		}
		return errors.New(difference)
	}
	if !bytes.Equal(got.Value, want.Value) {
		return fmt.Errorf("the value is %s, want %s", got.Value, want.Value)
	}
	if got.Late || got.Dropped != 0 || len(got.Bundle) != len(want.Bundle) {
		return fmt.Errorf("%s (late %v, dropped %d), want %s", outputLine(got), got.Late, got.Dropped, outputLine(want))
	}
	for i, rep := range want.Bundle {
		has := got.Bundle[i]
		if has.MIME != rep.MIME || !sameData(rep.MIME, has.Data, rep.Data) {
			return fmt.Errorf("representation %d is %s %s, want %s %s", i, has.MIME, quote(string(has.Data)), rep.MIME, quote(string(rep.Data)))
		}
	}
	return nil
}

// sameData compares what JSON stands for, and all else byte by byte.
func sameData(mime string, got, want []byte) bool {
	if !codeinterp.IsJSON(mime) {
		return bytes.Equal(got, want)
	}
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal(want, &b) == nil && reflect.DeepEqual(a, b)
}

// differenceOf shows the surroundings of the first byte that differs.
func differenceOf(got, want []byte) string {
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	around := func(b []byte) string { return quote(string(b[max(0, at-20):min(len(b), at+40)])) }
	return fmt.Sprintf("%d bytes, want %d; from byte %d on %s, want %s", len(got), len(want), max(0, at-20), around(got), around(want))
}
