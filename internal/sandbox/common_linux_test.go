//go:build real

package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// TestRulesAhead: rules that were made ahead let programs read what the paths lead to
// when they start, and nothing else.
func TestRulesAhead(t *testing.T) {
	s := open(t, &sandbox.Options{Require: sandbox.Landlock})
	for _, tt := range []struct {
		name   string
		meddle func(path, other string) error
		want   string
	}{
		{"nothing", func(string, string) error { return nil }, "first\nlater\n"},
		{"gone", func(path, _ string) error { return os.RemoveAll(path) }, "later\n"},
		{"another", func(path, other string) error {
			return errors.Join(os.Rename(path, path+"-old"), os.Rename(other, path))
		}, "other\nlater\n"},
		{"link", func(path, other string) error {
			return errors.Join(os.Rename(path, path+"-old"), os.Symlink(other, path))
		}, "other\nother\nlater\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := must(os.MkdirTemp("", "rules"))
			defer os.RemoveAll(dir)
			check(t, os.Chmod(dir, 0o755))
			path, other, later := filepath.Join(dir, "path"), filepath.Join(dir, "other"), filepath.Join(dir, "later")
			for d, text := range map[string]string{path: "first\n", other: "other\n"} {
				check(t, os.Mkdir(d, 0o755))
				check(t, os.WriteFile(filepath.Join(d, "f"), []byte(text), 0o644))
			}
			c := sh
			c.ReadOnly = []string{path, later}
			read := "for f in " + path + "/f " + path + "-old/f " + other + "/f " + later + "; do read -r line <$f && echo $line; done 2>/dev/null"
			if got := run(t, s, c, read).out; got != "first\n" {
				t.Fatalf("at first: %q", got)
			}
			if !await(s.RulesReady) {
				t.Fatal("no rules were made ahead")
			}
			check(t, tt.meddle(path, other))
			check(t, os.WriteFile(later, []byte("later\n"), 0o644))
			if got := run(t, s, c, read).out; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
