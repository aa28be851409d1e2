package conformance

import (
	"os"
	"path/filepath"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func stoppedChecks() []check {
	appends := func(p *Programs) bool { return p.AppendForever != nil && files(p) }
	return []check{
		{
			name: "StoppedCodeIsDead", row: 3, scope: everyRun, uses: func(p *Programs) bool { return p.Spin != "" },
			clause: "code that was stopped does not go on computing",
			run:    stoppedCodeIsDead,
		},
		{
			name: "StoppedCodeWritesNoMore", row: 3, scope: stateful, uses: appends,
			clause: "code that was stopped by a timeout, a cancellation, an interrupt or a restart does not go on writing files",
			run:    stoppedCodeWritesNoMore,
		},
		{
			name: "EndedCodeWritesNoMore", row: 3, scope: stateful, own: true, uses: func(p *Programs) bool { return appends(p) && p.Getwd != "" },
			clause: "once DeleteContext or Close has returned nil, no code of the context goes on writing files; Close waits too for what a DeleteContext left whose ctx had ended",
			run:    endedCodeWritesNoMore,
		},
	}
}

// stoppedCodeIsDead looks at the CPU time of this process and its descendants
// after a loop was stopped, and compares it with a loop of its own: on a busy
// machine a loop that goes on gets as little as that one. It waits for what a
// provider has to tidy up or to make ready.
func stoppedCodeIsDead(e *env) {
	_, err := e.run(e.p.Spin, &codeinterp.RunOptions{Timeout: 300 * time.Millisecond})
	must(err)
	const own = 120 * time.Millisecond
	for _, wait := range []time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second} {
		time.Sleep(wait)
		if used, ok := cpuUsedBeside(own); !ok || used < own/2 { // a busy machine makes the look long, and tidying up goes on in it
			return
		}
	}
	failf("this process or its descendants go on using CPU time, for seconds after the timeout")
}

// heartbeat is the file that programs append to for ever.
const heartbeat = "toolcell-heartbeat.txt"

func stoppedCodeWritesNoMore(e *env) {
	id := e.shared()
	e.okIn(id, e.p.WriteFile(heartbeat, ""), nil)
	read := func() string { return e.stdout(id, e.p.ReadFile(heartbeat)) }
	stays := func(after string) {
		first := read()
		time.Sleep(100 * time.Millisecond)
		wantText("the file some time after "+after, read(), first)
	}
	// On a busy machine a program may not come to write anything.
	for timeout := 500 * time.Millisecond; read() == ""; timeout *= 2 {
		if timeout > 4*time.Second {
			failf("the program wrote nothing before its timeout")
		}
		res, err := e.runIn(id, e.p.AppendForever(heartbeat), &codeinterp.RunOptions{Timeout: timeout})
		wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
	}
	stays("a timeout")
	stops := map[string]func(cancel func()) error{"a cancellation": func(cancel func()) error { cancel(); return nil }}
	if m, ok := codeinterp.Manager(e.ci); ok {
		stops["InterruptContext"] = func(func()) error { return m.InterruptContext(e.ctx, id) }
		stops["RestartContext"] = func(func()) error { return m.RestartContext(e.ctx, id) }
	}
	for name, stop := range stops {
		on, cancel := e.stoppable()
		run := on.busyIn(id, e.p.AppendForever(heartbeat))
		time.Sleep(settle)
		must(stop(cancel))
		run.wait(2 * e.patience())
		cancel()
		stays(name)
	}
}

// endedCodeWritesNoMore looks at a directory of this machine. Of programs that
// run elsewhere there is nothing to see in it.
func endedCodeWritesNoMore(e *env) {
	remove := func(id codeinterp.ContextID) error { return e.stateful().DeleteContext(e.ctx, id) }
	e.inHostDirectory("DeleteContext", remove)
	e.inHostDirectory("Close", func(codeinterp.ContextID) error {
		e.inHostDirectory("DeleteContext with a ctx that had ended, and Close,", func(id codeinterp.ContextID) error {
			nilOr(e.stateful().DeleteContext(e.ended().ctx, id), errStop)
			return e.ci.Close()
		})
		return nil
	})
}

// inHostDirectory starts a context's program that writes to a directory of this
// machine, ends it, and wants it to write no more.
func (e *env) inHostDirectory(name string, end func(codeinterp.ContextID) error) {
	dir, remove := hostDirectory()
	defer remove()
	id := e.context(&codeinterp.ContextOptions{Cwd: dir})
	run := e.busyIn(id, e.p.AppendForever(heartbeat))
	time.Sleep(settle)
	about(name, func() { must(end(id)) })
	before, _ := os.ReadFile(filepath.Join(dir, heartbeat))
	time.Sleep(100 * time.Millisecond)
	if after, _ := os.ReadFile(filepath.Join(dir, heartbeat)); len(after) != len(before) {
		failf("%d bytes were written after %s had returned", len(after)-len(before), name)
	}
	run.wait(2 * e.patience())
}
