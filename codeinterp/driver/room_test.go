package driver_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// TestRoom: a program that reads no answers has no more calls served than there
// may be at once, however many it makes, and those that wait end with the run.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept, served atomic.Int32
		ci, id := stateful(t, &fake{programs: map[string]program{"hoards": func(ctx context.Context, s *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
			p.Room = func(ctx context.Context) bool {
				for kept.Load() > 0 && ctx.Err() == nil {
					time.Sleep(10 * time.Millisecond)
				}
				return ctx.Err() == nil
			}
			p.Begin()
			for range 100 {
				go p.Call(ctx, "get", nil)
			}
			<-s.stop
			return driver.Outcome{ExitCode: 1}, nil
		}}}, driver.Config{})
		get := fn("get", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			served.Add(1)
			time.Sleep(time.Second)
			kept.Add(1)
			return nil, nil
		})
		res, err := ci.RunInContext(t.Context(), id, "hoards", &codeinterp.RunOptions{Timeout: time.Minute,
			Functions: []codeinterp.Function{get}, FunctionLimits: codeinterp.FunctionLimits{Parallel: 7}})
		if err != nil || res.Status != codeinterp.StatusTimeout || served.Load() != 7 || len(res.Calls) != 100 || res.Calls[99].Error != "the run has ended" {
			t.Errorf("%d calls were served; %+v, %v", served.Load(), res, err)
		}
		ci.Close()
	})
}

// TestUnread: results that a program does not take have further calls wait, and
// those that come beyond the limit fail.
func TestUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var served, replied, failed atomic.Int32
		read := make(chan struct{})
		ci, id := stateful(t, &fake{programs: map[string]program{"hoards": func(ctx context.Context, s *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
			p.Begin()
			var answered sync.WaitGroup
			answered.Add(30)
			for range 30 {
				p.Start(ctx, "get", nil, func(_ json.RawMessage, err error) {
					defer answered.Done()
					if replied.Add(1); err != nil {
						failed.Add(1)
						return
					}
					<-read
				})
			}
			answered.Wait()
			return driver.Outcome{}, nil
		}}}, driver.Config{})
		get := fn("get", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			served.Add(1)
			time.Sleep(time.Second)
			return json.RawMessage(`"12345678"`), nil
		})
		p := start(ci, t.Context(), id, "hoards", &codeinterp.RunOptions{Timeout: time.Minute, Functions: []codeinterp.Function{get},
			FunctionLimits: codeinterp.FunctionLimits{Parallel: 7, Pending: 45}})
		time.Sleep(10 * time.Second)
		if replied.Load() != served.Load() || failed.Load()+4 != replied.Load() || replied.Load() > 9 {
			t.Errorf("%d were served, %d answered, %d of them with an error", served.Load(), replied.Load(), failed.Load())
		}
		first := failed.Load()
		close(read)
		<-p.done
		beyond := int32(0)
		for _, c := range p.res.Calls {
			if strings.Contains(c.Error, "more than 45 bytes") {
				beyond++
			}
		}
		if !p.res.OK() || served.Load() != 30 || failed.Load() != first || beyond != first {
			t.Errorf("%d failed; %+v", failed.Load(), p.res)
		}
		ci.Close()
	})
}
