package driver_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// ending prints, ends after 20 ms, and has output that is still to be taken.
func ending(o driver.Outcome, end bool) program {
	return func(ctx context.Context, _ *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		time.Sleep(20 * time.Millisecond)
		if end {
			p.End()
		}
		out.Write(codeinterp.Stdout, []byte("rest"))
		if ctx.Err() != nil {
			o.Lost = true
		}
		return o, nil
	}
}

// TestEndedBefore: the status of a program does not depend on how long OnOutput
// takes once it has ended.
func TestEndedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{programs: map[string]program{
			"ends":    ending(driver.Outcome{}, true),
			"fails":   ending(driver.Outcome{ExitCode: 3}, true),
			"unknown": ending(driver.Outcome{Unknown: errors.New("no reply")}, true),
			"silent":  ending(driver.Outcome{}, false),
			"stays": func(ctx context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
				p.Begin()
				p.End()
				<-ctx.Done()
				return driver.Outcome{Lost: true}, nil
			},
		}}
		f.onIntr = func(context.Context) error { return nil }
		ci, id := stateful(t, f, driver.Config{})
		defer ci.Close()
		for _, tc := range []struct {
			code   string
			onTook time.Duration
			want   want
			took   time.Duration
		}{
			{"ends", 1500 * time.Millisecond, want{status: "ok", count: 1}, 1520 * time.Millisecond},
			{"fails", 1500 * time.Millisecond, want{status: "error", exit: 3, count: 2}, 1520 * time.Millisecond},
			// OnOutput is waited for after the state is settled, as ever.
			{"ends", time.Minute, want{status: "ok", count: 3}, time.Minute + 20*time.Millisecond},
			{"silent", 1500 * time.Millisecond, want{status: "timeout", exit: 124, count: 4}, 1520 * time.Millisecond},
			{"unknown", 1500 * time.Millisecond, want{status: "timeout", exit: 124, count: 5, err: codeinterp.ErrUnavailable, text: "no reply"}, 1520 * time.Millisecond},
			{"stays", 0, want{status: "timeout", exit: 124, count: 6, lost: true}, 3 * time.Second},
		} {
			run := start(ci, t.Context(), id, tc.code, &codeinterp.RunOptions{Timeout: time.Second,
				OnOutput: func(codeinterp.Output) error { time.Sleep(tc.onTook); return nil }})
			<-run.done
			tc.want.check(t, tc.code, run.res, run.err)
			if run.took != tc.took {
				t.Errorf("%s: took %v, want %v", tc.code, run.took, tc.took)
			}
			if tc.want.status == "ok" && run.res.Duration != 20*time.Millisecond {
				t.Errorf("%s: Duration %v", tc.code, run.res.Duration)
			}
		}
	})
}

// TestCanceledAfterEnd: also a cancel and an interrupt come too late then, and a
// restart tells that the state is gone.
func TestCanceledAfterEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{programs: map[string]program{"ends": ending(driver.Outcome{}, true)}}
		f.onIntr = func(context.Context) error { t.Error("an interrupt after the end"); return nil }
		ci, id := stateful(t, f, driver.Config{})
		defer ci.Close()
		slow := &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error { time.Sleep(time.Second); return nil }}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		run := start(ci, ctx, id, "ends", slow)
		<-run.done
		want{status: "ok", count: 1}.check(t, "canceled", run.res, run.err)

		run = start(ci, t.Context(), id, "ends", slow)
		time.Sleep(100 * time.Millisecond)
		if err := ci.InterruptContext(t.Context(), id); err != nil {
			t.Error(err)
		}
		<-run.done
		want{status: "ok", count: 2}.check(t, "interrupted", run.res, run.err)

		run = start(ci, t.Context(), id, "ends", slow)
		time.Sleep(100 * time.Millisecond)
		if err := ci.RestartContext(t.Context(), id); err != nil {
			t.Error(err)
		}
		<-run.done
		want{status: "lost", exit: 137, cause: "restart", lost: true, count: 3}.check(t, "restarted", run.res, run.err)
	})
}
