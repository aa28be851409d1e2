package inmemory_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// emptyLines come before what fails: their end is looked for in each error.
var emptyLines = strings.Repeat("\n", 8_000_000)

// TestErrorsInLongSources has errors far down in sources of megabytes. Those that
// took a tenth of a second each, or a frame, would take many times as long as they
// may here.
func TestErrorsInLongSources(t *testing.T) {
	s := open(t, both())
	for _, c := range []struct{ name, language, code, want string }{
		{"deep stack", "typescript", "enum A { B } function f(n: number): any { return n ? [f(n - 1)] : new Error('x') }\nconst e = f(1500); f(0).stack.split('\\n')[1]", "    at f (program.ts:%d:67)"},
		{"reworded", "javascript", "let e; for (let i = 0; i < 1000; i++) try { null.x } catch (x) { e = x }\ne.stack.split('\\n')[1]", "    at program.js:%d:50"},
		{"in a class", "javascript", "class A {" + strings.Repeat("constructo(){}", 20_000) + "constructor() { null.x } }\nlet e; for (let i = 0; i < 500; i++) try { new A() } catch (x) { e = x }\ne.message", "Cannot read properties of null (reading 'x')"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := s.RunCode(t.Context(), c.language, emptyLines+c.code, &codeinterp.RunOptions{Timeout: 2 * time.Minute})
			if strings.Contains(c.want, "%d") {
				c.want = fmt.Sprintf(c.want, len(emptyLines)+1)
			}
			if err != nil || res.Text() != c.want {
				t.Errorf("got %v %q %v %v, want %q", res.Status, res.Text(), res.Error, err, c.want)
			}
		})
	}
}

// TestPositionsKept runs programs of megabytes of which little has moved: the
// context keeps that little.
func TestPositionsKept(t *testing.T) {
	s := open(t, both())
	id := create(t, s, "typescript")
	before := heapInUse()
	for i := range 24 {
		code := fmt.Sprintf("enum E%d { A } function f%d(): void { (null as any).x }\n/*%s*/", i, i, strings.Repeat("x", 1<<20))
		if res := run(t, s, id, code, nil); !res.OK() {
			t.Fatal(res.Error)
		}
	}
	if n := heapInUse() - before; n > 12<<20 {
		t.Errorf("%d MiB are kept", n>>20)
	}
	if res := run(t, s, id, "f20()", nil); res.Error == nil || res.Error.Traceback[1] != "    at f20 (cell-21.ts:1:53)" {
		t.Errorf("got %v", res.Error.Traceback)
	}
}

// heapInUse returns the bytes of Go's heap that something refers to.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
