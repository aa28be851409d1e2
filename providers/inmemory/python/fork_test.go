//go:build real

package python_test

import (
	"errors"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
)

func fork(t testing.TB, ci codeinterp.CodeInterpreter, id codeinterp.ContextID) codeinterp.ContextID {
	t.Helper()
	f, ok := codeinterp.Forks(ci)
	if !ok {
		t.Fatal("no forks")
	}
	copied, err := f.ForkContext(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return copied
}

// TestFork: a copy has the variables, generators, files and open files of the context, and
// neither sees what the other does from then on.
func TestFork(t *testing.T) {
	ci := newStateful(t)
	id := newContext(t, ci)
	stdout(t, ci, id, `
import random, os
xs = [1]
def count():
    i = 0
    while True:
        i += 1
        yield i
g = count(); next(g)
f = open('a.txt', 'w+'); f.write('hello'); f.flush()
h = open('gone', 'w+'); h.write('still here'); h.flush(); os.remove('gone')
big = bytearray(50 * 10 ** 6)
big[-1] = 7
`)
	copied := fork(t, ci, id)
	const look = "xs.append(next(g)); f.seek(1); h.seek(0); print(xs, f.read(), h.read(), big[-1], os.listdir('.'))"
	want := "[1, 2] ello still here 7 ['a.txt']\n"
	if got := stdout(t, ci, copied, look); got != want {
		t.Errorf("the copy has %q, want %q", got, want)
	}
	stdout(t, ci, copied, "f.write('!'); f.flush(); h.write('?'); h.flush(); big[-1] = 8; open('b.txt', 'w').close()")
	if got := stdout(t, ci, id, look); got != want {
		t.Errorf("the context has %q, want %q", got, want)
	}
	second := fork(t, ci, copied)
	if err := ci.DeleteContext(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	if got, want := stdout(t, ci, second, "print(next(g), big[-1], open('a.txt').read(), sorted(os.listdir('.')))"), "3 8 hello! ['a.txt', 'b.txt']\n"; got != want {
		t.Errorf("the copy of the copy has %q, want %q", got, want)
	}
	if a, b := stdout(t, ci, id, "print(random.random())"), stdout(t, ci, fork(t, ci, id), "print(random.random())"); a == b {
		t.Error("the same random numbers")
	}
}

// TestForkErrors: what is unknown, and what has lost its state, is not copied, and a copy
// counts as a context.
func TestForkErrors(t *testing.T) {
	o := options(t)
	o.MaxContexts = 1
	ci, err := inmemory.NewStateful(o)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	f, _ := codeinterp.Forks(ci)
	if _, err := f.ForkContext(t.Context(), "nothing"); !errors.Is(err, codeinterp.ErrContext) {
		t.Errorf("an unknown context: %v", err)
	}
	id := newContext(t, ci)
	if _, err := f.ForkContext(t.Context(), id); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("beyond MaxContexts: %v", err)
	}
	if res, err := ci.RunInContext(t.Context(), id, "import os\nos._exit(3)", nil); err != nil || !res.StateLost {
		t.Fatal(err, res)
	}
	if _, err := f.ForkContext(t.Context(), id); err == nil {
		t.Error("a lost state was copied")
	}
}
