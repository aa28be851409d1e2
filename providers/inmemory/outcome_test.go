package inmemory_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestValueOfStopped: a run that is stopped has the value that was known.
func TestValueOfStopped(t *testing.T) {
	s := open(t, nil)
	res, err := s.RunCode(t.Context(), "javascript", `setInterval(() => {}, 5); "known"`, &codeinterp.RunOptions{Timeout: 300 * time.Millisecond})
	if err != nil || res.Status != codeinterp.StatusTimeout || res.Text() != "known" || res.Error != nil {
		t.Errorf("%s, %q, %v, %v", res.Status, res.Text(), res.Error, err)
	}
}

// TestThrownBehindAwait: what was due when a program threw is called, as in node, and what
// that leaves to be called is not.
func TestThrownBehindAwait(t *testing.T) {
	s := open(t, nil)
	id := create(t, s, "javascript")
	const f = "var f = async () => { for (const n of ['one', 'two', 'three', 'four']) { await null; console.log(n) } };"
	for _, tt := range []struct{ code, out, name string }{
		{"f(); throw new Error('x') // await", "", "Error"},
		{"await null; f(); throw new Error('x')", "one\n", "Error"},
		{"f(); await null; throw new Error('x')", "one\ntwo\n", "Error"},
		{"f(); await Promise.reject(new Error('x'))", "one\ntwo\n", "Error"},
		{"await null; process.nextTick(() => console.log('tick')); setTimeout(() => console.log('timer')); throw new Error('x')", "", "Error"},
		{"await null; queueMicrotask(() => { throw new TypeError('due') }); throw new Error('x')", "", "TypeError"},
		{"f(); Promise.reject(new Error('x'))", "one\ntwo\nthree\nfour\n", "Error"}, // it is the value
		{"process.once('uncaughtException', (e) => console.log(e.message)); f(); throw new Error('x') // await", "x\none\ntwo\nthree\nfour\n", ""},
		{"process.once('uncaughtException', (e) => console.log(e.message)); f(); await null; throw new Error('x')", "one\ntwo\nx\nthree\nfour\n", ""},
		{"1", "", ""},
	} {
		once, err := s.RunCode(t.Context(), "javascript", f+tt.code, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, res := range []codeinterp.Result{once, run(t, s, id, f+tt.code, nil)} {
			name := ""
			if res.Error != nil {
				name = res.Error.Name
			}
			if res.Stdout() != tt.out || name != tt.name || res.StateLost {
				t.Errorf("%s: %s, %q, %v; want %q and %q", tt.code, res.Status, res.Stdout(), res.Error, tt.out, tt.name)
			}
		}
	}
}
