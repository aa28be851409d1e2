package codemode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

// asking returns the tools of a program, whose calls of ask wait for decisions.
func asking(t *testing.T, opts *codemode.PauseOptions, program func(ask func(name string))) (p *codemode.Pauses, run, resume tools.Tool) {
	t.Helper()
	p = codemode.NewPauses(opts)
	t.Cleanup(p.Close)
	asks := p.Middleware(func(codeinterp.FunctionCall) bool { return true })(func(context.Context, codeinterp.Call) (codeinterp.Reply, error) {
		return codeinterp.Reply{}, nil
	})
	list := p.Wrap(tools.Tool{Name: "run_code", Invoke: func(ctx context.Context, c tools.Invocation) *tools.Answer {
		program(func(name string) {
			asks(ctx, codeinterp.Call{Op: codeinterp.OpCallFunction, Args: codeinterp.FunctionCall{Name: name}})
		})
		return &tools.Answer{Text: "ended"}
	}})
	return p, list[0], list[1]
}

// answered returns what an answer says, and how long it took.
func answered(invoke func() *tools.Answer) (r pause, text string, took time.Duration) {
	began := time.Now()
	a := invoke()
	json.Unmarshal(a.Data, &r)
	return r, a.Text, time.Since(began)
}

// TestPauseAfter: After is of each call, from when OnPending left it undecided.
func TestPauseAfter(t *testing.T) {
	for _, c := range []struct {
		name    string
		program func(p *codemode.Pauses, ask func(string))
		takes   time.Duration
		pending string // empty where the program ends
	}{
		{"asked late", func(_ *codemode.Pauses, ask func(string)) {
			time.Sleep(40 * time.Second)
			ask("late")
		}, 70 * time.Second, "late"},
		{"decided by OnPending", func(_ *codemode.Pauses, ask func(string)) {
			time.Sleep(29 * time.Second)
			ask("decided")
		}, 31 * time.Second, ""},
		{"decided before another", func(p *codemode.Pauses, ask func(string)) {
			go func() {
				time.Sleep(10 * time.Second)
				p.Decide(p.Pending()[0].ID, nil)
			}()
			ask("first")
			time.Sleep(10 * time.Second)
			ask("second")
		}, 50 * time.Second, "second"},
		{"decided beside another", func(p *codemode.Pauses, ask func(string)) {
			go func() {
				time.Sleep(25 * time.Second)
				p.Decide(p.Pending()[0].ID, nil)
			}()
			done := make(chan struct{})
			go func() {
				defer close(done)
				time.Sleep(20 * time.Second)
				ask("second")
			}()
			ask("first")
			<-done
		}, 50 * time.Second, "second"},
		{"two wait", func(p *codemode.Pauses, ask func(string)) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				time.Sleep(20 * time.Second)
				ask("second")
			}()
			ask("first")
			<-done
		}, 30 * time.Second, "first second"},
	} {
		for _, resumed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, resumed %t", c.name, resumed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var p *codemode.Pauses
					opts := &codemode.PauseOptions{After: 30 * time.Second, Wait: time.Hour}
					opts.OnPending = func(call codemode.Pending) {
						if call.Function == "decided" {
							time.Sleep(2 * time.Second)
							p.Decide(call.ID, nil)
						}
					}
					p, run, resume := asking(t, opts, func(ask func(string)) {
						if resumed {
							ask("before")
						}
						c.program(p, ask)
					})
					invoke := func() *tools.Answer { return run.Invoke(t.Context(), tools.Invocation{}) }
					if resumed {
						r, _, _ := answered(invoke)
						p.Decide(p.Pending()[0].ID, nil)
						invoke = func() *tools.Answer { return rest(t.Context(), resume, r.RunID) }
					}
					r, text, took := answered(invoke)
					var names []string
					for _, call := range r.Pending {
						names = append(names, call.Function)
					}
					if took != c.takes || strings.Join(names, " ") != c.pending || (c.pending == "") != (text == "ended") {
						t.Errorf("%s after %v, want %q after %v", text, took, c.pending, c.takes)
					}
				})
			})
		}
	}
}

// TestPausedUnseen: a call counts as told of only where somebody saw the answer.
func TestPausedUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, run, resume := asking(t, &codemode.PauseOptions{After: 3 * time.Second, Wait: time.Minute}, func(ask func(string)) {
			ask("first")
			ask("second")
		})
		r, _, _ := answered(func() *tools.Answer { return run.Invoke(t.Context(), tools.Invocation{}) })
		p.Decide(p.Pending()[0].ID, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		rest(ctx, resume, r.RunID)
		for _, takes := range []time.Duration{3 * time.Second, time.Minute} {
			got, text, took := answered(func() *tools.Answer { return rest(t.Context(), resume, r.RunID) })
			if took != takes || len(got.Pending) != 1 || got.Pending[0].Function != "second" {
				t.Errorf("%s after %v, want it after %v", text, took, takes)
			}
		}
	})
}

// TestPausedInOnPending: a call that was told of while OnPending had it is not news
// after that.
func TestPausedInOnPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &codemode.PauseOptions{Wait: time.Minute, OnPending: func(call codemode.Pending) {
			if call.Function == "slow" {
				time.Sleep(10 * time.Second)
			}
		}}
		_, run, resume := asking(t, opts, func(ask func(string)) {
			go func() {
				time.Sleep(time.Second)
				ask("first")
			}()
			ask("slow")
		})
		r, _, _ := answered(func() *tools.Answer { return run.Invoke(t.Context(), tools.Invocation{}) })
		got, text, took := answered(func() *tools.Answer { return rest(t.Context(), resume, r.RunID) })
		if took != time.Minute || len(r.Pending) != 2 || len(got.Pending) != 2 {
			t.Errorf("%+v, then %s after %v", r, text, took)
		}
	})
}

// TestOnPendingThatPanics: its call is refused, and nobody decides it any more.
func TestOnPendingThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &codemode.PauseOptions{Wait: time.Minute, OnPending: func(codemode.Pending) { panic("oops") }}
		p, run, _ := asking(t, opts, func(ask func(string)) { ask("never") })
		answered(func() *tools.Answer { return run.Invoke(t.Context(), tools.Invocation{}) })
		if list := p.Pending(); len(list) != 0 {
			t.Errorf("waiting still: %+v", list)
		}
	})
}
