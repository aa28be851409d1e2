//go:build real

package python_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/python"
)

// TestImages: a context goes on in another interpreter, from an image that only the owner of
// its key can load, and any number of times.
func TestImages(t *testing.T) {
	ci := newStateful(t)
	id, err := ci.CreateContext(t.Context(), "python", &codeinterp.ContextOptions{Cwd: "work", Env: map[string]string{"A": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	stdout(t, ci, id, `
import os
def count():
    n = 0
    while True:
        n += 1
        yield n
g = count(); next(g)
big = bytearray(20_000_000); big[-1] = 7
os.mkdir('d'); open('d/f', 'w').write('text')
`)
	o := &inmemory.ImageOptions{Key: []byte("a key of enough bytes"), Owner: "ann"}
	var image bytes.Buffer
	if err := ci.SaveContext(t.Context(), id, &image, o); err != nil {
		t.Fatal(err)
	}
	stdout(t, ci, id, "next(g); next(g)")
	opts := packed(t)
	opts.Cache = "" // an interpreter that was started anew
	e, err := python.New(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	other, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{e}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 2 {
		id, err := other.LoadContext(t.Context(), bytes.NewReader(image.Bytes()), o)
		if err != nil {
			t.Fatal(err)
		}
		const look = "import random; print(next(g), big[-1], len(big), open('d/f').read(), os.getcwd(), os.environ['A'])"
		if got, want := stdout(t, other, id, look), "2 7 20000000 text /work 1\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		seen[stdout(t, other, id, "print(random.random())")] = true
		if res, err := other.RunInContext(t.Context(), id, "1", nil); err != nil || res.StateLost || res.ExecutionCount != 4 {
			t.Errorf("%+v, %v", res, err)
		}
	}
	if len(seen) != 2 {
		t.Error("the same random numbers")
	}
	changed := bytes.Clone(image.Bytes())
	changed[len(changed)/2] ^= 1
	for name, tt := range map[string]struct {
		data []byte
		o    *inmemory.ImageOptions
	}{
		"changed": {changed, o}, "empty": {nil, o}, "cut": {image.Bytes()[:1000], o}, "no key": {image.Bytes(), nil},
		"another key":   {image.Bytes(), &inmemory.ImageOptions{Key: []byte("another key of enough bytes"), Owner: "ann"}},
		"another owner": {image.Bytes(), &inmemory.ImageOptions{Key: o.Key, Owner: "bob"}},
	} {
		if _, err := other.LoadContext(t.Context(), bytes.NewReader(tt.data), tt.o); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(other.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	stdout(t, ci, id, "f = open('d/f')")
	if err := ci.SaveContext(t.Context(), id, &image, o); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("a file is open: %v", err)
	}
	if err := ci.SaveContext(t.Context(), "nothing", &image, o); !errors.Is(err, codeinterp.ErrContext) {
		t.Errorf("an unknown context: %v", err)
	}
}
