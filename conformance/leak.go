package conformance

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func leakChecks() []check {
	return []check{
		{
			name:   "LeakGoroutines",
			clause: "after Close no goroutine is left",
			run: func(ctx context.Context, e *env) error {
				return e.leaks(ctx, "goroutines", func() (int, bool) { return runtime.NumGoroutine(), true }, goroutines)
			},
		},
		{
			name:   "LeakFiles",
			clause: "after Close no file descriptor is left",
			run: func(ctx context.Context, e *env) error {
				return e.leaks(ctx, "file descriptors", openFiles, nil)
			},
		},
		{
			name:   "LeakProcesses",
			clause: "after Close no child process is left, not even a zombie",
			run: func(ctx context.Context, e *env) error {
				count := func() (int, bool) {
					list, ok := descendants()
					return len(list), ok
				}
				return e.leaks(ctx, "descendant processes", count, processNames)
			},
		},
		{
			name:   "LeakContexts",
			clause: "contexts that come and go leave nothing behind while the interpreter lives",
			scope:  stateful,
			own:    true,
			run:    leakContexts,
		},
	}
}

// leaks uses an interpreter in every way, closes it, and wants a count to come
// back to where it was.
func (e *env) leaks(ctx context.Context, what string, count func() (int, bool), detail func() string) error {
	if _, ok := count(); !ok {
		return nil
	}
	if err := e.lifetime(ctx); err != nil { // what is made once per process is made now
		return err
	}
	before, _ := count()
	if err := e.lifetime(ctx); err != nil {
		return err
	}
	return settles(what, before, count, detail)
}

// settles waits a while for a count to come down.
func settles(what string, before int, count func() (int, bool), detail func() string) error {
	after := 0
	for range 60 {
		if after, _ = count(); after <= before {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	more := ""
	if detail != nil {
		more = ":\n" + detail()
	}
	return fmt.Errorf("%d %s, and there were %d before%s", after, what, before, more)
}

// lifetime creates an interpreter, makes runs of every outcome, and closes it.
func (e *env) lifetime(ctx context.Context) error {
	ci, err := e.s.cfg.New()
	if err != nil {
		return err
	}
	other := *e
	other.ci = ci
	err = other.use(ctx)
	if closeErr := ci.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (e *env) use(ctx context.Context) error {
	for kind := range 4 {
		if err := e.anyRun(ctx, kind, "x"); err != nil {
			return err
		}
	}
	st, ok := codeinterp.Stateful(e.ci)
	if !ok {
		return nil
	}
	id, err := st.CreateContext(ctx, e.language, nil)
	if err != nil {
		return err
	}
	if _, err := e.runIn(ctx, id, e.p.Pause(time.Hour), &codeinterp.RunOptions{Timeout: 300 * time.Millisecond}); err != nil {
		return err
	}
	return e.do(ctx, id, e.p.Print("x"))
}

func leakContexts(ctx context.Context, e *env) error {
	rounds := 10
	if e.s.cfg.Thrifty {
		rounds = 2
	}
	st := e.stateful()
	cycle := func() error {
		id, err := st.CreateContext(ctx, e.language, nil)
		if err != nil {
			return err
		}
		if err := e.do(ctx, id, e.p.Print("x")); err != nil {
			return err
		}
		return st.DeleteContext(ctx, id)
	}
	for range 2 {
		if err := cycle(); err != nil {
			return err
		}
	}
	routines, files := runtime.NumGoroutine(), 0
	files, _ = openFiles()
	for range rounds {
		if err := cycle(); err != nil {
			return err
		}
	}
	slack := rounds / 2 // pools and idle connections may still move a little
	if err := settles("goroutines", routines+slack, func() (int, bool) { return runtime.NumGoroutine(), true }, goroutines); err != nil {
		return err
	}
	return settles("file descriptors", files+slack, openFiles, nil)
}

// goroutines returns the stacks of all goroutines.
func goroutines() string {
	buf := make([]byte, 64<<10)
	return string(buf[:runtime.Stack(buf, true)])
}

// processNames lists this process's descendants.
func processNames() string {
	list, _ := descendants()
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "%d %s (zombie %v, parent %d)\n", p.pid, p.name, p.zombie, p.parent)
	}
	return b.String()
}
