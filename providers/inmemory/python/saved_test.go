//go:build real

package python_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/python"
)

// TestSavedInterpreter: what is kept in the cache is used, and made again if it is damaged.
func TestSavedInterpreter(t *testing.T) {
	shared(t) // the native code is there
	o := packed(t)
	use := func() {
		t.Helper()
		e, err := python.New(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{e}})
		if err != nil {
			t.Fatal(err)
		}
		if got := stdout(t, ci, newContext(t, ci), "print(6 * 7)"); got != "42\n" {
			t.Errorf("printed %q", got)
		}
		if err := ci.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	use()
	files, err := filepath.Glob(filepath.Join(o.Cache, "*.image"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	use()
}
