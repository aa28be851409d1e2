package inmemory_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/hostiletest"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// stressFor is how long TestStress goes on: as TOOLCELL_STRESS says, such as 30m.
func stressFor(t *testing.T) time.Duration {
	text := os.Getenv("TOOLCELL_STRESS")
	if text == "" {
		return 3 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("TOOLCELL_STRESS: %v", err)
	}
	return d
}

// A stress runs hostile programs, which are stopped in every way there is, beside
// programs whose answers are known and memory whose contents are.
type stress struct {
	*testing.T
	s       *inmemory.Stateful
	end     time.Time
	hostile []hostiletest.Program

	runs, lost, answers, damaged atomic.Int64
}

// What hostile programs do, and what ending them takes, reaches nobody else: not
// the contexts of others, not their runs, not the host's own memory.
func TestStress(t *testing.T) {
	const callers = 8
	goroutines, files := runtime.NumGoroutine(), openFiles()
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	x := &stress{T: t, end: time.Now().Add(stressFor(t)), hostile: hostiletest.JavaScript()}
	x.s = open(t, &inmemory.Options{Limits: engine.Limits{Memory: 48 << 20}, MaxRunning: callers, MaxMemory: 4 << 30})
	var wg sync.WaitGroup
	for n := range callers {
		rng := rand.New(rand.NewPCG(7, uint64(n)))
		wg.Go(func() { x.attack(rng) })
		wg.Go(func() { x.neighbour(n) })
		wg.Go(func() { x.tenant(n) })
	}
	wg.Go(x.heap)
	wg.Wait()
	t.Logf("%d hostile runs, %d of which took their state along; %d right answers beside them",
		x.runs.Load(), x.lost.Load(), x.answers.Load())
	if n := x.s.Abandoned(); n > 0 {
		t.Errorf("%d engines were abandoned", n)
	}
	for wait := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines+2 && time.Now().Before(wait); {
		time.Sleep(10 * time.Millisecond) // timers that meddle with runs which have ended
	}
	if n := runtime.NumGoroutine(); n > goroutines+2 {
		t.Errorf("%d goroutines, which were %d", n, goroutines)
	}
	if n := openFiles(); n > files+8 { // the runtime's own
		t.Errorf("%d files are open, which were %d", n, files)
	}
}

// openFiles is how many files the process has open, 0 where that is unknown.
func openFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

func (x *stress) going() bool { return time.Now().Before(x.end) && x.damaged.Load() < 10 }

func (x *stress) wrong(format string, args ...any) {
	if x.damaged.Add(1) <= 10 {
		x.Errorf(format, args...)
	}
}

// attack runs hostile programs in one context after the other.
func (x *stress) attack(rng *rand.Rand) {
	ctx := x.Context()
	for x.going() {
		id, err := x.s.CreateContext(ctx, "javascript", nil)
		if err != nil {
			x.wrong("a new context: %v", err)
			return
		}
		for range 1 + rng.IntN(4) {
			x.attackOnce(rng, id)
		}
		if err := x.s.DeleteContext(ctx, id); err != nil {
			x.wrong("the end of a context: %v", err)
		}
	}
}

func (x *stress) attackOnce(rng *rand.Rand, id codeinterp.ContextID) {
	ctx, cancel := context.WithCancel(x.Context())
	defer cancel()
	p := x.hostile[rng.IntN(len(x.hostile))]
	o := &codeinterp.RunOptions{Timeout: time.Duration(1+rng.IntN(60)) * time.Millisecond, MaxOutput: 1 << 16}
	if rng.IntN(2) == 0 {
		n := 0
		o.OnOutput = func(codeinterp.Output) error {
			if n++; n%50 == 0 {
				panic("a callback's own fault")
			}
			return nil
		}
	}
	after := time.Duration(rng.IntN(30)) * time.Millisecond
	switch rng.IntN(6) {
	case 0:
		time.AfterFunc(after, cancel)
	case 1:
		time.AfterFunc(after, func() { _ = x.s.InterruptContext(context.Background(), id) })
	case 2:
		time.AfterFunc(after, func() { _ = x.s.RestartContext(context.Background(), id) })
	}
	res, err := x.s.RunInContext(ctx, id, p.Code, o)
	x.runs.Add(1)
	if errors.Is(err, codeinterp.ErrUnavailable) {
		x.wrong("%s: got %v: %v", p.Name, res.Status, err)
	}
	if res.StateLost {
		x.lost.Add(1)
	}
	if res.Error != nil && res.Error.Name == "InternalError" && len(res.Error.Traceback) == 0 && res.Status == codeinterp.StatusLost {
		x.wrong("%s: the engine failed by itself: %v", p.Name, res.Error)
	}
}

// neighbour keeps a large state and checks all of it again and again.
func (x *stress) neighbour(n int) {
	id := create(x, x.s, "javascript")
	ask := func(code string) string {
		res, err := x.s.RunInContext(x.Context(), id, code, nil)
		if err != nil || !res.OK() || res.StateLost {
			x.wrong("neighbour %d: got %v, state lost %v, %v %v", n, res.Status, res.StateLost, res.Error, err)
		}
		return res.Text()
	}
	want := ask(fmt.Sprintf(`
const list = Array.from({ length: 5000 }, (_, i) => ({ i, s: "k" + i * %d })), bytes = new Uint8Array(3e5).map((_, i) => i * %d);
const sum = () => {
	let h = 0;
	for (const o of list) h = (h * 31 + o.i + o.s.length + o.s.charCodeAt(o.s.length - 1)) | 0;
	for (let i = 0; i < bytes.length; i += 7) h = (h * 33 + bytes[i]) | 0;
	return h;
};
sum()`, n+3, n+5))
	for k := 0; x.going(); k++ {
		if got := ask("sum()"); got != want {
			x.wrong("neighbour %d: its memory sums up to %s, which was %s", n, got, want)
		}
		x.answers.Add(1)
		time.Sleep(10 * time.Millisecond)
	}
}

// tenant runs programs without a context and checks their answers.
func (x *stress) tenant(n int) {
	for k := 0; x.going(); k++ {
		tag := fmt.Sprintf("tenant %d run %d", n, k)
		res, err := x.s.RunCode(x.Context(), "javascript", program("javascript", tag, false), nil)
		if err != nil || !res.OK() || res.Text() != tag {
			x.wrong("%s: got %v %q, %v %v", tag, res.Status, res.Text(), res.Error, err)
		} else if err := printed(res, tag); err != nil {
			x.wrong("%s: %v", tag, err)
		}
		x.answers.Add(1)
		time.Sleep(time.Millisecond)
	}
}

// heap checks that what it put into Go's memory stays as it is.
func (x *stress) heap() {
	type block struct {
		bytes []byte
		sum   [sha256.Size]byte
	}
	var kept []block
	for k := 0; x.going(); k++ {
		b := make([]byte, 1000+k*7919%100_000)
		for i := range b {
			b[i] = byte(i * k)
		}
		kept = append(kept, block{b, sha256.Sum256(b)})
		if len(kept) > 50 {
			if kept[0].sum != sha256.Sum256(kept[0].bytes) {
				x.wrong("Go's own memory was written to")
			}
			kept = kept[1:]
		}
		time.Sleep(2 * time.Millisecond)
	}
}
