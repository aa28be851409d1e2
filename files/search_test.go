//go:build unix

package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
)

// newTree has something of every kind in it.
func newTree(t *testing.T) *files.Workdir {
	t.Helper()
	s, dir := newService(t, nil, map[string]string{
		"a.go": "package a\nfunc A() {}\n", "b/c.go": "package c\r\nFUNC\r\n", "b/d/e.py": "def func(): pass\n", "b/d/[x].txt": "func.\n",
		"bin": "\x00func", "long": strings.Repeat("y", 70000) + "func\n" + strings.Repeat("z", 2000) + "func" + strings.Repeat("z", 2000),
	})
	for _, err := range []error{
		syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600),
		os.WriteFile(filepath.Join(dir, "new\nline"), []byte("func"), 0o600),
		os.WriteFile(filepath.Join(dir, "b/\xff"), []byte("func"), 0o600),
		os.Symlink("/etc", filepath.Join(dir, "out")),
		os.Symlink("b", filepath.Join(dir, "link")),
	} {
		if err != nil && os.Getenv("CI") == "" {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func paths(l files.Listing) (list []string) {
	for _, e := range l.Entries {
		list = append(list, e.Path)
	}
	return list
}

func TestList(t *testing.T) {
	s := newTree(t)
	for _, tt := range []struct {
		path        string
		depth, most int
		want, more  string
	}{
		{".", 0, 0, `a.go b bin fifo link long new\nline out`, ""},
		{"b", 1, 0, `b/c.go b/d b/\xff`, ""},
		{".", 2, 0, `a.go b b/c.go b/d b/\xff bin fifo link long new\nline out`, ""},
		{".", 9, 4, `a.go b b/c.go b/d`, "entries"},
		{"b/d", 9, 2, `b/d/[x].txt b/d/e.py`, ""},
	} {
		l, err := s.List(t.Context(), tt.path, &files.ListOptions{Depth: tt.depth, Limit: tt.most})
		if got := strings.Join(paths(l), " "); got != tt.want || l.More != tt.more || err != nil {
			t.Errorf("%s to %d: %s (%s), %v", tt.path, tt.depth, got, l.More, err)
		}
	}
	l, _ := s.List(t.Context(), ".", nil)
	types := map[string]string{}
	for _, e := range l.Entries {
		types[e.Path] = e.Type
		if e.Escaped != strings.Contains(e.Path, `\n`) {
			t.Errorf("%+v", e)
		}
	}
	if types["a.go"] != files.TypeFile || types["b"] != files.TypeDir || types["link"] != files.TypeLink || types["fifo"] != files.TypeSpecial {
		t.Errorf("types %v", types)
	}
	if _, err := s.List(t.Context(), "out", nil); !errors.Is(err, codeinterp.ErrOutside) && err == nil {
		t.Error("a directory outside is listed")
	}
	if e, err := s.Stat(t.Context(), "out"); err != nil || e.Type != files.TypeLink {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestGlob(t *testing.T) {
	s := newTree(t)
	for pattern, want := range map[string]string{
		"*.go":           "a.go b/c.go",
		"./*.go":         "a.go",
		"**/*.go":        "a.go b/c.go",
		"b/**":           `b/c.go b/d b/d/[x].txt b/d/e.py b/\xff`,
		"b/*":            `b/c.go b/d b/\xff`,
		"**/d/?.py":      "b/d/e.py",
		"*.{py,txt}":     "b/d/[x].txt b/d/e.py",
		"[ab].go":        "a.go",
		"[!b].go":        "a.go b/c.go",
		`\[x\].txt`:      "b/d/[x].txt",
		"**/b/**/c.go":   "b/c.go",
		"nothing":        "",
		"b/d/[[]x[]].*":  "b/d/[x].txt",
		"/abs":           "!",
		"{a":             "!",
		"":               "!",
		"[z-a]":          "!",
		"b/d/e.py/x":     "",
		"a.go{,x}":       "a.go",
		"*{.go,.p*}":     "a.go b/c.go b/d/e.py",
		"b/**/*.{go,py}": "b/c.go b/d/e.py",
	} {
		l, err := s.Glob(t.Context(), ".", pattern, nil)
		got := strings.Join(paths(l), " ")
		if want == "!" {
			if !errors.Is(err, codeinterp.ErrInvalid) {
				t.Errorf("%q: %v", pattern, err)
			}
		} else if got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", pattern, got, err, want)
		}
	}
	if l, err := s.Glob(t.Context(), "b", "d/*.py", nil); err != nil || !slices.Equal(paths(l), []string{"b/d/e.py"}) {
		t.Errorf("below a directory: %v, %v", paths(l), err)
	}
}

func TestGrep(t *testing.T) {
	s := newTree(t)
	for _, tt := range []struct {
		path, text string
		o          *files.GrepOptions
		want       string
	}{
		{".", `^func`, &files.GrepOptions{}, `a.go:2 b/d/[x].txt:1 new\nline:1`},
		{"b", `func`, &files.GrepOptions{IgnoreCase: true}, "b/c.go:2 b/d/[x].txt:1 b/d/e.py:1"},
		{".", `func.`, &files.GrepOptions{Literal: true}, "b/d/[x].txt:1"},
		{".", `func`, &files.GrepOptions{Include: "*.{go,py}"}, "a.go:2 b/d/e.py:1"},
		{"long", `func`, &files.GrepOptions{}, "long:2"},
		{".", `FUNC$`, &files.GrepOptions{}, "b/c.go:2"},
		{".", `func`, &files.GrepOptions{Limit: 1}, "a.go:2"},
	} {
		m, err := s.Grep(t.Context(), tt.path, tt.text, tt.o)
		var got []string
		for _, x := range m.Matches {
			got = append(got, x.Path+":"+string(rune('0'+x.Line)))
			if len(x.Text) > 500 || strings.ContainsAny(x.Text, "\r\n") || !strings.Contains(strings.ToLower(x.Text), "func") {
				t.Errorf("%q is shown", x.Text)
			}
		}
		if strings.Join(got, " ") != tt.want || err != nil {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
	m, err := s.Grep(t.Context(), ".", "nothing at all", nil)
	var skipped []string
	for _, k := range m.Skipped {
		skipped = append(skipped, k.Path+": "+k.Reason)
	}
	want := []string{`b/\xff: its name is not UTF-8`, "bin: not text", "fifo: not a regular file", "long: of lines longer than 65536 bytes only that much was searched"}
	if !slices.Equal(skipped, want) || err != nil {
		t.Errorf("skipped %q, %v", skipped, err)
	}
	for _, text := range []string{"", "(", strings.Repeat("x", 2000), "(a{1000}){1000}"} {
		if _, err := s.Grep(t.Context(), ".", text, nil); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestTime: what takes too long says so.
func TestTime(t *testing.T) {
	s := newTree(t).With(&files.Options{Time: time.Nanosecond})
	if l, err := s.List(t.Context(), ".", &files.ListOptions{Depth: 5}); l.More != "time" || err != nil {
		t.Errorf("list: %+v, %v", l, err)
	}
	if m, err := s.Grep(t.Context(), ".", "func", nil); m.More != "time" || err != nil {
		t.Errorf("grep: %+v, %v", m, err)
	}
	if _, err := s.Read(t.Context(), "a.go", files.Range{}); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("read: %v", err)
	}
}

// TestGrepEnds: an expression of many states, which takes minutes for one line, is refused.
func TestGrepEnds(t *testing.T) {
	s, _ := newService(t, nil, map[string]string{"f": strings.Repeat("a", 65_000) + "\n"})
	if m, err := s.Grep(t.Context(), "f", strings.Repeat(".{0,1000}", 110)+"z", nil); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("%+v, %v", m, err)
	}
	before := time.Now()
	if m, err := s.Grep(t.Context(), "f", strings.Repeat(".{0,150}", 3)+"z", nil); len(m.Matches) > 0 || err != nil || time.Since(before) > 20*time.Second {
		t.Errorf("%+v, %v after %v", m, err, time.Since(before))
	}
}

// TestLargeDirectory lists a directory of many entries, and no more than are asked for.
func TestLargeDirectory(t *testing.T) {
	contents := map[string]string{}
	for i := range 3000 {
		contents[fmt.Sprintf("d/%05d", i)] = ""
	}
	s, _ := newService(t, &files.Options{MaxEntries: 20_000}, contents)
	if l, err := s.List(t.Context(), "d", nil); err != nil || l.More != "" || len(l.Entries) != 3000 {
		t.Errorf("%d entries, more %q, %v", len(l.Entries), l.More, err)
	}
	if l, err := s.List(t.Context(), "d", &files.ListOptions{Limit: 2}); err != nil || l.More != "entries" || !slices.Equal(paths(l), []string{"d/00000", "d/00001"}) {
		t.Errorf("%v, more %q, %v", paths(l), l.More, err)
	}
}
