package conformance

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// on returns a fault in one operation.
func on(op codeinterp.Op, handle func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error)) wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		if c.Op == op {
			return handle(ctx, c, next)
		}
		return next(ctx, c)
	})
}

func managerFaults() []fault {
	return []fault{
		{
			name: "newest first", want: "ListContexts",
			wrap: on(codeinterp.OpList, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				slices.Reverse(r.Contexts)
				return r, err
			}),
		},
		{
			name: "nobody is busy", want: "ListBusy", also: "InterruptEarly",
			wrap: on(codeinterp.OpList, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				for i := range r.Contexts {
					r.Contexts[i].Busy = false
				}
				return r, err
			}),
		},
		{
			name: "an interrupt empties the queue", want: "InterruptQueued",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var mu sync.Mutex
				interrupted := make(chan struct{})
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					mu.Lock()
					now := interrupted
					if c.Op == codeinterp.OpInterrupt {
						close(interrupted)
						interrupted = make(chan struct{})
					}
					mu.Unlock()
					if c.Code != `print "next"` {
						return next(ctx, c)
					}
					ctx, cancel := context.WithCancel(ctx)
					defer cancel()
					done := make(chan struct{})
					defer close(done)
					go func() {
						select {
						case <-now:
							cancel()
						case <-done:
						}
					}()
					return next(ctx, c)
				}
			}),
		},
		{
			name: "a restart does nothing", want: "RestartEmpties", also: "RestartDuring EndedCtxRestarts ExecutionCountOfRuns",
			wrap: on(codeinterp.OpRestart, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, codeinterp.Call{Op: codeinterp.OpInterrupt, Context: c.Context})
				return r, err
			}),
		},
		{
			name: "a restart is told as a loss", want: "RestartDuring",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Cause == codeinterp.CauseRestart {
					res.Cause = codeinterp.CauseServer
				}
			}),
		},
		{
			name: "an interrupt is a cancellation", want: "InterruptDuring", also: "InterruptSpin StatusAndError InterruptStubborn InterruptEarly",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Cause == codeinterp.CauseInterrupt {
					res.Status = codeinterp.StatusCanceled
				}
			}),
		},
		{
			name: "an interrupt does not stop a loop", want: "InterruptSpin",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var m memory
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op == codeinterp.OpInterrupt && m.get(c.Context) == "spins" {
						return codeinterp.Reply{}, nil
					}
					if c.Op == codeinterp.OpRunIn && spins(c) {
						m.set(c.Context, "spins")
					}
					return next(ctx, c)
				}
			}),
		},
		{
			name: "an idle interrupt hits the next run", want: "InterruptIdle", also: "HammerContexts",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var m memory
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op == codeinterp.OpInterrupt && m.get(c.Context) == "idle" {
						m.set(c.Context, "hit")
					}
					if c.Op == codeinterp.OpRunIn && m.get(c.Context) == "hit" {
						m.set(c.Context, "")
						return codeinterp.Reply{Result: codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 130, Cause: codeinterp.CauseInterrupt}}, nil
					}
					r, err := next(ctx, c)
					if c.Op == codeinterp.OpRunIn && uses(c, "set") && r.Result.OK() {
						m.set(c.Context, "idle")
					}
					if c.Op == codeinterp.OpRunIn && !uses(c, "set") {
						m.set(c.Context, "")
					}
					return r, err
				}
			}),
		},
		{
			name: "outputs are mixed up under load", want: "Hammer",
			wrap: crowded(2, func(c codeinterp.Call) bool { return c.Op == codeinterp.OpRun && uses(c, `print "worker`) }),
		},
		{
			name: "contexts are mixed up under load", want: "HammerContexts",
			wrap: crowded(2, func(c codeinterp.Call) bool { return c.Op == codeinterp.OpRunIn && uses(c, `set "mine" "worker`) }),
		},
	}
}

// crowded gives wrong output where more runs than limit are in progress.
func crowded(limit int32, which func(codeinterp.Call) bool) wrapper {
	return calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
		var active atomic.Int32
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			if !which(c) {
				return next(ctx, c)
			}
			defer active.Add(-1)
			if active.Add(1) > limit {
				time.Sleep(time.Millisecond)
				out := codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte("another's")}
				if c.Run != nil && c.Run.OnOutput != nil {
					_ = c.Run.OnOutput(out)
				}
				return codeinterp.Reply{Result: codeinterp.Result{Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{out}}}, nil
			}
			time.Sleep(time.Millisecond)
			return next(ctx, c)
		}
	})
}

// closing has another Close.
type closing struct {
	codeinterp.CodeInterpreter
	codeinterp.Describer
	close func() error
}

func (c closing) Close() error { return c.close() }

// closingStateful is closing with contexts.
type closingStateful struct {
	undescribed
	codeinterp.Describer
	close func() error
}

func (c closingStateful) Close() error { return c.close() }

// onClose returns a fault in Close; each interpreter has its own.
func onClose(mk func(ci codeinterp.CodeInterpreter) func() error) wrapper {
	return func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
		if hasContexts(ci) {
			return closingStateful{undescribedOf(ci), ci.(codeinterp.Describer), mk(ci)}
		}
		return closing{ci, ci.(codeinterp.Describer), mk(ci)}
	}
}

func closeFaults() []fault {
	return append(closeOrderFaults(), leakFaults()...)
}

func closeOrderFaults() []fault {
	return []fault{
		{
			name: "nothing to close is an error", want: "CloseUnused", also: "ClosedCalls CloseAnytime CommandClosed", stateless: true,
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				var used atomic.Bool
				w := call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					used.Store(true)
					return next(ctx, c)
				})(ci)
				return onClose(func(codeinterp.CodeInterpreter) func() error {
					return func() error {
						err := ci.Close()
						if !used.Load() {
							err = errors.New("not started")
						}
						return err
					}
				})(w)
			},
		},
		{
			name: "a second Close is an error", want: "CloseTwice", also: everyCheckOf("toy"),
			wrap: onClose(func(ci codeinterp.CodeInterpreter) func() error {
				var closed atomic.Bool
				return func() error {
					if closed.Swap(true) {
						return codeinterp.ErrClosed
					}
					return ci.Close()
				}
			}),
		},
		{
			name: "a closed interpreter runs code", want: "ClosedCalls", also: "CloseAnytime",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpRun && errors.Is(err, codeinterp.ErrClosed) && r.Result.Status == codeinterp.StatusNotRun && uses(c, `print "ran"`) {
					other, _ := newToyStateless()
					defer other.Close()
					r.Result, err = other.RunCode(ctx, c.Language, c.Code, c.Run)
				}
				return r, err
			}),
		},
		{
			name: "closed contexts are unknown", want: "ClosedCalls", also: "CloseDuringContext CloseAnytime StatusAndError FaultsInOrder",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpDelete && errors.Is(err, codeinterp.ErrClosed) {
					return refuse(c, codeinterp.ErrContext)
				}
				return r, err
			}),
		},
		{
			name: "a closed run just failed", want: "CloseDuringRun",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpRun && r.Result.Cause == codeinterp.CauseClosed {
					return r, nil
				}
				return r, err
			}),
		},
		{
			name: "queued runs are canceled by Close", want: "CloseDuringContext",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpRunIn && errors.Is(err, codeinterp.ErrClosed) && r.Result.Status == codeinterp.StatusNotRun && uses(c, `print "ran"`) && c.Run != nil && c.Run.OnOutput != nil {
					return refuse(c, codeinterp.ErrContext)
				}
				return r, err
			}),
		},
		{
			name: "Close waits for stubborn programs", want: "CloseStubborn",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				var stubborn atomic.Bool
				w := call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if resists(c) && c.Run != nil && c.Run.Timeout == 0 && uses(c, `print "busy"`) {
						stubborn.Store(true)
					}
					return next(ctx, c)
				})(ci)
				return onClose(func(codeinterp.CodeInterpreter) func() error {
					return func() error {
						if stubborn.Swap(false) {
							time.Sleep(time.Minute)
						}
						return ci.Close()
					}
				})(w)
			},
		},
		{
			name: "closed while it starts, a run fails", want: "CloseAnytime",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if errors.Is(err, codeinterp.ErrClosed) && uses(c, `pause "30ms"`) {
					err = toyErr("run", codeinterp.ErrUnavailable)
				}
				return r, err
			}),
		},
	}
}

// leaking returns a function that leaks a goroutine, and one that ends all of
// those.
func leaking() (leak, clean func()) {
	var wg sync.WaitGroup
	stop := make(chan struct{})
	return func() { wg.Go(func() { <-stop }) }, func() { close(stop); wg.Wait() }
}

func leakFaults() []fault {
	perInterpreter, cleanInterpreters := leaking()
	perContext, cleanContexts := leaking()
	return []fault{
		{
			name: "a goroutine per interpreter", want: "LeakGoroutines", real: true, clean: cleanInterpreters,
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				perInterpreter()
				return ci
			},
		},
		{
			name: "a file per interpreter", want: "LeakFiles",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				f, err := os.Open(os.DevNull)
				if err != nil {
					panic(err)
				}
				time.AfterFunc(time.Minute, func() { f.Close() })
				return ci
			},
		},
		{
			name: "a process per interpreter", want: "LeakProcesses",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				cmd := exec.Command("sleep", "600")
				if err := cmd.Start(); err != nil {
					panic(err)
				}
				time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
				return ci
			},
		},
		{
			name: "a goroutine per context", want: "LeakContexts", real: true, clean: cleanContexts,
			wrap: on(codeinterp.OpDelete, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				perContext()
				return next(ctx, c)
			}),
		},
	}
}
