//go:build linux

package subprocess_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestManyCalls: many calls leave goroutines, descriptors and memory as they were.
// TOOLCELL_CALLS=100000 makes that many in each language.
func TestManyCalls(t *testing.T) {
	n, long := 2000, false
	if v, err := strconv.Atoi(os.Getenv("TOOLCELL_CALLS")); err == nil {
		n, long = v, true
	}
	ci := open(t, subprocess.Options{})
	echo := function("echo", func(_ context.Context, a map[string]any) (any, error) { return a["v"], nil })
	for language, code := range map[string]string{
		"python":     "print(sum(tools.echo(v=1) for i in range(%d)))",
		"javascript": "{ let n = 0; for (let i = 0; i < %d; i++) n += await tools.echo({ v: 1 }); console.log(n) }",
		"bash":       `n=0; for ((i = 0; i < %d; i++)); do n=$((n + $(tool echo '{"v":1}'))); done; echo $n`,
	} {
		t.Run(language, func(t *testing.T) {
			calls := n
			if language == "bash" && !long {
				calls = 50
			}
			o := &codeinterp.RunOptions{Timeout: time.Hour, Functions: []codeinterp.Function{echo}, FunctionLimits: codeinterp.FunctionLimits{Calls: -1}}
			book := newNotebook(t, ci, language)
			do := func(calls int) {
				if s := summary(book.run(fmt.Sprintf(code, calls), o)); s != fmt.Sprintf("ok out=%d\n", calls) {
					t.Errorf("%.500s", s)
				}
			}
			do(20)
			goroutines, files, heap := taken(t)
			start := time.Now()
			do(calls)
			t.Logf("%d calls, %v each", calls, time.Since(start)/time.Duration(calls))
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
				g, f, h := taken(t)
				if g <= goroutines+2 && f <= files+2 && h < heap+16<<20 {
					break
				}
				if time.Now().After(end) {
					t.Errorf("%d goroutines after %d, %d descriptors after %d, %d bytes after %d", g, goroutines, f, files, h, heap)
					break
				}
			}
		})
	}
}

// taken returns what this process has of goroutines, descriptors and bytes.
func taken(t *testing.T) (goroutines, files int, heap uint64) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), len(list), m.HeapAlloc
}
