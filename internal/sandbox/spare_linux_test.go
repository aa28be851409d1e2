//go:build real

package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// TestSpare has every directory be new and empty, also where somebody was at the
// one that was made ahead.
func TestSpare(t *testing.T) {
	s := open(t, &sandbox.Options{Require: sandbox.None})
	first := must(s.TempDir())
	for name, meddle := range map[string]func(path string) error{
		"nothing": func(string) error { return nil },
		"file":    func(path string) error { return os.WriteFile(filepath.Join(path, "x"), nil, 0o600) },
		"mode":    func(path string) error { return os.Chmod(path, 0o777) },
		"gone":    os.Remove,
		"link": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Symlink(first, path)
		},
		"other": func(path string) error {
			if err := os.Rename(path, path+"-old"); err != nil {
				return err
			}
			return os.Mkdir(path, 0o700)
		},
	} {
		s.Discard(must(s.TempDir()))
		var spare string
		if !await(func() bool { spare = s.Spare(); return spare != "" }) {
			t.Fatalf("%s: none was made ahead", name)
		}
		check(t, meddle(spare))
		dir := must(s.TempDir())
		if taken := dir == spare; taken != (name == "nothing") {
			t.Errorf("%s: it was taken: %t", name, taken)
		}
		st, list := must(os.Lstat(dir)), must(os.ReadDir(dir))
		if st.Mode() != os.ModeDir|0o700 || len(list) != 0 {
			t.Errorf("%s: %v with %d entries", name, st.Mode(), len(list))
		}
		check(t, os.RemoveAll(dir))
		check(t, os.RemoveAll(spare))
		check(t, os.RemoveAll(spare+"-old"))
	}
}
