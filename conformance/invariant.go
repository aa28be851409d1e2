package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// An invariant holds for every run, whichever check made it.
type invariant struct {
	name   string
	row    int
	clause string
	holds  func(*watched, *env) error // nil: found by other means
}

func (i invariant) failure(err error) Failure {
	return Failure{Group: "invariants", Check: i.name, Clause: sentence(i.row, i.clause), Err: err}
}

var invariants = []invariant{
	{
		name: "StatusAndExitCode", row: 16,
		clause: "each Status goes with its exit code: ok 0, error not 0, timeout 124, canceled 130, lost 128 + signal or the code that the process exited with, not_run -1",
		holds:  statusAndExitCode,
	},
	{
		name: "StatusAndError", row: 16,
		clause: "a Go error goes with canceled and not_run, and with lost only for ErrClosed and ErrContext, but for ErrUnavailable where the end is not known; a failing program is a Result with a nil error",
		holds:  statusAndError,
	},
	{
		name:   "ErrorWrapped",
		clause: "every error is one *codeinterp.Error with Provider and Op, put around the cause once",
		holds: func(w *watched, e *env) error {
			return wrappedOnce(w.err)
		},
	},
	{
		name:   "ErrorDiscreet",
		clause: "no error names a path of the host",
		holds: func(w *watched, e *env) error {
			return discreet(w.err)
		},
	},
	{
		name:   "CallbacksSerial",
		clause: "calls of OnOutput are serial",
		holds: func(w *watched, e *env) error {
			if w.overlap.Load() {
				return errors.New("two calls of OnOutput at once")
			}
			return nil
		},
	},
	{
		name:   "CallbacksEnd",
		clause: "calls of OnOutput end before the run returns",
		holds: func(w *watched, e *env) error {
			if w.calls.Load() != 0 {
				return errors.New("the run returned during a call of OnOutput")
			}
			return nil
		},
	},
	{
		name:   "CallbacksSeeAll",
		clause: "OnOutput sees every output, in order: with updates and clears applied, that is the Result's Outputs; only what a run prints while it is being ended may come too late, and CallbackErr says so",
		holds:  callbacksSeeAll,
	},
	{
		name:   "OutputsWellFormed",
		clause: "Outputs have the fields of their kind: streams Data, displays and values a bundle with decoded data; a Result has updates and clears applied and the chunks of a stream joined",
		holds:  outputsWellFormed,
	},
	{
		name:   "ChunksEndWhole",
		clause: "OnOutput sees chunks that never end within a UTF-8 sequence of valid text",
		holds:  chunksEndWhole,
	},
	{
		name:   "StateLostInContexts",
		clause: "StateLost and ExecutionCount belong to contexts: RunCode has no state to lose",
		holds: func(w *watched, e *env) error {
			if w.context == "" && w.res.StateLost {
				return errors.New("RunCode reports StateLost")
			}
			if w.res.ExecutionCount < 0 {
				return fmt.Errorf("ExecutionCount %d", w.res.ExecutionCount)
			}
			return nil
		},
	},
	{
		name: "Duration", row: 11,
		clause: "Duration is the wall-clock time of the program, without queueing, and not less than a timeout that was reached",
		holds: func(w *watched, e *env) error {
			if w.res.Duration < 0 || w.res.Duration > w.wall {
				return fmt.Errorf("a Duration of %v for a run that took %v", w.res.Duration, w.wall)
			}
			if w.res.Status == codeinterp.StatusTimeout && w.res.Duration < w.opts.Timeout-early {
				return fmt.Errorf("a Duration of %v for a run that reached its timeout of %v", w.res.Duration, w.opts.Timeout)
			}
			return nil
		},
	},
	{
		name: "TruncationReported", row: 26,
		clause: "Truncated says which stream, how much of it there was and how much is kept, and why",
		holds:  truncationTold,
	},
	{
		name: "ResultBounded", row: 26,
		clause: "a Result holds MaxOutput bytes of output and codeinterp.OutputOverhead beside them: names, ids, errors and tracebacks count too",
		holds:  resultBounded,
	},
}

func statusAndExitCode(w *watched, e *env) error {
	code := w.res.ExitCode
	ok := false
	switch w.res.Status {
	case codeinterp.StatusOK:
		ok = code == 0
	case codeinterp.StatusError:
		ok = code != 0
	case codeinterp.StatusTimeout:
		ok = code == codeinterp.ExitTimeout
	case codeinterp.StatusCanceled:
		ok = code == codeinterp.ExitCanceled
	case codeinterp.StatusLost:
		// Linux has 64 signals.
		ok = code > 128 && code < 128+65 || code != 0 && w.res.Cause == codeinterp.CauseExit
	case codeinterp.StatusNotRun:
		ok = code == codeinterp.ExitNotRun
	}
	if !ok {
		return fmt.Errorf("status %q with exit code %d", w.res.Status, code)
	}
	return nil
}

func statusAndError(w *watched, e *env) error {
	if errors.Is(w.err, codeinterp.ErrUnavailable) && w.res.Status != codeinterp.StatusOK {
		return nil // what became of the program is not known
	}
	switch w.res.Status {
	case codeinterp.StatusCanceled, codeinterp.StatusNotRun:
		if w.err == nil {
			return fmt.Errorf("status %q with a nil error", w.res.Status)
		}
	case codeinterp.StatusLost:
		if w.err != nil && !errors.Is(w.err, codeinterp.ErrClosed) && !errors.Is(w.err, codeinterp.ErrContext) {
			return fmt.Errorf("status %q with error %v", w.res.Status, w.err)
		}
	default:
		if w.err != nil {
			return fmt.Errorf("status %q with error %v", w.res.Status, w.err)
		}
	}
	return nil
}

// wrappedOnce wants one *codeinterp.Error in the chain, at its head.
func wrappedOnce(err error) error {
	if err == nil {
		return nil
	}
	first, ok := err.(*codeinterp.Error)
	switch {
	case !ok:
		return fmt.Errorf("%T (%v), want *codeinterp.Error", err, err)
	case first.Provider == "" || first.Op == "":
		return fmt.Errorf("%#v, want Provider and Op", first)
	case first.Err == nil:
		return errors.New("*codeinterp.Error without a cause")
	}
	if again, ok := errors.AsType[*codeinterp.Error](first.Err); ok {
		return fmt.Errorf("%v, wrapped again around %v", err, again)
	}
	return nil
}

// discreet wants an error without the directories that this process works in.
func discreet(err error) error {
	if err == nil {
		return nil
	}
	home, _ := os.UserHomeDir()
	cwd, _ := os.Getwd()
	for _, dir := range []string{home, cwd, os.TempDir()} {
		// Not the root, with which every path begins.
		if len(dir) > 1 && strings.Contains(err.Error(), dir+string(filepath.Separator)) {
			return fmt.Errorf("an error with a path of the host: %v", err)
		}
	}
	return nil
}

func callbacksSeeAll(w *watched, e *env) error {
	want, ok := w.replay()
	if !ok || len(w.res.Truncated) > 0 {
		return nil
	}
	got := joined(w.res.Outputs)
	if w.ended() && w.res.CallbackErr != nil {
		got = shortened(got, want)
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("the Result lacks output %d, which OnOutput saw: %s", i, outputLine(want[i]))
		case i >= len(want):
			return fmt.Errorf("OnOutput did not see output %d: %s", i, outputLine(got[i]))
		case !same(got[i], want[i]):
			return fmt.Errorf("output %d is %s, and OnOutput saw %s", i, outputLine(got[i]), outputLine(want[i]))
		}
	}
	return nil
}

// ended reports whether the run was stopped from outside. What it prints while
// it is being ended may come too late for OnOutput, if CallbackErr says so.
func (w *watched) ended() bool {
	switch w.res.Status {
	case codeinterp.StatusTimeout, codeinterp.StatusCanceled, codeinterp.StatusLost:
		return true
	}
	return w.res.Cause == codeinterp.CauseInterrupt
}

func truncationTold(w *watched, e *env) error {
	for _, t := range w.res.Truncated {
		if t.Stream == "" || t.Reason == "" || t.Kept < 0 || t.Bytes >= 0 && t.Kept > t.Bytes {
			return fmt.Errorf("truncation %+v", t)
		}
	}
	if limit := w.opts.MaxOutput; limit >= 0 {
		if limit == 0 {
			limit = codeinterp.DefaultMaxOutput
		}
		n := 0
		for _, o := range w.res.Outputs {
			n += o.Size()
		}
		if n > limit {
			return fmt.Errorf("%d bytes of output kept with a MaxOutput of %d", n, limit)
		}
	}
	return nil
}

func resultBounded(w *watched, e *env) error {
	if w.opts.MaxOutput < 0 {
		return nil
	}
	n := 0 // beside the bytes of output, which TruncationTold counts
	for _, o := range w.res.Outputs {
		n += len(o.DisplayID)
		for _, rep := range o.Bundle {
			n += len(rep.MIME)
		}
	}
	if pe := w.res.Error; pe != nil {
		n += len(pe.Name) + len(pe.Message) + len(pe.MissingModule)
		for _, line := range slices.Concat(pe.Traceback, pe.RawTraceback) {
			n += len(line)
		}
	}
	for _, c := range w.res.Calls {
		n += len(c.Name) + len(c.Args) + len(c.Result) + len(c.Error)
	}
	if n > codeinterp.OutputOverhead {
		return fmt.Errorf("%d bytes beside MaxOutput, want at most %d", n, codeinterp.OutputOverhead)
	}
	return nil
}

// outputLine tells an output in one line.
func outputLine(o codeinterp.Output) string {
	var b strings.Builder
	b.WriteString(o.Kind.String())
	if o.Late {
		b.WriteString(" late")
	}
	if isStream(o.Kind) {
		return b.String() + " " + quote(string(o.Data))
	}
	for _, rep := range o.Bundle {
		fmt.Fprintf(&b, " %s %s", rep.MIME, quote(string(rep.Data)))
	}
	return b.String()
}

// shortened cuts list to what there is of live.
func shortened(list, live []codeinterp.Output) []codeinterp.Output {
	if len(live) > len(list) {
		return list
	}
	list = slices.Clone(list[:len(live)])
	if n := len(live) - 1; n >= 0 && isStream(live[n].Kind) && len(live[n].Data) < len(list[n].Data) {
		list[n].Data = list[n].Data[:len(live[n].Data)]
	}
	return list
}

func outputsWellFormed(w *watched, e *env) error {
	list := w.res.Outputs
	for i, o := range list {
		if err := wellFormed(o); err != nil {
			return fmt.Errorf("output %d, %s: %w", i, outputLine(o), err)
		}
		if i > 0 && isStream(o.Kind) && list[i-1].Kind == o.Kind && list[i-1].Late == o.Late && o.Dropped == 0 {
			return fmt.Errorf("outputs %d and %d are chunks of one stream, not joined", i-1, i)
		}
	}
	return nil
}

func wellFormed(o codeinterp.Output) error {
	switch o.Kind {
	case codeinterp.Stdout, codeinterp.Stderr:
		if len(o.Data) == 0 {
			return errors.New("an empty chunk")
		}
		if len(o.Bundle) > 0 || o.Value != nil {
			return errors.New("a stream with a bundle or a value")
		}
	case codeinterp.Display, codeinterp.Value:
		if len(o.Bundle) == 0 || len(o.Data) > 0 {
			return errors.New("want a bundle and no Data")
		}
		if o.Update {
			return errors.New("an Update in a Result")
		}
		return bundleWellFormed(o)
	default:
		return fmt.Errorf("kind %v in a Result", o.Kind)
	}
	return nil
}

func bundleWellFormed(o codeinterp.Output) error {
	for _, rep := range o.Bundle {
		switch {
		case rep.MIME == "":
			return errors.New("a representation without a MIME type")
		case codeinterp.IsJSON(rep.MIME) && !json.Valid(rep.Data):
			return fmt.Errorf("%s is not JSON: %s", rep.MIME, quote(string(rep.Data)))
		case codeinterp.IsText(rep.MIME) && !utf8.Valid(rep.Data):
			return fmt.Errorf("%s is not UTF-8: %s", rep.MIME, quote(string(rep.Data)))
		}
	}
	if o.Value != nil && !json.Valid(o.Value) {
		return fmt.Errorf("the Value is not JSON: %s", quote(string(o.Value)))
	}
	if o.Metadata != nil && !json.Valid(o.Metadata) {
		return fmt.Errorf("the Metadata is not JSON: %s", quote(string(o.Metadata)))
	}
	return nil
}

// chunksEndWhole looks at the chunks of a stream whose text is valid as a whole.
func chunksEndWhole(w *watched, e *env) error {
	if w.size < 0 || w.size > keepLive {
		return nil
	}
	var all [2][]byte
	for _, o := range w.live {
		if isStream(o.Kind) {
			all[o.Kind-codeinterp.Stdout] = append(all[o.Kind-codeinterp.Stdout], o.Data...)
		}
	}
	valid := [2]bool{utf8.Valid(all[0]), utf8.Valid(all[1])}
	for _, o := range w.live {
		if isStream(o.Kind) && valid[o.Kind-codeinterp.Stdout] && !utf8.Valid(o.Data) {
			return fmt.Errorf("chunk %s of a stream that is valid UTF-8", quote(string(o.Data)))
		}
	}
	return nil
}
