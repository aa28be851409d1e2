//go:build real

package main

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestRunFiles: inputs are beside the program, and what it makes or changes is
// saved.
func TestRunFiles(t *testing.T) {
	in := t.TempDir()
	if err := os.MkdirAll(filepath.Join(in, "data", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"sales.csv": "a,b\n1,2\n", "data/deep/x": "old", "data/y": "same", "helper.py": "v = 1\n"} {
		if err := os.WriteFile(filepath.Join(in, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	js := `const fs = require('fs'); const text = fs.readFileSync('sales.csv', 'utf8') + fs.readFileSync('data/y', 'utf8');
		fs.mkdirSync('made'); fs.writeFileSync('made/a\x1b.txt', text); fs.writeFileSync('data/deep/x', 'new'); undefined`
	py := `import os, helper
text = open('sales.csv').read() + open('data/y').read()
os.mkdir('made')
f = open('made/a\x1b.txt', 'w')
f.write(text)  # and never closed
open('data/deep/x', 'w').write('new')
None`
	for _, tt := range []struct {
		command string
		flags   []string
		code    string
	}{
		{"", nil, js},
		{"node", []string{"--provider", "subprocess", "--language", "javascript"}, js},
		{"python3", []string{"--language", "python"}, py},
	} {
		t.Run(tt.command, func(t *testing.T) {
			if tt.command != "" {
				needs(t, tt.command)
			}
			out := filepath.Join(t.TempDir(), "new", "out")
			args := append([]string{"run", "--in", filepath.Join(in, "sales.csv"), "--in", filepath.Join(in, "data"), "--in", filepath.Join(in, "helper.py"), "--out", out}, tt.flags...)
			code, stdout, stderr := toolcell(t.Context(), "", append(args, "-e", tt.code)...)
			if code != 0 || stdout != "" || strings.Count(stderr, "toolcell: saved ") != 2 || !strings.Contains(stderr, `a\x1b.txt" (12 bytes)`) {
				t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
			want := map[string]string{"made/a\x1b.txt": "a,b\n1,2\nsame", "data/deep/x": "new"}
			if got := contents(t, out); !maps.Equal(got, want) {
				t.Errorf("saved %q", got)
			}
		})
	}
	if got := contents(t, in); got["data/deep/x"] != "old" {
		t.Errorf("the inputs were changed: %q", got)
	}
}

// TestRunFilesOfFailures: what a program made is saved however it ends, and what
// is not saved is reported.
func TestRunFilesOfFailures(t *testing.T) {
	for _, tt := range []struct {
		name, timeout, code string
		exit                int
		stderr              string
		saved               []string
	}{
		{"exception", "", "require('fs').writeFileSync('a', 'x'); null.x", 1, "TypeError", []string{"a"}},
		{"timeout", "2s", "require('fs').writeFileSync('a', 'x'); for(;;);", 124, "timed out", []string{"a"}},
		{"too much", "", "require('fs').writeFileSync('a', 'x'.repeat(9e6)); require('fs').writeFileSync('b', 'x'); undefined", 1, "--write DIR", []string{"b"}},
		{"too much, and a code", "", "require('fs').writeFileSync('a', 'x'.repeat(9e6)); process.exit(7)", 7, "a not saved: its 9000000 bytes", nil},
		{"caches", "", "const fs = require('fs'); fs.mkdirSync('.cache/fonts', {recursive: true}); fs.writeFileSync('.cache/fonts/list', 'x'); fs.writeFileSync('a', 'x'); undefined", 0, "saved", []string{"a"}},
		{"nothing", "", "undefined", 0, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := t.TempDir()
			code, stdout, stderr := toolcell(t.Context(), "", "run", "--timeout", cmp.Or(tt.timeout, "10m"), "--out", out, "-e", tt.code)
			if code != tt.exit || stdout != "" || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
			if got := slices.Sorted(maps.Keys(contents(t, out))); !slices.Equal(got, tt.saved) {
				t.Errorf("saved %q", got)
			}
		})
	}
}

// TestRunFilesStayInside: a link that is in the directory leads no file out.
func TestRunFilesStayInside(t *testing.T) {
	out, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(out, "link")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	program := "const fs = require('fs'); fs.mkdirSync('link'); fs.writeFileSync('link/a', 'x'); fs.writeFileSync('b', 'x'); undefined"
	code, _, stderr := toolcell(t.Context(), "", "run", "--out", out, "-e", program)
	if code != 1 || !strings.Contains(stderr, "not saved") || len(contents(t, outside)) > 0 || contents(t, out)["b"] != "x" {
		t.Errorf("code %d, stderr %q, outside %q, in it %q", code, stderr, contents(t, outside), contents(t, out))
	}
}

// TestRunFilesNotUTF8: each file keeps the name that the program gave it.
func TestRunFilesNotUTF8(t *testing.T) {
	needs(t, "python3")
	if runtime.GOOS != "linux" {
		t.Skip("names are UTF-8 here")
	}
	out := t.TempDir()
	program := `for name in b'a\xff', b'a\xfe', rb'a\xff':
    with open(name, 'wb') as f: f.write(name)`
	code, _, stderr := toolcell(t.Context(), "", "run", "--language", "python", "--out", out, "-e", program)
	want := map[string]string{"a\xff": "a\xff", "a\xfe": "a\xfe", `a\xff`: `a\xff`}
	if got := contents(t, out); code != 0 || !maps.Equal(got, want) {
		t.Errorf("code %d, saved %q, stderr %q", code, got, stderr)
	}
}

// TestRunFilesLost: files that are deleted with the run are named, up to five of them.
func TestRunFilesLost(t *testing.T) {
	const write = "const w = (...names) => names.forEach(n => require('fs').writeFileSync(n, 'x')); "
	for _, tt := range []struct {
		code, stderr string
		args         []string
	}{
		{"w('a')", "toolcell: not kept: a (1 byte); --out DIR saves what a program writes\n", nil},
		{"w('a', 'b\x1b')", "toolcell: not kept: a (1 byte), \"b\\x1b\" (1 byte); --out DIR saves what a program writes\n", nil},
		{"w('1', '2', '3', '4', '5', '6', '7')", "toolcell: not kept: 1 (1 byte), 2 (1 byte), 3 (1 byte), 4 (1 byte), 5 (1 byte) and 2 more; --out DIR saves what a program writes\n", nil},
		{"undefined", "", nil},
		{"w('a')", "", []string{"--json"}},
	} {
		code, _, stderr := toolcell(t.Context(), "", append(append([]string{"run"}, tt.args...), "-e", write+tt.code)...)
		if code != 0 || stderr != tt.stderr {
			t.Errorf("%s: code %d, stderr %q", tt.code, code, stderr)
		}
	}
}

// TestRunFilesOfScript: the copy of the script that a program reads is no file of its own.
func TestRunFilesOfScript(t *testing.T) {
	needs(t, "python3")
	file := filepath.Join(t.TempDir(), "rep.py")
	if err := os.WriteFile(file, []byte("open('report.csv', 'w').write(open(__file__).read()[:4])\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"bwrap", "landlock"} {
		code, _, stderr := toolcell(t.Context(), "", "run", "--isolation", mode, file)
		if code == 1 && strings.Contains(stderr, "not available") && os.Getenv("CI") == "" {
			continue
		}
		if want := "toolcell: not kept: report.csv (4 bytes); --out DIR saves what a program writes\n"; code != 0 || stderr != want {
			t.Errorf("%s: code %d, stderr %q", mode, code, stderr)
		}
	}
}

func TestRunFilesUsage(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/x", "b/x"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	notebook := notebookFile(t, "require('fs').readFileSync('x', 'utf8')")
	for _, tt := range []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr string // a part of it
	}{
		{"no such file", []string{"--in", at("no"), "-e", "1"}, 2, "", "no such file"},
		{"one name", []string{"--in", at("a/x"), "--in", at("b/x"), "-e", "1"}, 2, "", "have the same name"},
		{"twice", []string{"--in", at("a/x"), "--in", at("b/../a/x"), "-e", "1"}, 0, "1\n", ""},
		{"no name", []string{"--in", "/", "-e", "1"}, 2, "", "has no name"},
		{"special", []string{"--in", os.DevNull, "-e", "1"}, 2, "", "not a regular file"},
		{"a directory of its own", []string{"--provider", "subprocess", "--dir", dir, "--out", at("o"), "-e", "1"}, 2, "", "do not go with --dir"},
		{"standard output", []string{"--out", "-", "-e", "1"}, 2, "", "takes a directory"},
		{"a notebook out of a program", []string{"--out", at("done.ipynb"), "-e", "1"}, 2, "", "takes a directory"},
		{"out is a file", []string{"--out", at("a/x"), "-e", "1"}, 2, "", "--out: "},
		{"a notebook's", []string{"--in", at("a/x"), notebook}, 0, "text\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := toolcell(t.Context(), "", append([]string{"run"}, tt.args...)...)
			if code != tt.code || stdout != tt.stdout || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

// TestRunFilesAbsent: a file of this machine is not in the program's directory
// by itself, and it is said how it gets there.
func TestRunFilesAbsent(t *testing.T) {
	at := filepath.Join(t.TempDir(), "sales.csv")
	if err := os.WriteFile(at, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		command, path string
		hint          bool
		args          []string
	}{
		{"", at, true, []string{"-e", "require('fs').readFileSync(process.argv[2])"}},
		{"", "nowhere", false, []string{"-e", "require('fs').readFileSync(process.argv[2])"}},
		{"node", at, true, []string{"--provider", "subprocess", "--language", "javascript", "-e", "require('fs').readFileSync(process.argv[2])"}},
		{"python3", at, true, []string{"--language", "python", "-e", "import sys; open(sys.argv[1])"}},
	} {
		if tt.command != "" {
			needs(t, tt.command)
		}
		code, _, stderr := toolcell(t.Context(), "", append(append([]string{"run"}, tt.args...), tt.path)...)
		if hint := "toolcell: " + at + " is not open to the program; --in " + at; code != 1 || strings.Contains(stderr, hint) != tt.hint {
			t.Errorf("%q: code %d, stderr %q", tt.args, code, stderr)
		}
	}
}
