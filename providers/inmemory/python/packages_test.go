//go:build real

package python_test

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/python"
)

// TestPackages: programs import packages of a file system, and cannot change them.
func TestPackages(t *testing.T) {
	o := packed(t)
	embedded := fstest.MapFS{} // as a program carries a pack
	for _, name := range []string{"python.wasm", "stdlib.zip", "manifest.json"} {
		data, err := fs.ReadFile(o.Pack, name)
		if err != nil {
			t.Fatal(err)
		}
		embedded[name] = &fstest.MapFile{Data: data}
	}
	o.Pack = embedded
	o.Packages = fstest.MapFS{
		"greet/__init__.py":            {Data: []byte("from .words import hello\n")},
		"greet/words.py":               {Data: []byte("def hello(name): return 'hello ' + name\n")},
		"greet/data.txt":               {Data: []byte("data")},
		"greet-1.2.dist-info/METADATA": {Data: []byte("Metadata-Version: 2.1\nName: greet\nVersion: 1.2\n")},
		"json.py":                      {Data: []byte("raise Exception('not the standard one')\n")},
	}
	e, err := python.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{e}})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []struct{ code, want string }{
		{"import greet, json; print(greet.hello('you'), greet.__file__)", "hello you /usr/lib/packages/greet/__init__.py\n"},
		{"import importlib.metadata as m, importlib.resources as r; print(m.version('greet'), r.files('greet').joinpath('data.txt').read_text())", "1.2 data\n"},
		{"import os; print(os.listdir('/usr/lib'), sorted(os.listdir('/usr/lib/packages')))", "['packages', 'python'] ['greet', 'greet-1.2.dist-info', 'json.py']\n"},
		{"for name in '/usr/lib/packages/new', '/usr/lib/packages/greet/words.py', '/usr/lib/new':\n  try: open(name, 'w')\n  except OSError as e: print(e.strerror)", "Read-only file system\nRead-only file system\nRead-only file system\n"},
		{"import traceback\ntry: greet.hello(1)\nexcept TypeError: print('words.py' in traceback.format_exc())", "True\n"},
	} {
		id := newContext(t, ci)
		stdout(t, ci, id, "import greet")
		if got := stdout(t, ci, fork(t, ci, id), run.code); got != run.want {
			t.Errorf("%s: %q, want %q", run.code, got, run.want)
		}
	}
	if err := errors.Join(ci.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}
