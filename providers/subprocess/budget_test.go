package subprocess

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/sync/semaphore"
)

// TestFramesInFlight has several drivers send large frames at once: who finds no
// room waits for it, until the channel is closed, and gives back what it took.
func TestFramesInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budget{frames: semaphore.NewWeighted(4 << 20)}
		ctx, shut := context.WithCancel(t.Context())
		read := func(in []byte) (frame, error) {
			return readFrame(bytes.NewReader(in), func(n int) (func(), error) { return b.frame(ctx, n) })
		}
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

func TestOpenArguments(t *testing.T) {
	b := newBudget()
	var frees []func()
	for range maxOpenArgs / maxFrame {
		free, ok := b.call(maxFrame)
		if !ok {
			t.Fatal("no room for the arguments of two calls")
		}
		frees = append(frees, free)
	}
	if _, ok := b.call(1); ok {
		t.Error("more arguments than there is room for")
	}
	frees[0]()
	if _, ok := b.call(1); !ok {
		t.Error("no room after a call has ended")
	}
}
