//go:build full

package inmemory_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

const (
	memoryLimit = 64 << 20

	// margin is what a run may take beside its limited memory: the stack of
	// its goroutine, frames of the C library, output and files, all limited.
	margin = 192 << 20
)

const (
	// atOnce is how long after its timeout a run may end.
	atOnce = 100 * time.Millisecond

	// graceful is how long a program has to end by itself, less than what the
	// engine gives it.
	graceful = 30 * time.Millisecond
)

// A hostile program never ends, or wants everything there is. Revoked marks those that
// may sit in one built-in, or take to clean up, for so long that only taking
// their memory away ends them; the context then starts anew.
type hostile struct {
	Name, Code string
	Revoked    bool
}

func TestHostile(t *testing.T) {
	const timeout = 100 * time.Millisecond
	s := open(t, &inmemory.Options{Limits: engine.Limits{Memory: memoryLimit}})
	slowest := watchHeart(t)
	for _, c := range slices.Concat(hostileFirst, hostileMore) {
		t.Run(c.Name, func(t *testing.T) {
			// A machine that is busy elsewhere can make a program look as if
			// it could not be stopped.
			lost, late := true, true
			for try := 0; try < 5 && (lost || late); try++ {
				lost, late = endure(t, s, c.Code, timeout)
				lost = lost && !c.Revoked
			}
			if lost {
				t.Error("lost its state five times, having had time to end")
			}
			if late {
				t.Error("ended too late five times")
			}
		})
	}
	if d := slowest(); d > 2*time.Second {
		t.Errorf("the host stood still for %v of its own computing", d)
	}
	if n := s.Abandoned(); n != 0 {
		t.Errorf("%d engines were abandoned", n)
	}
}

// endure runs a hostile program and reports whether it took its context's
// state along though it had time to end, and whether it went on computing for
// too long after its timeout. What the machine spent on other processes does
// not count, so that what a busy machine shows is never wrong, if less.
func endure(t *testing.T, s *inmemory.Stateful, code string, timeout time.Duration) (lost, late bool) {
	debug.FreeOSMemory()
	before := residentBytes(t)
	peak := watchMemory(t)
	id := create(t, s, "javascript")
	run(t, s, id, "globalThis.kept = 1", nil)
	atTimeout := make(chan time.Duration, 1)
	start := time.Now()
	mark := time.AfterFunc(timeout, func() { atTimeout <- cpuTime(t) })
	res := run(t, s, id, code, &codeinterp.RunOptions{Timeout: timeout, MaxOutput: 1 << 20})
	took := time.Since(start)
	lost = res.StateLost
	if !mark.Stop() {
		computed := cpuTime(t) - <-atTimeout
		late = took-timeout > atOnce && computed > atOnce
		lost = lost && computed >= graceful
	}
	if took-timeout > time.Minute {
		t.Errorf("ended %v after its timeout", took-timeout)
	}
	if used := peak() - before; used > memoryLimit+margin {
		t.Errorf("took %d MiB of memory", used>>20)
	}
	after := run(t, s, id, "typeof kept", nil)
	if kept := after.Text() == "number"; kept == res.StateLost {
		t.Errorf("StateLost is %v, but the variable was kept: %v", res.StateLost, kept)
	}
	if err := s.DeleteContext(t.Context(), id); err != nil {
		t.Error(err)
	}
	t.Logf("%-7s %3d in %v, peak %+d MiB, lost %v, %v", res.Status, res.ExitCode, took.Round(time.Millisecond),
		(peak()-before)>>20, res.StateLost, res.Error)
	return lost, late
}

// watchHeart measures the longest time that another goroutine had to wait while
// the process computed.
func watchHeart(t *testing.T) func() time.Duration {
	var worst atomic.Int64
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go func() {
		last, computed := time.Now(), cpuTime(t)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				now := cpuTime(t)
				worst.Store(max(worst.Load(), int64(min(time.Since(last), now-computed))))
				last, computed = time.Now(), now
			}
		}
	}()
	return func() time.Duration { return time.Duration(worst.Load()) }
}

// watchMemory samples the process's resident memory.
func watchMemory(t *testing.T) func() int64 {
	var peak atomic.Int64
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				peak.Store(max(peak.Load(), residentBytes(t)))
			}
		}
	}()
	runtime.Gosched()
	return peak.Load
}
