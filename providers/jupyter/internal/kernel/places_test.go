package kernel

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestPlaces: a call waits for its place, while output waits for OnOutput however
// long that takes, and for one that the server dropped no more than once.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := true
		c := &calls{nonce: "n", places: places{behind: func() bool { return slow }}}
		mark := func(n int) {
			if !c.reached(fmt.Appendf(nil, `{"data":{"application/vnd.toolcell.place":"n%d"}}`, n), false) {
				t.Errorf("place %d is none", n)
			}
		}
		await := func(n int, want time.Duration) {
			t.Helper()
			start := time.Now()
			c.places.await(t.Context(), n)
			if took := time.Since(start); took != want {
				t.Errorf("place %d took %v, want %v", n, took, want)
			}
		}
		go func() { time.Sleep(time.Minute); mark(1) }()
		await(1, time.Minute)
		await(1, 0)
		slow = false
		await(2, placeLimit)
		await(3, 0)
		mark(3)
		await(4, placeLimit)
		if c.reached([]byte(`{"data":{"application/vnd.toolcell.place":"other1"}}`), false) {
			t.Error("another's place is taken for one")
		}
	})
}
