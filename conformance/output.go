package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func outputChecks() []check {
	list := []check{
		{
			name: "LimitHeadAndTail", row: 26, scope: everyRun,
			clause: "of output beyond MaxOutput the Result keeps the first 40 % and the last 60 %, tells the loss in Truncated, and marks the gap with Dropped",
			run:    limitHeadAndTail,
		},
		{
			name: "HugeOutput", row: 26, scope: stateless, needs: []Feature{FullOutput}, proves: FullOutput,
			clause: "tens of megabytes of output arrive whole at OnOutput, and the host keeps no more than MaxOutput of them",
			run:    hugeOutput,
		},
		{
			name: "LossReported", row: 26, scope: stateless,
			clause: "what a provider or its server drops is reported in Truncated, never passed off as complete",
			run: func(ctx context.Context, e *env) error {
				const n = 200_000
				seen := 0
				res, err := e.run(ctx, e.p.Lines(n), &codeinterp.RunOptions{MaxOutput: -1, OnOutput: func(o codeinterp.Output) error {
					if o.Kind == codeinterp.Stdout {
						seen += len(o.Data)
					}
					return nil
				}})
				must(wantOK(res, err))
				if seen != 8*n && len(res.Truncated) == 0 {
					return fmt.Errorf("%d of %d bytes arrived, and Truncated is empty", seen, 8*n)
				}
				return nil
			},
		},
		{
			name: "FloodBounded", scope: stateless,
			clause: "a program that prints without end does not fill the host's memory, also while OnOutput blocks",
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
	must(wantOK(res, err))
	must(wantTruncated(res, "stdout", 8*n, limit))
	if len(res.Outputs) != 2 {
		return fmt.Errorf("%d outputs, want a head and a tail", len(res.Outputs))
	}
	var all []byte
	for i := range n {
		all = appendLine(all, i)
	}
	head, tail := res.Outputs[0], res.Outputs[1]
	must(wantText("the head", string(head.Data), string(all[:limit*4/10])))
	must(wantText("the tail", string(tail.Data), string(all[8*n-limit*6/10:])))
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

func hugeOutput(ctx context.Context, e *env) error {
	const limit = 1 << 20
	const n = 3 << 20
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
	must(wantOK(res, err))
	if seen != int64(8*n) {
		return fmt.Errorf("OnOutput saw %d bytes, want %d", seen, 8*n)
	}
	must(wantTruncated(res, "stdout", int64(8*n), limit))
	if !strings.HasSuffix(res.Stdout(), fmt.Sprintf("%07d\n", n-1)) {
		return fmt.Errorf("the tail %s lacks the last line", quote(res.Stdout()))
	}
	if grown > limit+heapMargin {
		return fmt.Errorf("the heap grew by %d MiB for %d MiB of output", grown>>20, 8*n>>20)
	}
	return nil
}

func floodBounded(ctx context.Context, e *env) error {
	timeout := need(e.timeout(ctx, 700*time.Millisecond))
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
	must(wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout))
	if !blocked {
		return errors.New("no output")
	}
	if grown > heapMargin {
		return fmt.Errorf("the heap grew by %d MiB", grown>>20)
	}
	return nil
}

func lossChecks() []check {
	return []check{
		{
			name: "LossPerStream", row: 26, scope: everyRun,
			clause: "each stream, display and value that lost anything says so in Truncated, under its own name, with what there was and what is kept; all together are within MaxOutput, and OnOutput sees all",
			run:    lossOfEach,
		},
		{
			name: "ErrorLossReported", row: 26, scope: everyRun, uses: func(p *Programs) bool { return p.FailLong != nil },
			clause: "a program's error whose message or traceback was shortened says so in Truncated, under \"error\", with how long it was",
			run:    errorLossTold,
		},
	}
}

// lossOfEach makes too much of one kind at a time.
func lossOfEach(ctx context.Context, e *env) error {
	const limit, size = 1000, 5000
	text := strings.Repeat("0123456789", size/10)
	programs := map[codeinterp.Kind]string{
		codeinterp.Stdout: e.p.Print(text),
		codeinterp.Stderr: e.p.PrintErr(text),
	}
	if e.p.Show != nil && !e.s.cfg.lacks(Displays, e.language) {
		show := func(text string) string {
			return e.p.Show([]codeinterp.Representation{{MIME: "text/plain", Data: []byte(text)}})
		}
		programs[codeinterp.Display] = lines(show("small"), show(text))
	}
	if e.p.Text != nil && !e.s.cfg.lacks(Values, e.language) {
		programs[codeinterp.Value] = e.p.Text(text)
	}
	for kind, code := range programs {
		seen := 0
		res, err := e.run(ctx, code, &codeinterp.RunOptions{MaxOutput: limit, OnOutput: func(o codeinterp.Output) error {
			if o.Kind == kind {
				seen += o.Size()
			}
			return nil
		}})
		must(wantOK(res, err))
		if err := wantLoss(res, kind, seen); err != nil || seen < size {
			return fmt.Errorf("%d bytes of %s with a MaxOutput of %d, %d of them seen by OnOutput: %w", size, kind, limit, seen, err)
		}
	}
	// Both streams share the limit, which an invariant looks at.
	res, err := e.run(ctx, lines(e.p.PrintErr(text), e.p.Print(text)), &codeinterp.RunOptions{MaxOutput: limit})
	return wantOK(res, err)
}

// wantLoss wants Truncated to tell of one kind's loss: how much OnOutput saw of it,
// how much is kept, and, for a stream, that the rest is where Dropped says.
func wantLoss(res codeinterp.Result, kind codeinterp.Kind, seen int) error {
	var kept, dropped int64
	for _, o := range res.Outputs {
		if o.Kind == kind {
			kept += int64(o.Size())
			dropped += o.Dropped
		}
	}
	reported := slices.ContainsFunc(res.Truncated, func(t codeinterp.Truncation) bool {
		// What a provider's own parts dropped is not marked.
		return t.Stream == kind.String() && t.Kept == kept && (t.Bytes < 0 || t.Bytes == int64(seen)) &&
			(!isStream(kind) || t.Bytes < 0 || dropped == t.Bytes-t.Kept)
	})
	if !reported {
		return fmt.Errorf("%d bytes are kept and %d marked as dropped; got Truncated %+v, want it to tell just that of %s", kept, dropped, res.Truncated, kind)
	}
	return nil
}

// errorLossTold raises errors whose messages are short, and longer than anybody
// keeps.
func errorLossTold(ctx context.Context, e *env) error {
	for _, size := range []int{3000, 300_000} {
		res, err := e.run(ctx, e.p.FailLong(size), nil)
		must(wantStatus(res, err, codeinterp.StatusError, 1))
		if res.Error == nil {
			return fmt.Errorf("no Error for a message of %d bytes", size)
		}
		kept := strings.Count(res.Error.Message, "x")
		at := slices.IndexFunc(res.Truncated, func(t codeinterp.Truncation) bool { return t.Stream == "error" })
		switch {
		case kept == size && at < 0:
		case at < 0:
			return fmt.Errorf("%d bytes are left of a message of %d, and Truncated is %+v, want it to tell of \"error\"", kept, size, res.Truncated)
		case res.Truncated[at].Bytes >= 0 && res.Truncated[at].Bytes < int64(size):
			return fmt.Errorf("Truncated tells of an error of %d bytes, whose message alone had %d", res.Truncated[at].Bytes, size)
		}
	}
	return nil
}
