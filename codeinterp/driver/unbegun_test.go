package driver_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp/driver"
)

// TestCancelAtBegin: a program whose run is canceled at the moment in which it is handed
// over is either not handed over, or interrupted before it is killed.
func TestCancelAtBegin(t *testing.T) {
	var cancel func()
	killed := 0
	f := &fake{programs: map[string]program{"begin": func(ctx context.Context, s *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
		stopped := p.Taken() // of a program before this one; it is closed as soon as the run is to end
		go cancel()
		for waiting := true; waiting; {
			select {
			case <-stopped:
				waiting = false
			default:
			}
		}
		if err := p.HandOver(func() error { return nil }); err != nil {
			return driver.Outcome{}, err
		}
		select {
		case <-s.stop:
		case <-ctx.Done():
			killed++
		}
		return driver.Outcome{}, nil
	}}}
	ci, id := stateful(t, f, driver.Config{Grace: time.Minute})
	for range 3_000 {
		ctx, end := context.WithCancel(t.Context())
		cancel = end
		if _, err := ci.RunInContext(ctx, id, "begin", nil); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if killed > 0 {
		t.Errorf("%d programs were killed without an interrupt", killed)
	}
}
