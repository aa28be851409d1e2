package conformance

import (
	"context"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestRefillIsNoLeak: a pool that is still being filled when it is counted first has
// more in it later, and leaks nothing.
func TestRefillIsNoLeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var deleted atomic.Int32
		filled := make(chan struct{})
		defer close(filled)
		cfg := toyConfig(func() (codeinterp.CodeInterpreter, error) {
			ci, err := newToyStateful()
			return on(codeinterp.OpDelete, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if deleted.Add(1) == 2 {
					time.AfterFunc(time.Second, func() {
						for range 20 {
							go func() { <-filled }()
						}
					})
				}
				return next(ctx, c)
			})(ci), err
		}, true)
		s, err := newSuite(cfg)
		if err != nil {
			t.Fatal(err)
		}
		s.all = slices.DeleteFunc(s.all, func(c check) bool { return c.name != "LeakContexts" })
		s.announce = io.Discard
		if err := s.check(t.Context()); err != nil {
			t.Error(err)
		}
		if deleted.Load() < 2 {
			t.Error("no contexts were deleted")
		}
	})
}
