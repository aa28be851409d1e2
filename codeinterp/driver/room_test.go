package driver_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

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
