package typescript

import (
	"context"
	"testing"
)

// The update of each loop with let begins with a mark: see MarkLoops.
func TestMarkLoops(t *testing.T) {
	for _, tt := range []struct{ in, out string }{
		{"for (let i = 0; i < 3; i++) f(i)", "for (let i = 0; i < 3; !M,!i,!M,i++) f(i)"},
		{"for (let i, {a: [b] = g()} = x;;) { for (const x of y); }", "for (let i, {a: [b] = g()} = x;;!M,!i,!b,!M) { for (const x of y); }"},
		{"for (var i = 0;;i++); for (const k = 1;;); for (let of of x);", ""},
		{"({ m() { for (let i;; ) ; } })", "({ m() { for (let i;; !M,!i,!M) ; } })"},
		{"for (let f = () => { for (let j;;) ; };; f()) ;", "for (let f = () => { for (let j;;!M,!j,!M) ; };; !M,!f,!M,f()) ;"},
	} {
		pr, err := MarkLoops(context.Background(), tt.in, "M", 1<<20)
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		got := ""
		if pr != nil {
			got = pr.Code
		}
		if got != tt.out {
			t.Errorf("%s:\n got %s\nwant %s", tt.in, got, tt.out)
		}
	}
}
