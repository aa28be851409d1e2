package conformance

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func outputChecks() []check {
	floods := func(p *Programs) bool { return p.Lines != nil && p.Flood != "" }
	return []check{
		{
			name: "LimitHeadAndTail", row: 26, scope: everyRun, uses: floods,
			clause: "of output beyond MaxOutput the Result keeps the first 40 % and the last 60 %, says so in Truncated, and marks the gap with Dropped",
			run:    limitHeadAndTail,
		},
		{
			name: "HugeOutput", row: 26, scope: stateless, needs: []Feature{FullOutput}, proves: FullOutput, uses: floods,
			clause: "tens of megabytes of output arrive whole at OnOutput, and the host keeps no more than MaxOutput of them",
			run:    hugeOutput,
		},
		{
			name: "LossReported", row: 26, scope: stateless, uses: floods,
			clause: "what a provider or its server drops is reported in Truncated, never passed off as complete",
			run: func(e *env) {
				const n = 200_000
				seen := 0
				res := e.ok(e.p.Lines(n), &codeinterp.RunOptions{MaxOutput: -1, OnOutput: func(o codeinterp.Output) error {
					if o.Kind == codeinterp.Stdout {
						seen += len(o.Data)
					}
					return nil
				}})
				if seen != 8*n && len(res.Truncated) == 0 {
					failf("%d of %d bytes arrived, and Truncated is empty", seen, 8*n)
				}
			},
		},
		{
			name: "FloodBounded", scope: stateless, uses: floods,
			clause: "a program that prints without end does not fill the host's memory, also while OnOutput blocks",
			run:    floodBounded,
		},
		{
			name: "LossPerStream", row: 26, scope: everyRun,
			clause: "each stream, display and value that lost anything says so in Truncated, under its own name, with what there was and what is kept; all together are within MaxOutput, and OnOutput sees all",
			run:    lossPerStream,
		},
		{
			name: "ErrorLossReported", row: 26, scope: everyRun, uses: func(p *Programs) bool { return p.FailLong != nil },
			clause: "a program's error whose message or traceback was shortened says so in Truncated, under \"error\", with how long it was",
			run: func(e *env) {
				const size = 300_000
				res := e.fails(e.p.FailLong(size))
				kept := strings.Count(res.Error.Message, "x")
				at := slices.IndexFunc(res.Truncated, func(t codeinterp.Truncation) bool { return t.Stream == "error" })
				if kept < size && (at < 0 || res.Truncated[at].Bytes >= 0 && res.Truncated[at].Bytes < size) {
					failf("%d bytes are left of a message of %d, and Truncated is %+v", kept, size, res.Truncated)
				}
			},
		},
	}
}

func limitHeadAndTail(e *env) {
	const n, limit = 1000, 1000
	res := e.ok(e.p.Lines(n), &codeinterp.RunOptions{MaxOutput: limit})
	wantTruncated(res, 8*n, limit)
	if len(res.Outputs) != 2 || res.Outputs[0].Dropped != 0 || res.Outputs[1].Dropped != 8*n-limit {
		failf("%d outputs, want a head and a tail that is marked with %d dropped bytes", len(res.Outputs), 8*n-limit)
	}
	all := numbered(n)
	wantText("the head", string(res.Outputs[0].Data), all[:limit*4/10])
	wantText("the tail", string(res.Outputs[1].Data), all[8*n-limit*6/10:])
}

// wantTruncated wants one loss of standard output, by the limit.
func wantTruncated(res codeinterp.Result, bytes, kept int64) {
	want := codeinterp.Truncation{Stream: "stdout", Bytes: bytes, Kept: kept, Reason: codeinterp.TruncatedByLimit}
	if len(res.Truncated) != 1 || res.Truncated[0] != want {
		failf("got Truncated %+v, want %+v", res.Truncated, want)
	}
}

// liveHeap is the size of what is in use, without garbage.
func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// heapMargin is how far the heap may grow beyond what is kept.
const heapMargin = 16 << 20

func hugeOutput(e *env) {
	const limit, n, step = 1 << 20, 3 << 20, 4 << 20
	seen, base, growth := 0, liveHeap(), int64(0)
	// Not watched: what a watch keeps would count as the provider's memory.
	res, err := e.ci.RunCode(e.ctx, e.language, e.p.Lines(n), &codeinterp.RunOptions{MaxOutput: limit, OnOutput: func(o codeinterp.Output) error {
		if o.Kind == codeinterp.Stdout {
			if before := seen; before/step != (before+len(o.Data))/step {
				growth = max(growth, liveHeap()-base)
			}
			seen += len(o.Data)
		}
		return nil
	}})
	growth = max(growth, liveHeap()-base)
	wantOK(res, err)
	wantTruncated(res, 8*n, limit)
	if out := res.Stdout(); seen != 8*n || !strings.HasSuffix(out, fmt.Sprintf("%07d\n", n-1)) {
		failf("OnOutput saw %d of %d bytes, and the last that are kept are %s", seen, 8*n, quote(out))
	}
	if growth > limit+heapMargin {
		failf("the heap grew by %d MiB for %d MiB of output", growth>>20, 8*n>>20)
	}
}

func floodBounded(e *env) {
	timeout := e.timeout(700 * time.Millisecond)
	base, growth := liveHeap(), int64(-1)
	res, err := e.ci.RunCode(e.ctx, e.language, e.p.Flood, &codeinterp.RunOptions{Timeout: timeout, MaxOutput: 1 << 20, OnOutput: func(codeinterp.Output) error {
		if growth < 0 {
			time.Sleep(500 * time.Millisecond)
			growth = max(0, liveHeap()-base)
		}
		return nil
	}})
	wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
	if growth < 0 || max(growth, liveHeap()-base) > heapMargin {
		failf("the heap grew by %d bytes during the call of OnOutput (-1: there was none), and by %d until the end", growth, liveHeap()-base)
	}
}

// lossPerStream makes too much of one kind at a time.
func lossPerStream(e *env) {
	const limit, size = 1000, 5000
	text := strings.Repeat("0123456789", size/10)
	programs := map[codeinterp.Kind]string{
		codeinterp.Stdout: e.p.Print(text),
		codeinterp.Stderr: e.p.PrintErr(text),
	}
	if e.p.Show != nil && !e.lacks(Displays) {
		programs[codeinterp.Display] = e.p.Show([]codeinterp.Representation{{MIME: "text/plain", Data: []byte(text)}})
	}
	if e.p.Text != nil && !e.lacks(Values) {
		programs[codeinterp.Value] = e.p.Text(text)
	}
	for kind, code := range programs {
		seen := 0
		res := e.ok(code, &codeinterp.RunOptions{MaxOutput: limit, OnOutput: func(o codeinterp.Output) error {
			if o.Kind == kind {
				seen += o.Size()
			}
			return nil
		}})
		if seen < size || !lossReported(res, kind, seen) {
			failf("OnOutput saw %d of %d bytes of %s with a MaxOutput of %d; got Truncated %+v", seen, size, kind, limit, res.Truncated)
		}
	}
	// Both streams share the limit, which an invariant looks at.
	e.ok(lines(e.p.PrintErr(text), e.p.Print(text)), &codeinterp.RunOptions{MaxOutput: limit})
}

// lossReported reports whether Truncated says of one kind how much OnOutput saw of
// it, how much is kept, and, for a stream, that the rest is where Dropped says.
func lossReported(res codeinterp.Result, kind codeinterp.Kind, seen int) bool {
	var kept, dropped int64
	for _, o := range res.Outputs {
		if o.Kind == kind {
			kept += int64(o.Size())
			dropped += o.Dropped
		}
	}
	return slices.ContainsFunc(res.Truncated, func(t codeinterp.Truncation) bool {
		// What a provider's own parts dropped is not marked.
		return t.Stream == kind.String() && t.Kept == kept && (t.Bytes < 0 || t.Bytes == int64(seen)) &&
			(!isStream(kind) || t.Bytes < 0 || dropped == t.Bytes-t.Kept)
	})
}
