package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func outputChecks() []check {
	list := []check{
		{
			name:   "LimitHeadAndTail",
			clause: "of output beyond MaxOutput the Result keeps the first 40 % and the last 60 %, tells the loss in Truncated, and marks the gap with Dropped",
			scope:  everyRun,
			run:    limitHeadAndTail,
		},
		{
			name:   "LimitNotExceeded",
			clause: "output of exactly MaxOutput bytes is whole",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				res, err := e.run(ctx, e.p.Lines(500), &codeinterp.RunOptions{MaxOutput: 4000})
				if err := wantOK(res, err); err != nil {
					return err
				}
				if len(res.Truncated) > 0 {
					return fmt.Errorf("got Truncated %+v, want none", res.Truncated)
				}
				return wantLines(res.Stdout(), 500)
			},
		},
		{
			name:   "LimitSpareCallback",
			clause: "OnOutput also sees what the Result drops",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				var seen strings.Builder
				res, err := e.run(ctx, e.p.Lines(2000), &codeinterp.RunOptions{MaxOutput: 100, OnOutput: func(o codeinterp.Output) error {
					seen.Write(o.Data)
					return nil
				}})
				if err := wantOK(res, err); err != nil {
					return err
				}
				return wantLines(seen.String(), 2000)
			},
		},
		{
			name:   "LimitDefault",
			clause: "MaxOutput zero means DefaultMaxOutput",
			scope:  stateless,
			needs:  []Feature{FullOutput},
			run: func(ctx context.Context, e *env) error {
				const n = codeinterp.DefaultMaxOutput/8 + 1000
				res, err := e.run(ctx, e.p.Lines(n), nil)
				if err := wantOK(res, err); err != nil {
					return err
				}
				if got := len(res.Stdout()); got != codeinterp.DefaultMaxOutput {
					return fmt.Errorf("%d bytes kept of %d, want %d", got, 8*n, codeinterp.DefaultMaxOutput)
				}
				return wantTruncated(res, "stdout", 8*n, codeinterp.DefaultMaxOutput)
			},
		},
		{
			name:   "LimitOff",
			clause: "MaxOutput -1 keeps everything",
			scope:  stateless,
			needs:  []Feature{FullOutput},
			run: func(ctx context.Context, e *env) error {
				const n = codeinterp.DefaultMaxOutput/8 + 1000
				res, err := e.run(ctx, e.p.Lines(n), &codeinterp.RunOptions{MaxOutput: -1})
				if err := wantOK(res, err); err != nil {
					return err
				}
				if len(res.Truncated) > 0 {
					return fmt.Errorf("got Truncated %+v, want none", res.Truncated)
				}
				return wantLines(res.Stdout(), n)
			},
		},
		{
			name:   "HugeOutput",
			clause: "tens of megabytes of output arrive whole at OnOutput, and the host keeps no more than MaxOutput of them",
			scope:  stateless,
			needs:  []Feature{FullOutput},
			proves: FullOutput,
			run:    hugeOutput,
		},
		{
			name:   "LossTold",
			clause: "what a provider or its server drops is told in Truncated, never passed off as complete",
			scope:  stateless,
			run: func(ctx context.Context, e *env) error {
				n := e.large(500_000)
				seen := 0
				res, err := e.run(ctx, e.p.Lines(n), &codeinterp.RunOptions{MaxOutput: -1, OnOutput: func(o codeinterp.Output) error {
					if o.Kind == codeinterp.Stdout {
						seen += len(o.Data)
					}
					return nil
				}})
				if err := wantOK(res, err); err != nil {
					return err
				}
				if seen != 8*n && len(res.Truncated) == 0 {
					return fmt.Errorf("%d of %d bytes arrived, and Truncated is empty", seen, 8*n)
				}
				return nil
			},
		},
		{
			name:   "FloodBounded",
			clause: "a program that prints without end does not fill the host's memory, also while OnOutput blocks",
			scope:  stateless,
			run:    floodBounded,
		},
	}
	for i := range list {
		list[i].uses = func(p *Programs) bool { return p.Lines != nil && p.Flood != "" }
	}
	return list
}

func limitHeadAndTail(ctx context.Context, e *env) error {
	const n, limit = 1000, 1000
	res, err := e.run(ctx, e.p.Lines(n), &codeinterp.RunOptions{MaxOutput: limit})
	if err := wantOK(res, err); err != nil {
		return err
	}
	if err := wantTruncated(res, "stdout", 8*n, limit); err != nil {
		return err
	}
	if len(res.Outputs) != 2 {
		return fmt.Errorf("%d outputs, want a head and a tail", len(res.Outputs))
	}
	var all []byte
	for i := range n {
		all = appendLine(all, i)
	}
	head, tail := res.Outputs[0], res.Outputs[1]
	if err := wantText("the head", string(head.Data), string(all[:limit*4/10])); err != nil {
		return err
	}
	if err := wantText("the tail", string(tail.Data), string(all[8*n-limit*6/10:])); err != nil {
		return err
	}
	if head.Dropped != 0 || tail.Dropped != 8*n-limit {
		return fmt.Errorf("got Dropped %d and %d, want 0 and %d", head.Dropped, tail.Dropped, 8*n-limit)
	}
	return nil
}

// wantTruncated wants one loss, by the limit.
func wantTruncated(res codeinterp.Result, stream string, bytes, kept int64) error {
	want := codeinterp.Truncation{Stream: stream, Bytes: bytes, Kept: kept, Reason: codeinterp.TruncatedByLimit}
	if len(res.Truncated) != 1 || res.Truncated[0] != want {
		return fmt.Errorf("got Truncated %+v, want %+v", res.Truncated, want)
	}
	return nil
}

// A heapWatch follows the size of the host's heap.
type heapWatch struct {
	stop chan struct{}
	done chan struct{}
	base uint64

	mu     sync.Mutex
	growth uint64 // the largest that was seen
}

func watchHeap() *heapWatch {
	h := &heapWatch{stop: make(chan struct{}), done: make(chan struct{}), base: liveHeap()}
	go func() {
		defer close(h.done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-h.stop:
				return
			case <-tick.C:
				h.look()
			}
		}
	}()
	return h
}

// look notes how large the heap is. It is called at fixed moments too, as ticks
// may be missed on a busy machine.
func (h *heapWatch) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := liveHeap(); n > h.base {
		h.growth = max(h.growth, n-h.base)
	}
}

// end returns the largest growth that was seen.
func (h *heapWatch) end() uint64 {
	close(h.stop)
	<-h.done
	return h.growth
}

// liveHeap is the size of what is in use, without garbage.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// heapMargin is how far the heap may grow beyond what is kept.
const heapMargin = 16 << 20

// large is how many lines, or bytes, a large output or result has.
func (e *env) large(n int) int {
	if e.s.cfg.Brief {
		return n / 4
	}
	return n
}

func hugeOutput(ctx context.Context, e *env) error {
	const limit = 1 << 20
	n := e.large(4 << 20)
	var seen int64
	var last [8]byte
	heap := watchHeap()
	// Not watched: what a watch keeps would count as the provider's memory.
	res, err := e.ci.RunCode(ctx, e.language, e.p.Lines(n), &codeinterp.RunOptions{MaxOutput: limit, OnOutput: func(o codeinterp.Output) error {
		if o.Kind == codeinterp.Stdout {
			seen += int64(len(o.Data))
			if len(o.Data) >= 8 {
				copy(last[:], o.Data[len(o.Data)-8:])
			}
		}
		return nil
	}})
	grown := heap.end()
	if err := wantOK(res, err); err != nil {
		return err
	}
	if seen != int64(8*n) {
		return fmt.Errorf("OnOutput saw %d bytes, want %d", seen, 8*n)
	}
	if err := wantTruncated(res, "stdout", int64(8*n), limit); err != nil {
		return err
	}
	if !strings.HasSuffix(res.Stdout(), fmt.Sprintf("%07d\n", n-1)) {
		return fmt.Errorf("the tail %s lacks the last line", quote(res.Stdout()))
	}
	if grown > limit+heapMargin {
		return fmt.Errorf("the heap grew by %d MiB for %d MiB of output", grown>>20, 8*n>>20)
	}
	return nil
}

func floodBounded(ctx context.Context, e *env) error {
	timeout, err := e.timeout(ctx, 700*time.Millisecond)
	if err != nil {
		return err
	}
	heap := watchHeap()
	blocked := false
	res, err := e.ci.RunCode(ctx, e.language, e.p.Flood, &codeinterp.RunOptions{Timeout: timeout, MaxOutput: 1 << 20, OnOutput: func(codeinterp.Output) error {
		if !blocked {
			blocked = true
			time.Sleep(500 * time.Millisecond)
			heap.look()
		}
		return nil
	}})
	grown := heap.end()
	if err := wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout); err != nil {
		return err
	}
	if !blocked {
		return errors.New("no output")
	}
	if grown > heapMargin {
		return fmt.Errorf("the heap grew by %d MiB", grown>>20)
	}
	return nil
}
