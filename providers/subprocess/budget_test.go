package subprocess

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"
)

// TestFramesInFlight has several drivers send large frames at once: who finds no
// room waits for it, until the channel is closed, and gives back what it took.
func TestFramesInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget()
		b.frames = semaphore.NewWeighted(4 << 20)
		ctx, shut := context.WithCancel(t.Context())
		read := func(in []byte) (frame, error) { return readFrame(bytes.NewReader(in), rooms{b, ctx, nil}) }
		large, small := encode(frameShow, strings.Repeat("x", 3<<20)), encode(frameShow, "x")
		first, err := read(large)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 3)
		go func() {
			f, err := read(large)
			f.release()
			done <- err
		}()
		synctest.Wait()
		if len(done) > 0 {
			t.Error("a second large frame was read while there was no room")
		}
		if _, err := read(small); err != nil {
			t.Errorf("a small frame: %v", err)
		}
		first.release()
		first.release() // has no effect
		if err := <-done; err != nil {
			t.Errorf("after there was room: %v", err)
		}
		for _, broken := range [][]byte{large[:2<<20], append([]byte("00200000Z"), bytes.Repeat([]byte("f"), 2<<20)...)} {
			if _, err := read(broken); err == nil {
				t.Error("half a frame, or one of nonsense, was read")
			}
		}
		last, err := read(large)
		if err != nil || !b.frames.TryAcquire(1<<20-digits*2-1) {
			t.Errorf("frames that were not read keep their room: %v", err)
		}
		go func() { _, err := read(large); done <- err }()
		synctest.Wait()
		shut()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("once the channel was closed: %v", err)
		}
		last.release()
	})
}

// rooms is the reserver of a test's frame.
type rooms struct {
	*budget
	ctx  context.Context
	stop func()
}

func (r rooms) room(n int) (*coming, func(), error) { return r.frame(r.ctx, n, r.stop) }

func (r rooms) arrived(c *coming, err error) error {
	if r.budget.arrived(c) && err != nil {
		return errSlow
	}
	return err
}

// TestSlowFrames: a driver that does not send what it claimed room for keeps it
// while nobody else needs it, and holds others up for seconds at most.
func TestSlowFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget()
		large := encode(frameShow, strings.Repeat("x", maxFrame-digits-1))
		slow := make(chan error, 2)
		for range maxInFlight / maxFrame {
			r, w := io.Pipe()
			go w.Write(large[:3<<20])
			go func() {
				_, err := readFrame(r, rooms{b, t.Context(), func() { r.Close() }})
				slow <- err
			}()
		}
		time.Sleep(maxPause / 2)
		if len(slow) > 0 {
			t.Error("a slow driver was given up for nobody")
		}
		begin := time.Now()
		f, err := readFrame(bytes.NewReader(large), rooms{b, t.Context(), nil})
		if took := time.Since(begin); err != nil || took > 2*slack {
			t.Errorf("another's frame after %v: %v", took, err)
		}
		f.release()
		for range cap(slow) {
			if err := <-slow; err != errSlow {
				t.Errorf("a slow driver: %v", err)
			}
		}
		if !b.frames.TryAcquire(maxInFlight) || len(b.coming) > 0 {
			t.Error("room was kept")
		}
	})
}

// TestOpenArguments: no process takes all the room for arguments, and small ones
// have theirs.
func TestOpenArguments(t *testing.T) {
	b := newBudget()
	var greedy, other share
	var frees []func()
	take := func(s *share, n int) (times int) {
		for {
			free, ok := b.call(s, n)
			if !ok {
				return times
			}
			frees = append(frees, free)
			times++
		}
	}
	if n := take(&greedy, 16<<20); n != 4 {
		t.Errorf("one process has the room of %d calls", n)
	}
	take(&greedy, 1000)
	if n := take(&other, 16<<20); n != 2 {
		t.Errorf("another has the room of %d calls", n)
	}
	for range 100 {
		var s share
		if take(&s, 16<<20); take(&s, 1000) < step/1000 {
			t.Error("no room for small arguments")
		}
	}
	for _, free := range frees {
		free()
	}
	if (greedy != share{}) || (other != share{}) || b.args != maxOpenArgs {
		t.Errorf("room was kept: %v, %v, %d", greedy, other, b.args)
	}
}
