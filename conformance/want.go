package conformance

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// want compares what every clause compares: how a run ended.
func want(res codeinterp.Result, status codeinterp.Status, exit int) error {
	if res.Status == status && res.ExitCode == exit {
		return nil
	}
	return fmt.Errorf("%s, want %q (exit %d)", describe(res), status, exit)
}

// wantOK wants a run that ended normally.
func wantOK(res codeinterp.Result, err error) error {
	if err != nil {
		return fmt.Errorf("error %w, want none (%s)", err, describe(res))
	}
	return want(res, codeinterp.StatusOK, 0)
}

// wantStatus wants a run that ended in a given way, with a nil error.
func wantStatus(res codeinterp.Result, err error, status codeinterp.Status, exit int) error {
	if err != nil {
		return fmt.Errorf("error %w, want none (%s)", err, describe(res))
	}
	return want(res, status, exit)
}

// wantErr wants an error that is one, and a Result that ended in a given way.
func wantErr(res codeinterp.Result, err, is error, status codeinterp.Status, exit int) error {
	if !errors.Is(err, is) {
		return fmt.Errorf("error %v, want one that is %q (%s)", err, is, describe(res))
	}
	return want(res, status, exit)
}

// wantNotRun wants a program that never started, for a given reason.
func wantNotRun(res codeinterp.Result, err, is error) error {
	if e := wantErr(res, err, is, codeinterp.StatusNotRun, codeinterp.ExitNotRun); e != nil {
		return e
	}
	if len(res.Outputs) > 0 || res.Error != nil || res.Duration != 0 {
		return fmt.Errorf("a Result with more than its status (%s), want codeinterp.NotRun()", describe(res))
	}
	return nil
}

// wantText compares text.
func wantText(what, got, want string) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s: got %s, want %s", what, quote(got), quote(want))
}

// describe tells a Result in one line.
func describe(res codeinterp.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "status %q (exit %d", res.Status, res.ExitCode)
	if res.Cause != "" {
		fmt.Fprintf(&b, ", cause %s", res.Cause)
	}
	if res.StateLost {
		b.WriteString(", state lost")
	}
	b.WriteString(")")
	if res.Error != nil {
		fmt.Fprintf(&b, " error %s", quote(res.Error.Error()))
	}
	if out := res.Stdout(); out != "" {
		fmt.Fprintf(&b, " stdout %s", quote(out))
	}
	if out := res.Stderr(); out != "" {
		fmt.Fprintf(&b, " stderr %s", quote(out))
	}
	return b.String()
}

// quote quotes text for a report, shortened in the middle.
func quote(s string) string {
	const most = 300
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q...%d bytes...%q", s[:most/2], len(s)-most, s[len(s)-most/2:])
}

// wantOpError wants the error of an operation that is no run.
func wantOpError(err, is error) error {
	if !errors.Is(err, is) {
		return fmt.Errorf("error %v, want one that is %q", err, is)
	}
	return errors.Join(wrappedOnce(err), discreet(err))
}

// must ends the check with an error, if there is one. Only the goroutine of the check
// may call it.
func must(err error) {
	if err != nil {
		panic(failed{err})
	}
}

// failed is the panic of must, which safely turns into the error.
type failed struct{ error }

// need returns v, unless there is an error, which ends the check.
func need[T any](v T, err error) T {
	must(err)
	return v
}

// about says what an error is about.
func about(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
