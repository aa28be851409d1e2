//go:build full

package typescript

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestReplaceMemory: what the parser keeps of words that it replaces is what Memory says, whatever
// the program.
func TestReplaceMemory(t *testing.T) {
	const size = 1 << 19
	of := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	numbered := func(unit string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, unit, i)
		}
		return b.String()
	}
	for _, source := range []string{
		"var [" + of("a,") + "]=[]", "var {" + of("a,") + "}=b", "({" + of("a,") + "}=b)", of("a,") + "a", "[" + of("a,") + "]",
		of("@a "), of("a<"), numbered("let a%d;"), "let " + numbered("a%d,") + "a", numbered("for(var a%d of[]);"), of("var a=1;"), of("{var a}"),
		of("a="), "(" + of("a=1,") + "1)", of("a??="), of("[a]="), of("(a)=>"), of("(a="), of("a=>"), of("import(1);"), "import {" + of("a,") + "} from 'b'",
		of("import a from 'b';"), of("function a(){}"), of("class a{}"), "function a(){" + numbered("let a%d;") + "}", of("async(a)=>"), of("f<T>("), of("{a:"), of("@(a)"),
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		p := newParser(context.Background(), source)
		p.words = &Words{"import", "this"}
		_ = p.parse((*parser).program)
		runtime.GC()
		runtime.ReadMemStats(&after)
		// A list that has just grown by a quarter is what ends the parse.
		if kept, limit := int64(after.HeapAlloc)-int64(before.HeapAlloc), Memory(len(source))*5/4; kept > limit {
			t.Errorf("%.10s…: %d KiB kept of %d, %d charged", source, kept>>10, limit>>10, p.memory>>10)
		}
		runtime.KeepAlive(p)
		runtime.KeepAlive(source)
	}
}
