package driver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// An order is one of the calls that stop a run.
type order struct {
	name string
	do   func(context.Context, *driver.Stateful, codeinterp.ContextID) error
}

var (
	interrupt = order{"interrupt", func(ctx context.Context, ci *driver.Stateful, id codeinterp.ContextID) error {
		return ci.InterruptContext(ctx, id)
	}}
	restart = order{"restart", func(ctx context.Context, ci *driver.Stateful, id codeinterp.ContextID) error {
		return ci.RestartContext(ctx, id)
	}}
	remove = order{"delete", func(ctx context.Context, ci *driver.Stateful, id codeinterp.ContextID) error {
		return ci.DeleteContext(ctx, id)
	}}
	closing = order{"close", func(_ context.Context, ci *driver.Stateful, _ codeinterp.ContextID) error { return ci.Close() }}
)

// What becomes of the run that an order stopped.
var (
	byInterrupt = want{status: "error", exit: 130, cause: codeinterp.CauseInterrupt, count: 2}
	byRestart   = want{status: "lost", exit: 137, cause: codeinterp.CauseRestart, lost: true, count: 2}
	byDelete    = want{status: "lost", exit: 137, cause: codeinterp.CauseClosed, lost: true, count: 2, err: codeinterp.ErrContext}
	byClose     = want{status: "lost", exit: 137, cause: codeinterp.CauseClosed, lost: true, count: 2, err: codeinterp.ErrClosed}
)

func killed(w want) want  { w.lost = true; return w }
func givenUp(w want) want { w.lost, w.text = true, "may still be running"; return w }

// TestOrders stops a run in a second, and lets one wait behind it.
func TestOrders(t *testing.T) {
	const grace, patience = 2 * time.Second, 10 * time.Second
	notRun := func(err error) want { return want{status: "not_run", exit: -1, err: err} }
	for _, tt := range []struct {
		order  order
		code   string
		want   want
		took   time.Duration // of the order
		over   time.Duration // when the run is, after the order
		queued want
	}{
		{interrupt, "sleep 1h", byInterrupt, 0, 0, want{status: "ok", count: 3}},
		{interrupt, "stubborn", killed(byInterrupt), 0, grace, want{status: "ok", count: 1}},
		{interrupt, "unresponsive", givenUp(byInterrupt), 0, grace + patience, want{status: "ok", count: 1}},
		{restart, "sleep 1h", byRestart, 0, 0, want{status: "ok", count: 1}},
		{restart, "stubborn", byRestart, 0, 0, want{status: "ok", count: 1}},
		{restart, "unresponsive", givenUp(byRestart), patience, patience, want{status: "ok", count: 1}},
		{remove, "sleep 1h", byDelete, 0, 0, notRun(codeinterp.ErrContext)},
		{remove, "stubborn", byDelete, 0, 0, notRun(codeinterp.ErrContext)},
		{remove, "unresponsive", givenUp(byDelete), patience, patience, notRun(codeinterp.ErrContext)},
		{closing, "sleep 1h", byClose, 0, 0, notRun(codeinterp.ErrClosed)},
		{closing, "unresponsive", givenUp(byClose), patience, patience, notRun(codeinterp.ErrClosed)},
	} {
		for _, from := range []string{"outside", "OnOutput"} {
			t.Run(fmt.Sprint(tt.order.name, " ", tt.code, " from ", from), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ci, id := stateful(t, &fake{}, driver.Config{Grace: grace, Patience: patience})
					if _, err := ci.RunInContext(t.Context(), id, "ok", nil); err != nil {
						t.Fatal(err)
					}
					var took time.Duration
					var ordered error
					give := func() error {
						time.Sleep(time.Second)
						begin := time.Now()
						ordered = tt.order.do(t.Context(), ci, id)
						took = time.Since(begin)
						return nil
					}
					o := &codeinterp.RunOptions{}
					if from == "OnOutput" {
						o.OnOutput = func(codeinterp.Output) error { return give() }
					}
					run := start(ci, t.Context(), id, tt.code, o)
					synctest.Wait()
					queued := start(ci, t.Context(), id, "ok", nil)
					if from == "outside" {
						give()
					}
					<-run.done
					<-queued.done
					w := tt.want
					tt.want.check(t, "the run", run.res, run.err)
					tt.queued.check(t, "the queued run", queued.res, queued.err)
					if run.res.Stdout() != "busy" {
						t.Errorf("stdout %q", run.res.Stdout())
					}
					if asked := ordered != nil; asked != (w.text != "" && tt.order.name != "interrupt") {
						t.Errorf("the order's error: %v", ordered)
					}
					if took != tt.took || run.took != time.Second+tt.over {
						t.Errorf("the order took %v, want %v; the run was over after %v", took, tt.took, run.took)
					}
					err := ci.Close()
					if w.text != "" && err == nil || w.text == "" && err != nil {
						t.Errorf("Close: %v", err)
					}
					time.Sleep(2 * time.Hour) // the unresponsive ones come back
				})
			})
		}
	}
}

// TestOrderInGrace: what ends the state does not wait for the grace of a run
// that is being stopped.
func TestOrderInGrace(t *testing.T) {
	for _, tt := range []struct {
		order order
		want  want
	}{{restart, killed(byInterrupt)}, {remove, byDelete}, {closing, byClose}} {
		synctest.Test(t, func(t *testing.T) {
			ci, id := stateful(t, &fake{}, driver.Config{Grace: time.Hour})
			ci.RunInContext(t.Context(), id, "ok", nil)
			run := start(ci, t.Context(), id, "stubborn", nil)
			synctest.Wait()
			if err := ci.InterruptContext(t.Context(), id); err != nil {
				t.Error(err)
			}
			if err := tt.order.do(t.Context(), ci, id); err != nil {
				t.Error(err)
			}
			<-run.done
			tt.want.check(t, tt.order.name, run.res, run.err)
			if run.took != 0 {
				t.Errorf("%s took %v", tt.order.name, run.took)
			}
			ci.Close()
		})
	}
}

// TestNotBegun stops a run whose runtime is still starting.
func TestNotBegun(t *testing.T) {
	for _, tt := range []struct {
		order order
		want  want
		over  time.Duration
	}{
		{interrupt, byInterrupt, time.Second}, // it is kept until the program begins
		{restart, want{status: "ok", count: 1}, 2500 * time.Millisecond},
		{remove, want{status: "not_run", exit: -1, err: codeinterp.ErrContext}, 500 * time.Millisecond},
		{closing, want{status: "not_run", exit: -1, err: codeinterp.ErrClosed}, 500 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			ci, id := stateful(t, &fake{}, driver.Config{})
			defer ci.Close()
			ci.RunInContext(t.Context(), id, "ok", nil)
			run := start(ci, t.Context(), id, "slow", nil)
			time.Sleep(500 * time.Millisecond)
			if err := tt.order.do(t.Context(), ci, id); err != nil {
				t.Errorf("%s: %v", tt.order.name, err)
			}
			<-run.done
			tt.want.check(t, tt.order.name, run.res, run.err)
			if run.took != tt.over {
				t.Errorf("%s: over after %v", tt.order.name, run.took)
			}
		})
	}
}

// TestRefusedInterrupt goes on to the kill at once.
func TestRefusedInterrupt(t *testing.T) {
	for name, intr := range map[string]func(context.Context) error{
		"an error": func(context.Context) error { return errors.ErrUnsupported },
		"a panic":  func(context.Context) error { panic("oops") },
	} {
		synctest.Test(t, func(t *testing.T) {
			ci, id := stateful(t, &fake{onIntr: intr}, driver.Config{})
			defer ci.Close()
			run := start(ci, t.Context(), id, "sleep 1h", nil)
			synctest.Wait()
			if err := ci.InterruptContext(t.Context(), id); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			<-run.done
			want{status: "error", exit: 130, cause: codeinterp.CauseInterrupt, lost: true, count: 1}.check(t, name, run.res, run.err)
			if run.took != 0 {
				t.Errorf("%s: took %v", name, run.took)
			}
		})
	}
}

// TestAskedAgain: a program is interrupted again after half of the grace, from
// when on nothing of it waits for OnOutput.
func TestAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Duration
		var begin, freed time.Time
		f := &fake{}
		f.onIntr = func(context.Context) error {
			if asked = append(asked, time.Since(begin)); len(asked) == 2 {
				close(f.last.Load().stop)
			}
			return nil
		}
		f.programs = map[string]program{
			"prints": func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
				begin = time.Now()
				p.Begin()
				out.Write(codeinterp.Stdout, []byte("shown"))
				out.Write(codeinterp.Stdout, []byte(", kept"))
				freed = time.Now()
				<-s.stop
				return driver.Outcome{}, nil
			},
		}
		ci, id := stateful(t, f, driver.Config{Grace: 10 * time.Second})
		defer ci.Close()
		run := start(ci, t.Context(), id, "prints", &codeinterp.RunOptions{Timeout: time.Second, OnOutput: func(codeinterp.Output) error {
			time.Sleep(time.Hour)
			return nil
		}})
		synctest.Wait()
		next := start(ci, t.Context(), id, "ok", nil)
		<-next.done
		if want := []time.Duration{time.Second, 6 * time.Second}; !slices.Equal(asked, want) || next.took != 6*time.Second || freed.Sub(begin) != 6*time.Second {
			t.Errorf("interrupted after %v, want %v; freed after %v; the next run after %v", asked, want, freed.Sub(begin), next.took)
		}
		<-run.done
		want{status: "timeout", exit: 124, count: 1}.check(t, "the run", run.res, run.err)
		if run.res.Stdout() != "shown, kept" || run.res.CallbackErr == nil || run.took != time.Hour {
			t.Errorf("stdout %q, callback: %v, after %v", run.res.Stdout(), run.res.CallbackErr, run.took)
		}
	})
}

// TestInterruptStaysInItsRun: an interrupt in flight holds up the end of its run,
// and hits nothing else.
func TestInterruptStaysInItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		inside := false
		f.onIntr = func(ctx context.Context) error {
			inside = true
			time.Sleep(time.Second)
			inside = false
			return nil
		}
		ci, id := stateful(t, f, driver.Config{Grace: time.Minute})
		defer ci.Close()
		run := start(ci, t.Context(), id, "sleep 500ms", nil)
		synctest.Wait()
		if err := ci.InterruptContext(t.Context(), id); err != nil {
			t.Error(err)
		}
		<-run.done
		if inside || run.took != time.Second {
			t.Errorf("took %v, interrupt in flight: %v", run.took, inside)
		}
	})
}

// TestHandOver: interrupts wait until the program was handed over, and none
// comes after its end.
func TestHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var handed, ended bool
		f := &fake{}
		f.onIntr = func(context.Context) error {
			if !handed || ended {
				t.Errorf("an interrupt with handed over %v, ended %v", handed, ended)
			}
			close(f.last.Load().stop)
			return nil
		}
		f.programs = map[string]program{
			"hand": func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
				handed, ended = false, false
				if err := p.HandOver(func() error { time.Sleep(time.Second); handed = true; return nil }); err != nil {
					return driver.Outcome{}, err
				}
				<-s.stop
				p.End()
				ended = true
				time.Sleep(time.Second) // cleans up
				return driver.Outcome{}, nil
			},
			"fails": func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
				return driver.Outcome{}, p.HandOver(func() error { return errors.New("the pipe is broken") })
			},
		}
		ci, id := stateful(t, f, driver.Config{})
		defer ci.Close()
		for range 3 {
			run := start(ci, t.Context(), id, "hand", &codeinterp.RunOptions{Timeout: 500 * time.Millisecond})
			<-run.done
			if run.res.Status != codeinterp.StatusTimeout || run.took != 2*time.Second {
				t.Errorf("%v after %v, %v", run.res.Status, run.took, run.err)
			}
		}
		res, err := ci.RunInContext(t.Context(), id, "fails", nil)
		want{status: "not_run", exit: -1, err: codeinterp.ErrUnavailable, text: "pipe"}.check(t, "not handed over", res, err)
	})
}

// TestStartLimit does not count the time that the runtime is busy with others.
func TestStartLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{programs: map[string]program{
			"hang": func(ctx context.Context, _ *fakeSession, _ *driver.Program, _ *driver.Output) (driver.Outcome, error) {
				<-ctx.Done()
				return driver.Outcome{}, ctx.Err()
			},
			"busy": func(ctx context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
				p.Busy(true)
				time.Sleep(time.Hour)
				p.Busy(false)
				time.Sleep(50 * time.Second)
				if ctx.Err() != nil {
					return driver.Outcome{}, ctx.Err()
				}
				p.Begin()
				return driver.Outcome{}, nil
			},
		}}
		ci, id := stateful(t, f, driver.Config{StartLimit: time.Minute})
		defer ci.Close()
		for _, timeout := range []time.Duration{0, time.Second, time.Hour} {
			run := start(ci, t.Context(), id, "hang", &codeinterp.RunOptions{Timeout: timeout})
			<-run.done
			want{status: "not_run", exit: -1, err: codeinterp.ErrUnavailable, text: "not ready"}.check(t, "hang", run.res, run.err)
			if run.took != time.Minute {
				t.Errorf("after %v", run.took)
			}
			run = start(ci, t.Context(), id, "busy", &codeinterp.RunOptions{Timeout: timeout})
			<-run.done
			if !run.res.OK() || run.took != time.Hour+50*time.Second || run.res.Duration > time.Second {
				t.Errorf("%v after %v, %v", run.res.Status, run.took, run.err)
			}
		}
		f.onStart = func(ctx context.Context, _ driver.Options) error { <-ctx.Done(); return ctx.Err() }
		begin := time.Now()
		if _, err := ci.CreateContext(t.Context(), "fake", nil); !errors.Is(err, codeinterp.ErrUnavailable) || time.Since(begin) != time.Minute {
			t.Errorf("CreateContext: %v after %v", err, time.Since(begin))
		}
	})
}
