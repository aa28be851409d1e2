//go:build real

package python_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/packtest"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/python"
)

// compiled is one engine for all tests: to compile the pack takes seconds.
var compiled struct {
	sync.Once
	engine *python.Engine
	err    error
}

// packed returns options with the pack of the tests.
func packed(t testing.TB) *python.Options {
	dir := packtest.Dir(t)
	return &python.Options{Pack: os.DirFS(dir), Cache: packtest.Cache(dir)}
}

func shared(t testing.TB) *python.Engine {
	t.Helper()
	o := packed(t)
	compiled.Do(func() { compiled.engine, compiled.err = python.New(context.Background(), o) })
	if compiled.err != nil {
		t.Fatal(compiled.err)
	}
	return compiled.engine
}

func options(t testing.TB) *inmemory.Options {
	return &inmemory.Options{Engines: []engine.Engine{shared(t)}}
}

func newStateful(t testing.TB) *inmemory.Stateful {
	t.Helper()
	ci, err := inmemory.NewStateful(options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ci.Close(); err != nil {
			t.Error(err)
		}
	})
	return ci
}

// stdout runs a program in a context and returns what it printed.
func stdout(t testing.TB, ci codeinterp.StatefulInterpreter, id codeinterp.ContextID, code string) string {
	t.Helper()
	res, err := ci.RunInContext(t.Context(), id, code, nil)
	if err != nil || res.Status != codeinterp.StatusOK {
		t.Fatalf("%s: %v, %s, %v, stderr %s", code, err, res.Status, res.Error, res.Stderr())
	}
	return res.Stdout()
}

func newContext(t testing.TB, ci codeinterp.StatefulInterpreter) codeinterp.ContextID {
	t.Helper()
	id, err := ci.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestOpenFiles: a file is used as under Unix: kept from run to run, read and written at
// any place, and after it was removed.
func TestOpenFiles(t *testing.T) {
	ci := newStateful(t)
	id := newContext(t, ci)
	stdout(t, ci, id, "f = open('a.txt', 'w+')\n_ = f.write('hello')")
	got := stdout(t, ci, id, `
import os, tempfile, shutil
f.seek(1); print(f.read())
os.remove('a.txt'); _ = f.write('!'); f.seek(0); print(f.read()); f.close()
with tempfile.TemporaryFile() as t:
    t.write(b'x' * 100000); t.truncate(5); print(t.seek(0, 2))
os.makedirs('d/e'); open('d/e/x', 'w').write('1'); shutil.copytree('d', 'c'); shutil.rmtree('d')
print(sorted(os.listdir('.')), open('c/e/x').read(), os.path.getsize('c/e/x'))
try:
    open('/usr/lib/python/os.pyc', 'wb')
except OSError as e:
    print(e.strerror)
with open(os.devnull, 'w') as n:
    print('x', file=n)
print(open(os.devnull).read() == '', os.path.exists(os.devnull))
`)
	if want := "ello\nhello!\n5\n['c', 'tmp'] 1 1\nRead-only file system\nTrue True\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestContextsDiffer: contexts are copies of one interpreter, but have random numbers of
// their own.
func TestContextsDiffer(t *testing.T) {
	ci := newStateful(t)
	seen := map[string]bool{}
	for range 5 {
		id := newContext(t, ci)
		seen[stdout(t, ci, id, `
import os, random, sqlite3, uuid
print(random.random(), uuid.uuid4(), os.urandom(8))`)] = true
		seen[stdout(t, ci, id, "print(sqlite3.connect(':memory:').execute('select random()').fetchone())")] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d different outputs of 10", len(seen))
	}
}

// TestReady: contexts are taken from instances that are ready, and count and differ as
// others do.
func TestReady(t *testing.T) {
	o := packed(t)
	o.Ready = 3
	e, err := python.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{e}, MaxMemory: 40 << 20})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range 100 {
		id, err := ci.CreateContext(t.Context(), "python", nil)
		if err != nil {
			if !errors.Is(err, codeinterp.ErrCapacity) || i < 5 {
				t.Errorf("context %d: %v", i, err)
			}
			break
		}
		seen[stdout(t, ci, id, "import random; print(random.random())")] = true
		if len(seen) != i+1 {
			t.Error("the same random numbers")
		}
	}
	if len(seen) == 100 {
		t.Error("no memory counts")
	}
	if err := errors.Join(ci.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}
