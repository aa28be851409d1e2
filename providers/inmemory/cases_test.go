package inmemory_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each folder of testdata/cases has a program and what node prints: contract row 20. A
// program that fails there has the first words of its error instead. Words of errors are
// the engine's.
func TestCases(t *testing.T) {
	t.Parallel()
	ci := open(t, both())
	files, err := filepath.Glob("testdata/cases/*/program.*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(filepath.Dir(file), "expected.txt"))
			if err != nil {
				t.Fatal(err)
			}
			language := map[string]string{".js": "javascript", ".ts": "typescript"}[filepath.Ext(file)]
			res, err := ci.RunCode(t.Context(), language, string(code), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Stdout(); res.OK() && got != string(want) {
				t.Errorf("got %s\nwant %s", got, want)
			}
			if e := res.Error; e != nil && !strings.HasPrefix(e.Name+": "+e.Message, strings.TrimSpace(string(want))) {
				t.Errorf("%s: %s\nwant %s", e.Name, e.Message, want)
			}
		})
	}
}
