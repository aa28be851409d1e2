package conformance

import (
	"errors"
	"io"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

func attachChecks() []check {
	return []check{{
		name: "AttachKeepsState", scope: stateful, own: true, uses: variables,
		clause: "Detach waits for the run in progress; then there is no such context, and attached by its reference it has its state and no run to resume; what is no reference is ErrInvalid",
		run:    attachKeepsState,
	}, {
		name:   "CommandLeft",
		clause: "a command that is kept goes on after Leave; followed by its reference it has all of its output, reads what is input then, and has its exit code, once; what is no reference is ErrInvalid",
		run:    commandLeft,
	}}
}

func commandLeft(e *env) {
	sh, ok := codeinterp.Commands(e.ci)
	if !ok {
		return
	}
	const line = "echo first; cat; exit 3"
	follow := func(ref codeinterp.Ref) (codeinterp.Result, error) {
		o := &codeinterp.CommandOptions{Kept: &codeinterp.KeptCommand{Ref: ref}}
		o.Input = strings.NewReader("some\n")
		return sh.RunCommand(e.ctx, line, o)
	}
	res, err := follow("toolcell-no-reference")
	wantNotRun(res, err, codeinterp.ErrInvalid)
	var ref codeinterp.Ref
	leave := make(chan struct{})
	input, w := io.Pipe()
	o := &codeinterp.CommandOptions{Kept: &codeinterp.KeptCommand{Leave: leave, OnBegin: func(r codeinterp.Ref, _ int64) { ref = r }}}
	o.Input, o.OnOutput = input, func(codeinterp.Output) error {
		if ref == "" {
			return w.Close() // it is not kept, and ends here
		}
		close(leave)
		return nil
	}
	if res, err = sh.RunCommand(e.ctx, line, o); ref == "" {
		return
	}
	wantErr(res, err, codeinterp.ErrUnavailable, codeinterp.StatusLost, codeinterp.ExitKilled)
	res, err = follow(ref)
	wantStatus(res, err, codeinterp.StatusError, 3)
	wantText("the output of a command that was left", res.Stdout(), "first\nsome\n")
	res, err = follow(ref)
	wantNotRun(res, err, codeinterp.ErrContext)
}

func attachKeepsState(e *env) {
	of, ok := codeinterp.Attaches(e.ci)
	if !ok {
		return
	}
	_, err := of.Attach(e.ctx, "toolcell-no-reference")
	wantOpError(err, codeinterp.ErrInvalid)
	id, run := e.busy(lines(e.p.Pause(settle), e.p.Set("late", "v")))
	ref := need(of.Detach(e.ctx, id))
	run.wait(e.patience())
	wantOK(run.res, run.err)
	e.noContext(id)
	_, err = of.Detach(e.ctx, id)
	wantOpError(err, codeinterp.ErrContext)
	again := need(of.Attach(e.ctx, ref))
	if res, err := of.ResumeRun(e.ctx, again, nil); !errors.Is(err, codeinterp.ErrNoRun) || res.Status != codeinterp.StatusNotRun {
		failf("resuming no run is %v, %s; want ErrNoRun", err, describe(res))
	}
	res := e.okIn(again, e.p.Get("late"), nil)
	if wantText("the variable", res.Stdout(), "v\n"); res.StateLost {
		failf("the state of a context that was attached counts as lost")
	}
	must(e.stateful().DeleteContext(e.ctx, again))
	_, err = of.Attach(e.ctx, ref)
	wantOpError(err, codeinterp.ErrContext)
}
