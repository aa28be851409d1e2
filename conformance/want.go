package conformance

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// failed is the panic that ends a check with an error.
type failed struct{ error }

// failf ends the check. Like must and the functions that begin with want it panics,
// and only the goroutine of the check may call it; elsewhere see try.
func failf(format string, args ...any) { panic(failed{fmt.Errorf(format, args...)}) }

// must ends the check with an error, if there is one.
func must(err error) {
	if err != nil {
		panic(failed{err})
	}
}

// need returns v, unless there is an error, which ends the check.
func need[T any](v T, err error) T {
	must(err)
	return v
}

// try calls f and returns the error that ended it, or its panic as an error.
func try(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failed:
			err = p.error
		default:
			buf := make([]byte, 2<<10) // of the place, which is at the top
			err = fmt.Errorf("panic: %v\n%s", p, buf[:runtime.Stack(buf, false)])
		}
	}()
	f()
	return nil
}

// about says what a failure of f is about.
func about(what string, f func()) {
	if err := try(f); err != nil {
		failf("%s: %w", what, err)
	}
}

// wantStatus wants a run that ended in a given way, with a nil error.
func wantStatus(res codeinterp.Result, err error, status codeinterp.Status, exit int) {
	if err != nil {
		failf("error %w, want none (%s)", err, describe(res))
	}
	if res.Status != status || res.ExitCode != exit {
		failf("%s, want %q (exit %d)", describe(res), status, exit)
	}
}

// wantOK wants a run that ended normally.
func wantOK(res codeinterp.Result, err error) { wantStatus(res, err, codeinterp.StatusOK, 0) }

// wantErr wants an error that is one, and a Result that ended in a given way.
func wantErr(res codeinterp.Result, err, is error, status codeinterp.Status, exit int) {
	if !errors.Is(err, is) {
		failf("error %v, want one that is %q (%s)", err, is, describe(res))
	}
	wantStatus(res, nil, status, exit)
}

// wantNotRun wants a program that never started, for a given reason.
func wantNotRun(res codeinterp.Result, err, is error) {
	wantErr(res, err, is, codeinterp.StatusNotRun, codeinterp.ExitNotRun)
	if len(res.Outputs) > 0 || res.Error != nil || res.Duration != 0 {
		failf("a Result with more than its status (%s), want codeinterp.NotRun()", describe(res))
	}
}

// wantText compares text.
func wantText(what, got, want string) {
	if got != want {
		failf("%s: got %s, want %s", what, quote(got), quote(want))
	}
}

// wantOpError wants the error of an operation that is no run.
func wantOpError(err, is error) {
	if !errors.Is(err, is) {
		failf("error %v, want one that is %q", err, is)
	}
	must(wrappedOnce(err))
	must(discreet(err))
}

// nilOr wants no error, or one that is the given one.
func nilOr(err, is error) {
	if err != nil {
		wantOpError(err, is)
	}
}

// describe shows a Result in one line.
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
