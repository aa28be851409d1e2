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

// An invariant holds for every run of the suite, whatever the check beside it.
type invariant struct {
	name   string
	row    int
	clause string
	holds  func(*watched) // see failf
}

func (i invariant) failure(err error) failure {
	return failure{check: i.name, clause: sentence(i.row, i.clause), err: err}
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
		holds:  func(w *watched) { must(wrappedOnce(w.err)) },
	},
	{
		name:   "ErrorDiscreet",
		clause: "no error names a path of the host",
		holds:  func(w *watched) { must(discreet(w.err)) },
	},
	{
		name:   "CallbacksSerial",
		clause: "calls of OnOutput are serial",
		holds: func(w *watched) {
			if w.overlap.Load() {
				failf("two calls of OnOutput at once")
			}
		},
	},
	{
		name:   "CallbacksEnd",
		clause: "calls of OnOutput end before the run returns",
		holds: func(w *watched) {
			if w.calls.Load() != 0 {
				failf("the run returned during a call of OnOutput")
			}
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
		name: "Duration", row: 11,
		clause: "Duration is the wall-clock time of the program, without queueing, and not less than a timeout that was reached",
		holds: func(w *watched) {
			d := w.res.Duration
			if d < 0 || d > w.wall || w.res.Status == codeinterp.StatusTimeout && d < w.opts.Timeout-early {
				failf("a Duration of %v for a run that took %v, with a timeout of %v", d, w.wall, w.opts.Timeout)
			}
		},
	},
	{
		name: "TruncationReported", row: 26,
		clause: "Truncated says which stream, how much of it there was and how much is kept, and why",
		holds: func(w *watched) {
			for _, t := range w.res.Truncated {
				if t.Stream == "" || t.Reason == "" || t.Kept < 0 || t.Bytes >= 0 && t.Kept > t.Bytes {
					failf("truncation %+v", t)
				}
			}
		},
	},
	{
		name: "ResultBounded", row: 26,
		clause: "a Result holds MaxOutput bytes of output and codeinterp.OutputOverhead beside them: names, ids, errors and tracebacks count too",
		holds:  resultBounded,
	},
}

func statusAndExitCode(w *watched) {
	code := w.res.ExitCode
	ok := map[codeinterp.Status]bool{
		codeinterp.StatusOK:       code == 0,
		codeinterp.StatusError:    code != 0,
		codeinterp.StatusTimeout:  code == codeinterp.ExitTimeout,
		codeinterp.StatusCanceled: code == codeinterp.ExitCanceled,
		codeinterp.StatusNotRun:   code == codeinterp.ExitNotRun,
		// Linux has 64 signals.
		codeinterp.StatusLost: code > 128 && code < 128+65 || code != 0 && w.res.Cause == codeinterp.CauseExit,
	}[w.res.Status]
	if !ok {
		failf("status %q with exit code %d", w.res.Status, code)
	}
}

func statusAndError(w *watched) {
	ok := w.err == nil
	switch w.res.Status {
	case codeinterp.StatusCanceled, codeinterp.StatusNotRun:
		ok = !ok
	case codeinterp.StatusLost:
		ok = ok || errors.Is(w.err, codeinterp.ErrClosed) || errors.Is(w.err, codeinterp.ErrContext)
	}
	// Or what became of the program is not known.
	if !ok && (w.res.Status == codeinterp.StatusOK || !errors.Is(w.err, codeinterp.ErrUnavailable)) {
		failf("status %q with error %v", w.res.Status, w.err)
	}
}

// wrappedOnce wants one *codeinterp.Error in the chain, at its head.
func wrappedOnce(err error) error {
	if err == nil {
		return nil
	}
	first, ok := err.(*codeinterp.Error)
	if !ok || first.Provider == "" || first.Op == "" || first.Err == nil {
		return fmt.Errorf("%#v, want a *codeinterp.Error with Provider, Op and Err", err)
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

func callbacksSeeAll(w *watched) {
	want, ok := w.replay()
	if !ok || len(w.res.Truncated) > 0 {
		return
	}
	got := joined(w.res.Outputs)
	// What a run prints while it is stopped from outside may come too late.
	stopped := w.res.Cause == codeinterp.CauseInterrupt ||
		slices.Contains([]codeinterp.Status{codeinterp.StatusTimeout, codeinterp.StatusCanceled, codeinterp.StatusLost}, w.res.Status)
	if stopped && w.res.CallbackErr != nil && len(want) <= len(got) {
		got = slices.Clone(got[:len(want)])
		if n := len(want) - 1; n >= 0 && isStream(want[n].Kind) {
			got[n].Data = got[n].Data[:min(len(got[n].Data), len(want[n].Data))]
		}
	}
	about("the Result beside what OnOutput saw", func() { must(sameOutputs(got, want)) })
}

func resultBounded(w *watched) {
	limit := w.opts.MaxOutput
	if limit < 0 {
		return
	}
	if limit == 0 {
		limit = codeinterp.DefaultMaxOutput
	}
	size, beside := 0, 0
	for _, o := range w.res.Outputs {
		size += o.Size()
		beside += len(o.DisplayID)
		for _, rep := range o.Bundle {
			beside += len(rep.MIME)
		}
	}
	if pe := w.res.Error; pe != nil {
		beside += len(pe.Name) + len(pe.Message) + len(pe.MissingModule)
		for _, line := range slices.Concat(pe.Traceback, pe.RawTraceback) {
			beside += len(line)
		}
	}
	for _, c := range w.res.Calls {
		beside += len(c.Name) + len(c.Args) + len(c.Result) + len(c.Error)
	}
	if size > limit || beside > codeinterp.OutputOverhead {
		failf("%d bytes of output with a MaxOutput of %d, and %d beside, want at most %d", size, limit, beside, codeinterp.OutputOverhead)
	}
}

// outputLine shows an output in one line.
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

func outputsWellFormed(w *watched) {
	list := w.res.Outputs
	for i, o := range list {
		ok := len(o.Data) > 0 && len(o.Bundle) == 0 && o.Value == nil
		switch o.Kind {
		case codeinterp.Stdout, codeinterp.Stderr:
			ok = ok && (i == 0 || list[i-1].Kind != o.Kind || list[i-1].Late != o.Late || o.Dropped > 0)
		case codeinterp.Display, codeinterp.Value:
			ok = len(o.Bundle) > 0 && len(o.Data) == 0 && !o.Update && (o.Value == nil || json.Valid(o.Value)) && (o.Metadata == nil || json.Valid(o.Metadata))
		default:
			ok = false
		}
		for _, rep := range o.Bundle {
			ok = ok && rep.MIME != "" && (!codeinterp.IsJSON(rep.MIME) || json.Valid(rep.Data)) && (!codeinterp.IsText(rep.MIME) || utf8.Valid(rep.Data))
		}
		if !ok {
			failf("output %d is malformed, or not joined to the one before: %s %+v", i, outputLine(o), o)
		}
	}
}
