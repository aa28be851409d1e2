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

// TestUnread: results beyond those that may wait for the program fail.
func TestUnread(t *testing.T) {
	read := make(chan struct{})
	ci, id := stateful(t, &fake{programs: map[string]program{"hoards": func(ctx context.Context, s *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
		p.Begin()
		var answered, failed sync.WaitGroup
		answered.Add(30)
		failed.Add(26) // there is room for the other four
		for range 30 {
			p.Start(ctx, "get", nil, func(_ json.RawMessage, err error) {
				defer answered.Done()
				if err != nil {
					failed.Done()
					return
				}
				<-read
			})
		}
		failed.Wait()
		close(read)
		answered.Wait()
		return driver.Outcome{}, nil
	}}}, driver.Config{})
	get := fn("get", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
		return json.RawMessage(`"12345678"`), nil
	})
	res, err := ci.RunInContext(t.Context(), id, "hoards", &codeinterp.RunOptions{Functions: []codeinterp.Function{get}, FunctionLimits: codeinterp.FunctionLimits{Pending: 45}})
	beyond := 0
	for _, c := range res.Calls {
		if strings.Contains(c.Error, "more than 45 bytes") {
			beyond++
		}
	}
	if err != nil || !res.OK() || beyond != 26 {
		t.Errorf("%d of 30 results found no room: %+v, %v", beyond, res, err)
	}
}
