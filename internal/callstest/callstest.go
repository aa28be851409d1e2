// Package callstest has the tests of calls of the host's functions that all
// providers share: what many calls leave behind, callers that call at once, and
// what calls take that wait together.
package callstest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/tier"
)

// Calls returns how many calls a test makes: 100,000 with tag full, else short.
func Calls(short int) int {
	if tier.Full {
		return 100_000
	}
	return short
}

// loops are programs that call one %d times, one call after the other, and print
// the sum of what they got.
var loops = map[string]string{
	"python":     "print(sum(tools.one() for i in range(%d)))",
	"javascript": "{ let n = 0; for (let i = 0; i < %d; i++) n += await tools.one(); console.log(n) }",
	"typescript": "{ let n: number = 0; for (let i = 0; i < %d; i++) n += await tools.one(); console.log(n) }",
	"bash":       `n=0; for ((i = 0; i < %d; i++)); do n=$((n + $(tool one))); done; echo $n`,
}

// Many makes many calls in one run of a context, and wants goroutines, descriptors
// and memory of this process to be as they were before it.
func Many(t *testing.T, ci codeinterp.StatefulInterpreter, language string, calls int) {
	t.Helper()
	id := create(t, ci, language)
	one := codeinterp.Function{Name: "one", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
		return json.RawMessage("1"), nil
	}}
	o := &codeinterp.RunOptions{Timeout: 2 * time.Hour, Functions: []codeinterp.Function{one}, FunctionLimits: codeinterp.FunctionLimits{Calls: -1}}
	do := func(calls int) {
		res, err := ci.RunInContext(t.Context(), id, fmt.Sprintf(loops[language], calls), o)
		if err != nil || res.Stdout() != fmt.Sprintf("%d\n", calls) {
			t.Errorf("%s, %q, %v, %v", res.Status, res.Stdout(), res.Error, err)
		}
	}
	do(20)
	before := now(t)
	start := time.Now()
	do(calls)
	t.Logf("%d calls, %v each", calls, time.Since(start)/time.Duration(calls))
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		after := now(t)
		if after.goroutines <= before.goroutines+2 && after.files <= before.files+2 && after.heap < before.heap+16<<20 && after.resident < before.resident+64<<20 {
			t.Logf("%+v, %+v before", after, before)
			return
		}
		if time.Now().After(end) {
			t.Errorf("%+v, %+v before", after, before)
			return
		}
	}
}

// A usage is what this process has: heap is Go's, resident all of its memory, in
// bytes.
type usage struct {
	goroutines, files int
	heap, resident    uint64
}

func now(t *testing.T) usage {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("there is no /proc")
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{goroutines: runtime.NumGoroutine(), files: len(list), heap: m.HeapAlloc}
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		pages, _ := strconv.ParseUint(strings.Fields(string(b))[1], 10, 64)
		u.resident = pages * uint64(os.Getpagesize())
	}
	return u
}

// callers are programs that have who say who they are, %[2]d times, and whether
// each answer is theirs, which are [%[1]d, number of the call].
var callers = map[string]string{
	"python": "from concurrent.futures import ThreadPoolExecutor\n" +
		"with ThreadPoolExecutor(4) as pool: got = list(pool.map(lambda i: tools.who(me=%[1]d, i=i), range(%[2]d)))\n" +
		"print(got == [[%[1]d, i] for i in range(%[2]d)])",
	"javascript": "{ const all = [...Array(%[2]d).keys()], half = all.length >> 1, got = await Promise.all(all.slice(0, half).map((i) => tools.who({ me: %[1]d, i })));\n" +
		"for (const i of all.slice(half)) got.push(await tools.who({ me: %[1]d, i }));\n" +
		"console.log(got.length === %[2]d && got.every((v, i) => v[0] === %[1]d && v[1] === i) ? 'True' : 'False') }",
	"bash": `ok=True; for ((i = 0; i < %[2]d; i++)); do [[ $(tool who "{\"me\":%[1]d,\"i\":$i}") == "[%[1]d,$i]" ]] || ok=False; done; echo $ok`,
}

// A Hammer has parallel callers with contexts and functions of their own. Each
// makes Rounds runs of Calls calls.
type Hammer struct {
	Languages              []string
	Callers, Rounds, Calls int
}

// Run wants each call to reach its caller's function, and each answer its program.
func (h Hammer) Run(t *testing.T, ci codeinterp.StatefulInterpreter) {
	t.Helper()
	var all sync.WaitGroup
	for n := range h.Callers {
		language := h.Languages[n%len(h.Languages)]
		id := create(t, ci, language)
		all.Go(func() {
			for round := range h.Rounds {
				h.round(t, ci, language, id, 1000*n+round)
			}
		})
	}
	all.Wait()
}

func (h Hammer) round(t *testing.T, ci codeinterp.StatefulInterpreter, language string, id codeinterp.ContextID, me int) {
	program := callers[language]
	if language == "typescript" {
		program = callers["javascript"]
	}
	var calls, strange atomic.Int64
	who := codeinterp.Function{Name: "who", Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
		var a struct{ Me, I int }
		if err := json.Unmarshal(c.Args, &a); err != nil || a.Me != me || c.Context != id {
			strange.Add(1)
		}
		calls.Add(1)
		return json.RawMessage(fmt.Sprintf("[%d,%d]", me, a.I)), nil
	}}
	o := &codeinterp.RunOptions{Timeout: 10 * time.Minute, Functions: []codeinterp.Function{who}, FunctionLimits: codeinterp.FunctionLimits{Calls: -1}}
	res, err := ci.RunInContext(t.Context(), id, fmt.Sprintf(program, me, h.Calls), o)
	if err != nil || !res.OK() || res.Stdout() != "True\n" || calls.Load() != int64(h.Calls) || strange.Load() > 0 {
		t.Errorf("%s %d: %s %q %v, %v; %d calls, %d of others", language, me, res.Status, res.Stdout(), res.Error, err, calls.Load(), strange.Load())
	}
	for _, c := range res.Calls {
		if !strings.Contains(c.Args, strconv.Itoa(me)) || c.Error != "" {
			t.Errorf("%s %d: Calls are %+v", language, me, c)
			break
		}
	}
}

// together are programs that call nap %d times at once.
var together = map[string]string{
	"python asyncio": "import asyncio\nlen(await asyncio.gather(*(tools.aio.nap() for _ in range(%d))))",
	"python threads": "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(%[1]d) as pool: n = len(list(pool.map(lambda _: tools.nap(), range(%[1]d))))\nn",
	"javascript":     "(await Promise.all([...Array(%d)].map(() => tools.nap()))).length",
	"typescript":     "(await Promise.all([...Array(%d)].map(() => tools.nap()))).length",
}

// Together measures a hundred calls at once of a function that takes 100 ms; the
// floor is one call of it.
func Together(b *testing.B, ci codeinterp.StatefulInterpreter, languages ...string) {
	nap := codeinterp.Function{Name: "nap", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
		time.Sleep(100 * time.Millisecond)
		return nil, nil
	}}
	o := &codeinterp.RunOptions{Timeout: time.Minute, Functions: []codeinterp.Function{nap}}
	for name, program := range together {
		language, _, _ := strings.Cut(name, " ")
		if !slices.Contains(languages, language) {
			continue
		}
		b.Run(name, func(b *testing.B) {
			id := create(b, ci, language)
			times := map[int][]time.Duration{}
			for b.Loop() {
				for _, n := range []int{1, 100} {
					res, err := ci.RunInContext(b.Context(), id, fmt.Sprintf(program, n), o)
					if err != nil || res.Text() != strconv.Itoa(n) {
						b.Fatalf("%s %q %v, %v", res.Status, res.Text(), res.Error, err)
					}
					times[n] = append(times[n], res.Duration)
				}
			}
			for n, unit := range map[int]string{1: "floor-ms", 100: "p50-ms"} {
				slices.Sort(times[n])
				b.ReportMetric(float64(times[n][len(times[n])/2].Microseconds())/1000, unit)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func create(t testing.TB, ci codeinterp.StatefulInterpreter, language string) codeinterp.ContextID {
	t.Helper()
	id, err := ci.CreateContext(t.Context(), language, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ci.DeleteContext(context.Background(), id); err != nil {
			t.Error(err)
		}
	})
	return id
}
