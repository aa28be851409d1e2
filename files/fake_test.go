//go:build unix

package files_test

import (
	"testing"

	"github.com/toolcell/toolcell/files"
)

// newService returns a Workdir over a directory with the files, and the
// directory.
func newService(t testing.TB, o *files.Options, contents map[string]string) (*files.Workdir, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := files.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	s := files.New(root, o)
	for name, text := range contents {
		if err := s.Write(t.Context(), name, []byte(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	return s, dir
}
