package frames

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// rooms is the Room of one process.
type rooms struct {
	*Budget
	ctx context.Context
}

func (r rooms) Take(n int) (func(), error) { return r.Frame(r.ctx, n) }

// TestFramesInFlight: drivers that send large frames at once wait for room, until their
// channel is closed.
func TestFramesInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, large := NewBudget(), Encode(Show, string(make([]byte, maxFrame-1000)))
		first, err := Read(bytes.NewReader(large), rooms{b, t.Context()})
		if err != nil {
			t.Fatal(err)
		}
		second, err := Read(bytes.NewReader(large), rooms{b, t.Context()})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		third := make(chan error)
		go func() {
			_, err := Read(bytes.NewReader(large), rooms{b, ctx})
			third <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-third; !errors.Is(err, context.Canceled) {
			t.Errorf("without room: %v", err)
		}
		go func() {
			f, err := Read(bytes.NewReader(large), rooms{b, t.Context()})
			f.Release()
			third <- err
		}()
		synctest.Wait()
		first.Release()
		if err := <-third; err != nil {
			t.Errorf("with room: %v", err)
		}
		if _, err := Read(bytes.NewReader(large[:len(large)-1]), rooms{b, t.Context()}); err == nil {
			t.Error("a frame that is cut off was read")
		}
		second.Release()
		if !b.frames.TryAcquire(maxInFlight) {
			t.Error("room is kept")
		}
	})
}

// TestOpenArguments: no process takes all the room for arguments, and small arguments
// have room of their own.
func TestOpenArguments(t *testing.T) {
	b := NewBudget()
	var greedy, other Args
	var frees []func()
	take := func(s *Args, n int) (times int) {
		for {
			free, ok := b.Call(s, n)
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
		var s Args
		if take(&s, 16<<20); take(&s, 1000) < step/1000 {
			t.Error("no room for small arguments")
		}
	}
	for _, free := range frees {
		free()
	}
	if (greedy != Args{}) || (other != Args{}) || b.args != MaxOpenArgs {
		t.Errorf("room was kept: %v, %v, %d", greedy, other, b.args)
	}
}
