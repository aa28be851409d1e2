package driver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// TestContextsDescribed: Describe and CreateContext agree on which languages have contexts.
func TestContextsDescribed(t *testing.T) {
	for _, tt := range []struct {
		name    string
		runtime driver.Runtime
	}{{"of none", plain{&fake{}}}, {"of one", &fake{}}} {
		t.Run(tt.name, func(t *testing.T) {
			ci := driver.NewStateful(tt.runtime, driver.Config{})
			defer ci.Close()
			for _, l := range codeinterp.Describe(ci).Languages {
				_, err := ci.CreateContext(t.Context(), l.Name, nil)
				if (err == nil) != l.Contexts || err != nil && !errors.Is(err, codeinterp.ErrLanguage) {
					t.Errorf("%s: described as having contexts %v; CreateContext: %v", l.Name, l.Contexts, err)
				}
			}
		})
	}
}

// TestQueue: first in, first out; who waits can be canceled and then never ran.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci, id := stateful(t, &fake{}, driver.Config{})
		defer ci.Close()
		var order []int
		var runs []*pending
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 9 {
			c := t.Context()
			if i%3 == 1 {
				c = ctx
			}
			runs = append(runs, start(ci, c, id, "sleep 1s", &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
				order = append(order, i)
				return nil
			}}))
			synctest.Wait()
		}
		list, err := ci.ListContexts(t.Context())
		if err != nil || len(list) != 1 || !list[0].Busy || list[0].Queued != 8 || list[0].ID != id || list[0].Language != "fake" {
			t.Errorf("%+v, %v", list, err)
		}
		cancel()
		for i, r := range runs {
			<-r.done
			if i%3 == 1 {
				want{status: "not_run", exit: -1, err: context.Canceled}.check(t, "canceled", r.res, r.err)
			} else if !r.res.OK() {
				t.Errorf("run %d: %v, %v", i, r.res.Status, r.err)
			}
		}
		if !slices.Equal(order, []int{0, 2, 3, 5, 6, 8}) {
			t.Errorf("order %v", order)
		}
		if list, _ := ci.ListContexts(t.Context()); list[0].Busy || list[0].Queued != 0 {
			t.Errorf("%+v", list)
		}
	})
}

// TestPanics: a panic in any method is reported, and the rest works.
func TestPanics(t *testing.T) {
	oops := func(context.Context) error { panic("oops") }
	exit := func(context.Context) error { runtimeGoexit(); return nil }
	for name, bad := range map[string]func(context.Context) error{"panic": oops, "goexit": exit} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{}
			ci, id := stateful(t, f, driver.Config{})
			reported := func(what string, err error) {
				if !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "the provider panicked") {
					t.Errorf("%s in %s: %v", name, what, err)
				}
			}
			ci.RunInContext(t.Context(), id, "ok", nil)
			f.programs = map[string]program{"bad": func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
				p.Begin()
				out.Write(codeinterp.Stdout, []byte("busy"))
				return driver.Outcome{}, bad(ctx)
			}, "early": func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
				return driver.Outcome{}, bad(ctx)
			}}
			res, err := ci.RunInContext(t.Context(), id, "bad", nil)
			reported("Run", err)
			want{status: "lost", exit: 137, cause: codeinterp.CauseServer, lost: true, count: 2, err: codeinterp.ErrUnavailable}.check(t, "Run", res, err)
			if res.Stdout() != "busy" {
				t.Errorf("stdout %q", res.Stdout())
			}
			res, err = ci.RunInContext(t.Context(), id, "ok", nil)
			want{status: "ok", count: 1}.check(t, "the next run", res, err)
			res, err = ci.RunInContext(t.Context(), id, "early", nil)
			want{status: "not_run", exit: -1, err: codeinterp.ErrUnavailable}.check(t, "before Begin", res, err)
			res, err = ci.RunInContext(t.Context(), id, "ok", nil)
			want{status: "ok", count: 1, lost: true}.check(t, "reported by the next run", res, err)
			f.onReset = func(ctx context.Context) error { f.onReset = nil; return bad(ctx) }
			reported("Reset", ci.RestartContext(t.Context(), id))
			f.onStart = func(ctx context.Context, _ driver.Options) error { return bad(ctx) }
			_, err = ci.CreateContext(t.Context(), "fake", nil)
			reported("Start", err)
			f.onClose = bad
			reported("Session.Close", ci.DeleteContext(t.Context(), id))
			f.onStart, f.onEnd = nil, bad
			reported("Runtime.Close", ci.Close())
		})
	}
}

// TestLate: output between runs is kept, marked, bounded and reported.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		ci, id := stateful(t, f, driver.Config{})
		defer ci.Close()
		say := func(s string) { f.last.Load().o.Late(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(s)}) }
		say("a")
		if res, _ := ci.RunInContext(t.Context(), id, "never", nil); len(res.Outputs) != 0 {
			t.Errorf("a run that never began has %v", res.Outputs)
		}
		say("b")
		f.programs = map[string]program{"fails": func(_ context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
			return driver.Outcome{}, p.HandOver(func() error { return errors.New("no") })
		}}
		if res, _ := ci.RunInContext(t.Context(), id, "fails", nil); len(res.Outputs) != 0 {
			t.Errorf("a run that was not handed over has %v", res.Outputs)
		}
		say("c")
		f.last.Load().o.Late(codeinterp.Output{Kind: codeinterp.Clear})
		f.last.Load().o.Late(codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte("d")}}})
		var live string
		res, err := ci.RunInContext(t.Context(), id, "ok now", &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
			live += fmt.Sprint(o.Kind, o.Late, o.Text(), " ")
			return nil
		}})
		if got := "stdout trueabc display trued stdout falsenow "; live != got || err != nil || len(res.Outputs) != 3 || !res.Outputs[1].Late || res.Stdout() != "now" {
			t.Errorf("live %q, want %q; %+v, %v", live, got, res.Outputs, err)
		}
		for range 3 << 10 {
			say(strings.Repeat("x", 1<<10))
		}
		res, _ = ci.RunInContext(t.Context(), id, "ok", nil)
		var n int64
		for _, o := range res.Outputs {
			n += int64(len(o.Data))
		}
		if want := (codeinterp.Truncation{Stream: "stdout", Bytes: 3 << 20, Kept: n, Reason: codeinterp.TruncatedByLimit}); n > 1<<20 || len(res.Truncated) != 1 || res.Truncated[0] != want {
			t.Errorf("%d bytes kept, %+v", n, res.Truncated)
		}
	})
}

// TestClose: sessions in parallel, then the runtime; errors are reported.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		f.onClose = func(context.Context) error { time.Sleep(time.Second); return errors.New("cannot remove it") }
		f.onEnd = func(context.Context) error {
			if n := f.open.Load(); n != 0 {
				t.Errorf("%d sessions open when the runtime is closed", n)
			}
			return errors.New("one is left")
		}
		ci := driver.NewStateful(f, driver.Config{})
		for range 50 {
			create(t, ci)
		}
		begin := time.Now()
		go ci.Close()
		err := ci.Close()
		if time.Since(begin) != time.Second || err == nil || !strings.Contains(err.Error(), "cannot remove it") || !strings.Contains(err.Error(), "one is left") {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
	synctest.Test(t, func(t *testing.T) { // none of them answers
		f := &fake{onClose: func(context.Context) error { time.Sleep(time.Hour); return nil }}
		ci := driver.NewStateful(f, driver.Config{Patience: time.Second})
		for range 50 {
			go ci.RunInContext(t.Context(), create(t, ci), "unresponsive", nil)
		}
		synctest.Wait()
		begin := time.Now()
		if err := ci.Close(); time.Since(begin) > 5*time.Second || err == nil || !strings.Contains(err.Error(), "may still be running") {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		time.Sleep(3 * time.Hour)
	})
	synctest.Test(t, func(t *testing.T) { // while a context is being created
		f := &fake{onStart: func(ctx context.Context, _ driver.Options) error { <-ctx.Done(); return ctx.Err() }}
		ci := driver.NewStateful(f, driver.Config{})
		time.AfterFunc(time.Second, func() { ci.Close() })
		if _, err := ci.CreateContext(t.Context(), "fake", nil); !errors.Is(err, codeinterp.ErrClosed) {
			t.Error(err)
		}
	})
}

// TestSlowReset holds up its own context only.
func TestSlowReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{onReset: func(context.Context) error { time.Sleep(5 * time.Second); return nil }}
		ci, id := stateful(t, f, driver.Config{})
		defer ci.Close()
		go ci.RestartContext(t.Context(), id)
		synctest.Wait()
		begin := time.Now()
		ci.ListContexts(t.Context())
		ci.RunInContext(t.Context(), create(t, ci), "ok", nil)
		if time.Since(begin) != 0 {
			t.Errorf("others waited %v", time.Since(begin))
		}
		res, err := ci.RunInContext(t.Context(), id, "ok", nil)
		want{status: "ok", count: 1}.check(t, "its own", res, err)
		if time.Since(begin) != 5*time.Second {
			t.Errorf("its own waited %v", time.Since(begin))
		}
	})
}

func TestCapacityAndIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		ci, id := stateful(t, f, driver.Config{MaxContexts: 2, Idle: time.Minute})
		defer ci.Close()
		other := create(t, ci)
		if _, err := ci.CreateContext(t.Context(), "fake", nil); !errors.Is(err, codeinterp.ErrCapacity) {
			t.Error(err)
		}
		for range 3 {
			time.Sleep(50 * time.Second)
			if res, err := ci.RunInContext(t.Context(), id, "sleep 70s", nil); !res.OK() {
				t.Error(err)
			}
		}
		if _, err := ci.RunInContext(t.Context(), other, "ok", nil); !errors.Is(err, codeinterp.ErrContext) {
			t.Errorf("an unused context: %v", err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if list, _ := ci.ListContexts(t.Context()); len(list) != 0 || f.open.Load() != 0 {
			t.Errorf("%+v, %d sessions", list, f.open.Load())
		}
	})
}

func TestAttach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		ci := driver.NewStateful(f, driver.Config{})
		a, ok := codeinterp.Attaches(ci)
		if !ok {
			t.Fatal("the fake is an Attacher")
		}
		if _, err := a.Attach(t.Context(), ""); !errors.Is(err, codeinterp.ErrContext) {
			t.Error(err)
		}
		id, err := a.Attach(t.Context(), "ref")
		if err != nil {
			t.Fatal(err)
		}
		res, err := ci.RunInContext(t.Context(), id, "gone", nil)
		want{status: "ok", count: 1, lost: true}.check(t, "a state that went meanwhile", res, err)
		run := start(ci, t.Context(), id, "sleep 1s", nil)
		synctest.Wait()
		if list, _ := ci.ListContexts(t.Context()); len(list) != 1 || list[0].Language != "fake" || list[0].Cwd != "/x" {
			t.Errorf("%+v", list)
		}
		f.last.Load().o.Late(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte("late")})
		ref, err := a.Detach(t.Context(), id)
		if !f.unread {
			t.Error("late output is not reported")
		}
		if <-run.done; ref != "ref" || err != nil || !run.res.OK() {
			t.Error(ref, err, run.res.Status)
		}
		if err := ci.Close(); err != nil || f.open.Load() != 0 {
			t.Error(err, f.open.Load())
		}
	})
}

// Sessions that do not end are counted, reported and limited.
func TestMaxStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci, id := stateful(t, &fake{}, driver.Config{MaxStuck: 2})
		for n := 1; n <= 2; n++ {
			run := start(ci, t.Context(), id, "unresponsive", &codeinterp.RunOptions{Timeout: time.Second})
			<-run.done
			want{"timeout", 124, "", true, 1, codeinterp.ErrUnavailable, "may still be running"}.check(t, "unresponsive", run.res, run.err)
			if got := ci.Stuck(); got != n {
				t.Errorf("%d sessions are stuck, want %d", got, n)
			}
		}
		if reasons := ci.Describe().Isolation.Reasons; len(reasons) != 1 || !strings.Contains(reasons[0], "2 sessions") {
			t.Errorf("Describe tells %q", reasons)
		}
		res, err := ci.RunInContext(t.Context(), id, "ok", nil)
		want{status: "not_run", exit: -1, err: codeinterp.ErrCapacity, text: "2 sessions"}.check(t, "a run", res, err)
		res, err = ci.RunCode(t.Context(), "fake", "ok", nil)
		want{status: "not_run", exit: -1, err: codeinterp.ErrCapacity, text: "2 sessions"}.check(t, "RunCode", res, err)
		time.Sleep(2 * time.Hour) // they come back
		run := start(ci, t.Context(), id, "ok", nil)
		<-run.done
		want{status: "ok", count: 1}.check(t, "afterwards", run.res, run.err)
		if err := ci.Close(); err != nil {
			t.Error(err)
		}
	})
}
