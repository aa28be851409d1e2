package files

import (
	"path"
	"strings"
	"testing"
)

// FuzzPattern: a pattern is refused or matches in the same way each time, and
// one that path.Match understands matches what that does.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"*.go", "**/x", "a/{b,c}/?", "[a-z]", "[!x]", `\*`, "[", "{", "[]]", "**"} {
		f.Add(s, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		matches, err := compile(pattern)
		if err != nil {
			return
		}
		got := matches(name)
		if strings.ContainsAny(pattern, `{}[]\`) || strings.Contains(pattern, "**") || !strings.Contains(pattern, "/") || strings.HasPrefix(pattern, "./") || !plain(name) || !plain(pattern) {
			return
		}
		if want, err := path.Match(pattern, name); err == nil && got != want {
			t.Errorf("%q, %q: %v", pattern, name, got)
		}
	})
}
