package cells

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/typescript"
)

// adapted has names adapt one program after the other.
func adapted(t testing.TB, programs ...string) (last string) {
	last, _ = adaptedBy(t, programs...)
	return last
}

// namesAfter returns what is remembered of programs.
func namesAfter(t testing.TB, programs ...string) Names {
	_, n := adaptedBy(t, programs...)
	return n
}

func adaptedBy(t testing.TB, programs ...string) (last string, n Names) {
	n = Names{}
	for _, code := range programs {
		o, err := typescript.Outlined(t.Context(), code, typescript.Memory(len(code)))
		if err != nil {
			t.Fatal(err)
		}
		var added []string
		last, added = n.adapt(o, code)
		n.Note(n.declares(o, added), false, true)
	}
	return last, n
}

// TestAdaptManyNames: a program of many names takes the host no time that grows with
// their square.
func TestAdaptManyNames(t *testing.T) {
	list := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ", name%d", i)
		}
		return b.String()[2:]
	}
	functions := func(n int) string {
		return strings.ReplaceAll("function "+strings.ReplaceAll(list(n), ", ", "(){} function ")+"(){}", "  ", " ")
	}
	for what, then := range map[string]func(n int) string{
		"var":                   func(n int) string { return "var " + list(n) },
		"functions":             functions,
		"functions and imports": func(n int) string { return functions(n) + strings.Repeat("import(1);", n) },
		"blanks":                func(n int) string { return strings.Repeat(" ", 100*n) + functions(n) },
	} {
		took := func(n int) time.Duration {
			best := time.Hour
			for range 2 {
				start := time.Now()
				adapted(t, "let "+list(n), then(n))
				best = min(best, time.Since(start))
			}
			return best
		}
		for tries := 1; ; tries++ { // others may have taken the processor meanwhile
			few, many := took(1000), took(16000)
			if many <= 100*few {
				break
			} else if tries == 5 {
				t.Fatalf("%s: %v for 1,000 names, %v for 16,000", what, few, many)
			}
		}
	}
}

// FuzzAdapt: no program has the host fail at what it declares again.
func FuzzAdapt(f *testing.F) {
	for _, first := range []string{"let a = 1, b", "const a = 1; var b", "function a() {} class b {}", "import a, { b } from 'fs'"} {
		for _, then := range []string{"var a; let b", "if (1) { var a, [b] = [2] }", "for (var a of b) a ??= 1", "import b from 'x'; import('y')", "({ a, b = 1 } = a); a++", "'use strict'; function b() {}", "export default class a {}"} {
			f.Add(first, then)
		}
	}
	f.Fuzz(func(t *testing.T, first, then string) { adapted(t, first, then, first) })
}
