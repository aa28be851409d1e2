//go:build unix

package files_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
)

func TestRead(t *testing.T) {
	s, _ := newService(t, &files.Options{MaxRead: 64}, map[string]string{
		"empty": "", "short": "one\ntwo\nthree", "long": strings.Repeat("0123456789abcde\n", 100),
		"wide": strings.Repeat("é", 100), "binary": "a\x00b", "latin": "caf\xe9 au lait", "line": strings.Repeat("x", 1000),
	})
	for _, tt := range []struct {
		name string
		path string
		r    files.Range
		want files.Page
	}{
		{"empty", "empty", files.Range{}, files.Page{Line: 1}},
		{"all", "short", files.Range{}, files.Page{Text: "one\ntwo\nthree", Line: 1, Size: 13}},
		{"a line", "short", files.Range{Line: 2, Lines: 1}, files.Page{Text: "two\n", Line: 2, Offset: 4, Size: 13, NextOffset: 8, NextLine: 3}},
		{"the last line", "short", files.Range{Line: 3, Lines: 5}, files.Page{Text: "three", Line: 3, Offset: 8, Size: 13}},
		{"behind the end", "short", files.Range{Line: 9}, files.Page{Line: 3, Offset: 13, Size: 13}},
		{"bytes", "short", files.Range{Offset: 5, Bytes: 4}, files.Page{Text: "wo\nt", Line: 2, Offset: 5, Size: 13, NextOffset: 9}},
		{"bytes behind the end", "short", files.Range{Offset: 50}, files.Page{Line: 3, Offset: 13, Size: 13}},
		{"a page of lines", "long", files.Range{}, files.Page{Text: strings.Repeat("0123456789abcde\n", 4), Line: 1, Size: 1600, NextOffset: 64, NextLine: 5}},
		{"a character is not cut", "wide", files.Range{Bytes: 5}, files.Page{Text: "éé", Line: 1, Size: 200, NextOffset: 4}},
		{"one character", "wide", files.Range{Bytes: 1}, files.Page{Text: "é", Line: 1, Size: 200, NextOffset: 2}},
		{"within a line", "line", files.Range{Line: 1}, files.Page{Text: strings.Repeat("x", 64), Line: 1, Size: 1000, NextOffset: 64}},
		{"binary", "binary", files.Range{}, files.Page{Binary: true, Line: 1, Size: 3}},
		{"not UTF-8", "latin", files.Range{}, files.Page{Binary: true, Line: 1, Size: 12}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.Read(t.Context(), tt.path, tt.r)
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v\nwant %+v", got, err, tt.want)
			}
		})
	}
}

// TestReadPages: the pages of a file, one after the other, are the file.
func TestReadPages(t *testing.T) {
	text := strings.Repeat("äöü€𝄞 line\n", 5000) + strings.Repeat("y", 3000)
	for _, most := range []int{1, 7, 100, 4096, 70000} {
		if most == 1 {
			text = text[:1000]
		}
		s, _ := newService(t, &files.Options{MaxRead: most}, map[string]string{"f": text})
		var all strings.Builder
		for r := (files.Range{}); ; {
			page, err := s.Read(t.Context(), "f", r)
			if err != nil {
				t.Fatal(err)
			}
			if page.Offset != int64(all.Len()) || page.Line != int64(strings.Count(all.String(), "\n"))+1 {
				t.Fatalf("%d: page at %d, line %d", most, page.Offset, page.Line)
			}
			all.WriteString(page.Text)
			if page.NextOffset == 0 {
				break
			}
			r.Offset = page.NextOffset
		}
		if all.String() != text {
			t.Errorf("%d: the pages are %d bytes, not %d", most, all.Len(), len(text))
		}
	}
}

func TestReadFaults(t *testing.T) {
	s, _ := newService(t, &files.Options{Dir: "/workspace"}, map[string]string{"d/f": "x"})
	for path, want := range map[string]error{
		"nope": fs.ErrNotExist, "d": codeinterp.ErrIsDir, "../f": codeinterp.ErrOutside, "/etc/passwd": codeinterp.ErrOutside,
		"/workspaces/f": codeinterp.ErrOutside, "/workspace/../etc": codeinterp.ErrOutside, "a\x00": codeinterp.ErrInvalid, "\xff": codeinterp.ErrInvalid,
		strings.Repeat("x", 5000): codeinterp.ErrInvalid,
	} {
		if _, err := s.Read(t.Context(), path, files.Range{}); !errors.Is(err, want) {
			t.Errorf("%.30q: %v, want %v", path, err, want)
		}
	}
	for _, path := range []string{"/workspace/d/f", "d/../d/./f", "./d//f"} {
		if page, err := s.Read(t.Context(), path, files.Range{}); err != nil || page.Text != "x" {
			t.Errorf("%q: %+v, %v", path, page, err)
		}
	}
	if _, err := s.Read(t.Context(), "d/f", files.Range{Line: -1}); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("a negative line: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Read(ctx, "d/f", files.Range{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestFilter: what is read and searched went through the filter.
func TestFilter(t *testing.T) {
	hide := func(emit func([]byte)) (func([]byte), func()) {
		return func(b []byte) { emit(bytes.ReplaceAll(b, []byte("secret"), []byte("-"))) }, func() { emit([]byte("end")) }
	}
	s, _ := newService(t, nil, map[string]string{"f": "a secret\n"})
	s = s.With(&files.Options{Filter: hide})
	if page, err := s.Read(t.Context(), "f", files.Range{}); err != nil || page.Text != "a -\nend" {
		t.Errorf("%+v, %v", page, err)
	}
	if m, err := s.Grep(t.Context(), "f", "secret|end", nil); err != nil || len(m.Matches) != 1 || m.Matches[0].Text != "end" {
		t.Errorf("%+v, %v", m, err)
	}
}
