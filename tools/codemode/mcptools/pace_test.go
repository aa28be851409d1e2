package mcptools

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestPace: streams that end at once are opened ever more rarely, and those of no call
// not for ever; one that lasts is opened again at once.
func TestPace(t *testing.T) {
	opened := func(span, longest time.Duration, most int, lasts func(n int) time.Duration) (n int) {
		ctx, cancel := context.WithTimeout(context.Background(), span)
		defer cancel()
		var p pace
		for p.wait(ctx, longest, most) {
			n++
			time.Sleep(lasts(n))
		}
		return n
	}
	synctest.Test(t, func(t *testing.T) {
		atOnce := func(int) time.Duration { return time.Millisecond }
		for _, c := range []struct {
			name    string
			got     int
			min, to int
		}{
			{"a minute of nobody", opened(time.Minute, idlePause, maxShort, atOnce), 9, 11},
			{"a day of nobody", opened(24*time.Hour, idlePause, maxShort, atOnce), maxShort + 1, maxShort + 1},
			{"an hour of a call", opened(time.Hour, callPause, 0, atOnce), 700, 730},
			{"polls of five seconds", opened(time.Hour, callPause, 0, func(int) time.Duration { return callPause }), 719, 721},
			{"streams that last", opened(time.Hour, idlePause, maxShort, func(int) time.Duration { return steady }), 360, 361},
			{"one in ten that lasts", opened(24*time.Hour, idlePause, maxShort, func(n int) time.Duration {
				if n%10 == 0 {
					return steady
				}
				return 0
			}), maxShort * 10, 24 * 3600},
		} {
			if c.got < c.min || c.got > c.to {
				t.Errorf("%s: %d streams, want %d to %d", c.name, c.got, c.min, c.to)
			}
		}
	})
}

// TestPaceGivenUp: who waits behind another is given up at once, and moves nobody; who
// is not opens a stream a pause after the other.
func TestPaceGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pace
		p.wait(t.Context(), callPause, 0)
		p.short = 100
		began := time.Now()
		type opened struct {
			ok    bool
			after time.Duration
		}
		wait := func(ctx context.Context) <-chan opened {
			c := make(chan opened, 1)
			go func() {
				ok := p.wait(ctx, callPause, 0)
				c <- opened{ok, time.Since(began)}
			}()
			synctest.Wait()
			return c
		}
		first := wait(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		gone := wait(ctx)
		last := wait(t.Context())
		for _, c := range []struct {
			name string
			got  <-chan opened
			want opened
		}{{"first", first, opened{true, callPause}}, {"gone", gone, opened{false, time.Second}}, {"last", last, opened{true, 2 * callPause}}} {
			if got := <-c.got; got != c.want {
				t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
			}
		}
	})
}
