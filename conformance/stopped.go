package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func stoppedChecks() []check {
	appends := func(p *Programs) bool { return p.AppendForever != nil && p.WriteFile != nil && p.ReadFile != nil }
	return []check{
		{
			name: "StoppedCodeIsDead", row: 3, scope: everyRun, uses: func(p *Programs) bool { return p.Spin != "" },
			clause: "code that was stopped does not go on computing",
			run:    stoppedCodeIsDead,
		},
		{
			name: "StoppedCodeWritesNoMore", row: 3, scope: stateful, needs: []Feature{Files}, uses: appends,
			clause: "code that was stopped by a timeout, a cancellation, an interrupt or a restart does not go on writing files",
			run:    stoppedCodeWritesNoMore,
		},
		{
			name: "EndedCodeWritesNoMore", row: 3, scope: stateful, own: true, needs: []Feature{Files, Cwd}, uses: appends,
			clause: "once DeleteContext or Close has returned nil, no code of the context goes on writing files; Close waits too for what a DeleteContext left whose ctx had ended",
			run:    endedCodeWritesNoMore,
		},
		{
			name: "InterruptEarly", row: 3, scope: stateful, needs: []Feature{Manager},
			clause: "an interrupt that comes before the program has begun is kept until it does",
			run:    interruptEarly,
		},
	}
}

// stoppedCodeIsDead looks at the CPU time of this process and its descendants
// after a loop was stopped, and compares it with a loop of its own: on a busy
// machine a loop that goes on gets as little as that one. It waits for what a
// provider has to tidy up or to make ready.
func stoppedCodeIsDead(ctx context.Context, e *env) error {
	if _, err := e.run(ctx, e.p.Spin, &codeinterp.RunOptions{Timeout: 300 * time.Millisecond}); err != nil {
		return err
	}
	const own = 120 * time.Millisecond
	for _, wait := range e.s.settling {
		time.Sleep(wait)
		if used, ok := cpuUsedBeside(own); !ok || used < own/2 { // a busy machine makes the look long, and tidying up goes on in it
			return nil
		}
	}
	return errors.New("this process or its descendants go on using CPU time, for seconds after the timeout")
}

// heartbeat is the file that programs append to for ever.
const heartbeat = "toolcell-heartbeat.txt"

func stoppedCodeWritesNoMore(ctx context.Context, e *env) error {
	id := need(e.shared(ctx))
	must(e.do(ctx, id, e.p.WriteFile(heartbeat, "")))
	// On a busy machine a program may not come to write anything.
	timeout, beats := 500*time.Millisecond, ""
	for tries := 0; beats == "" && tries < busyTries; tries++ {
		res, err := e.runIn(ctx, id, e.p.AppendForever(heartbeat), &codeinterp.RunOptions{Timeout: timeout})
		must(wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout))
		if beats, err = e.stdoutIn(ctx, id, e.p.ReadFile(heartbeat)); err != nil {
			return err
		}
		timeout *= 2
	}
	if beats == "" {
		return errors.New("the program wrote nothing before its timeout")
	}
	must(e.beatsNoMore(ctx, id, "a timeout"))
	runCtx, end := context.WithCancelCause(ctx)
	defer end(nil)
	must(e.stopsBeating(runCtx, id, func() error { end(errStop); return nil }))
	must(e.beatsNoMore(ctx, id, "a cancellation"))
	m, ok := codeinterp.Manager(e.ci)
	if !ok {
		return nil
	}
	for name, stop := range map[string]func() error{
		"InterruptContext": func() error { return m.InterruptContext(ctx, id) },
		"RestartContext":   func() error { return m.RestartContext(ctx, id) },
	} {
		must(e.stopsBeating(ctx, id, stop))
		must(e.beatsNoMore(ctx, id, name))
	}
	return nil
}

// stopsBeating stops a program that appends to the file.
func (e *env) stopsBeating(ctx context.Context, id codeinterp.ContextID, stop func() error) error {
	_, run, err := e.busyIn(ctx, id, e.p.AppendForever(heartbeat))
	if err != nil {
		return err
	}
	time.Sleep(settle)
	return errors.Join(stop(), run.wait(2*e.patience()))
}

// beatsNoMore wants the file to stay as it is.
func (e *env) beatsNoMore(ctx context.Context, id codeinterp.ContextID, after string) error {
	first := need(e.stdoutIn(ctx, id, e.p.ReadFile(heartbeat)))
	time.Sleep(100 * time.Millisecond)
	second := need(e.stdoutIn(ctx, id, e.p.ReadFile(heartbeat)))
	return wantText("the file some time after "+after, second, first)
}

// endedCodeWritesNoMore looks at a directory of this machine. Of programs that
// run elsewhere there is nothing to see in it.
func endedCodeWritesNoMore(ctx context.Context, e *env) error {
	return errors.Join(
		e.inHostDirectory(ctx, "DeleteContext", func(id codeinterp.ContextID) error { return e.stateful().DeleteContext(ctx, id) }),
		e.inHostDirectory(ctx, "Close", func(codeinterp.ContextID) error {
			return e.inHostDirectory(ctx, "DeleteContext with a ctx that had ended, and Close,", func(id codeinterp.ContextID) error {
				must(nilOr(e.stateful().DeleteContext(e.done(ctx), id), errStop))
				return e.ci.Close()
			})
		}))
}

// inHostDirectory has a context's programs write to a directory of this machine,
// which end is to end.
func (e *env) inHostDirectory(ctx context.Context, name string, end func(codeinterp.ContextID) error) error {
	dir := need(hostDirectory())
	defer os.RemoveAll(dir)
	id := need(e.context(ctx, &codeinterp.ContextOptions{Cwd: dir}))
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, heartbeat))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	_, run, err := e.busyIn(ctx, id, e.p.AppendForever(heartbeat))
	if err != nil {
		return err
	}
	time.Sleep(settle)
	if err := end(id); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	before := size()
	time.Sleep(100 * time.Millisecond)
	if after := size(); after != before {
		return fmt.Errorf("%d bytes were written after %s had returned", after-before, name)
	}
	return run.wait(2 * e.patience())
}

// interruptEarly interrupts a run as soon as it is said to be in progress.
func interruptEarly(ctx context.Context, e *env) error {
	id := need(e.context(ctx, nil))
	run := e.start(ctx, id, e.p.Pause(time.Hour), nil)
	busy := func() (bool, error) {
		list, err := e.manager().ListContexts(ctx)
		for _, info := range list {
			if info.ID == id {
				return info.Busy, err
			}
		}
		return false, errors.Join(err, fmt.Errorf("context %q is not listed", id))
	}
	for {
		is := need(busy())
		if is {
			break
		}
		time.Sleep(time.Millisecond)
	}
	must(about("InterruptContext", e.manager().InterruptContext(ctx, id)))
	must(about("after an early interrupt", run.wait(2*e.patience())))
	must(wantStatus(run.res, run.err, codeinterp.StatusError, 130))
	return wantText("the cause", string(run.res.Cause), string(codeinterp.CauseInterrupt))
}
