package machine_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
)

// TestCache: a later process takes native code from the cache and compiles nothing; what is
// missing or damaged there is made again.
func TestCache(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	compiled := 0
	o := machine.Options{Cache: dir, Yield: "h.y", Imports: yields, OnCompile: func() { compiled++ }}
	stub := compile(t, o).Stub()
	natives := func() string {
		list, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
		if err != nil || len(list) != 1 {
			t.Fatalf("%d files, %v", len(list), err)
		}
		return list[0]
	}
	use := func(want bool) {
		t.Helper()
		m, err := machine.Load(t.Context(), stub, &o)
		if err != nil || (m != nil) != want {
			t.Fatalf("loaded %v, want %v: %v", m != nil, want, err)
		}
		if m == nil {
			return
		}
		image, err := machine.NewImage(make([]byte, 1<<16))
		if err != nil {
			t.Fatal(err)
		}
		defer image.Close()
		in := start(t, m, machine.Config{Image: image})
		if call(t, in, "put", 'y'); call(t, in, "get") != 'y' {
			t.Error("the module does nothing")
		}
		in.Close()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	use(true)
	compile(t, o)
	if compiled != 1 {
		t.Errorf("compiled %d times", compiled)
	}
	for i, damage := range []func(file string) error{
		os.Remove,
		func(file string) error { return os.Rename(file, file+"x") }, // another processor's
		func(file string) error { return os.Truncate(file, 100) },
		func(file string) error {
			data, err := os.ReadFile(file)
			if err == nil {
				data[len(data)/2] ^= 1
				err = os.WriteFile(file, data, 0o600)
			}
			return err
		},
		func(file string) error { // where the first function begins
			data, err := os.ReadFile(file)
			if err == nil {
				data[len("WAZEVO")+1+int(data[len("WAZEVO")])+4] ^= 0x30
				err = os.WriteFile(file, data, 0o600)
			}
			return err
		},
	} {
		file := natives()
		if err := damage(file); err != nil {
			t.Fatal(err)
		}
		use(false)
		compile(t, o)
		if i == 1 {
			if err := os.Remove(file + "x"); err != nil {
				t.Fatal(err)
			}
		}
		if compiled != 2+i {
			t.Errorf("compiled %d times, want %d", compiled, 2+i)
		}
		use(true)
	}
	if m, err := machine.Load(t.Context(), []byte("junk"), &o); m != nil || err != nil {
		t.Errorf("junk: %v, %v", m, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := machine.Compile(t.Context(), source, &o); !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Errorf("a directory of all: %v", err)
	}
}
