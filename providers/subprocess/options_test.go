//go:build real && unix

package subprocess_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

func TestUnavailable(t *testing.T) {
	dir, err := os.MkdirTemp("", "toolcell-scripts-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	with := func(l subprocess.Language, command string) subprocess.Options {
		l.Commands = []string{command}
		return subprocess.Options{Languages: []subprocess.Language{l}}
	}
	for _, tt := range []struct {
		name     string
		opts     subprocess.Options
		stateful bool
		want     error
		text     string
	}{
		{"missing", with(subprocess.Python(), "no-such-python"), true, codeinterp.ErrUnavailable, "apt install python3"},
		{"too old", with(subprocess.JavaScript(), script("old", "echo v16.1.0")), true, codeinterp.ErrUnavailable, "16.1.0 is older than 18"},
		{"broken", with(subprocess.Python(), script("broken", "echo boom >&2; exit 1")), true, codeinterp.ErrUnavailable, "boom"},
		{"no interpreter", with(subprocess.Python(), "/bin/true"), true, codeinterp.ErrUnavailable, "is no Python"},
		{"speaks no protocol", with(subprocess.JavaScript(), script("mute", "echo v20.0.0")), true, codeinterp.ErrUnavailable, "javascript"},
		{"no file", subprocess.Options{Languages: []subprocess.Language{{Name: "x", Commands: []string{"sh"}}}}, false, codeinterp.ErrInvalid, subprocess.FileArg},
		{"twice", subprocess.Options{Languages: []subprocess.Language{subprocess.Bash(), subprocess.Bash()}}, false, codeinterp.ErrInvalid, "twice"},
		{"environment", subprocess.Options{Env: map[string]string{"A=B": ""}}, false, codeinterp.ErrInvalid, "A=B"},
		{"grace", subprocess.Options{Grace: -1}, false, codeinterp.ErrInvalid, "Grace"},
		{"memory in MiB", subprocess.Options{Limits: subprocess.Limits{Memory: 512}}, false, codeinterp.ErrInvalid, "512 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			if tt.stateful {
				_, err = subprocess.NewStateful(&tt.opts)
			} else {
				_, err = subprocess.New(&tt.opts)
			}
			if e, ok := errors.AsType[*codeinterp.Error](err); !ok || !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v (%+v), want %v with %q", err, e, tt.want, tt.text)
			}
		})
	}
}

func TestCwd(t *testing.T) {
	dir, err := os.MkdirTemp("", "toolcell-cwd-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // programs of a root host run as the directory's owner
		if err := os.Chown(dir, 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "here.txt"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		for language, code := range map[string]string{
			"python":     "print(open('here.txt').read(), end='')\nf = open('python', 'w')",
			"javascript": "process.stdout.write(require('fs').readFileSync('here.txt', 'utf8')); void require('fs').writeFileSync('javascript', '')",
			"bash":       "cat here.txt; touch bash",
		} {
			id, err := ci.CreateContext(t.Context(), language, &codeinterp.ContextOptions{Cwd: dir})
			if err != nil {
				t.Fatal(err)
			}
			res := (&notebook{t, ci, id}).run(code, nil)
			if !strings.HasPrefix(res.Stdout(), "content") || !res.OK() {
				t.Errorf("%s: %s, stderr %s", language, summary(res), res.Stderr())
			}
			if err := os.Remove(filepath.Join(dir, language)); err != nil {
				t.Error(err)
			}
		}
		for _, cwd := range []string{"relative", "/no/such/directory", filepath.Join(dir, "here.txt")} {
			if _, err := ci.CreateContext(t.Context(), "bash", &codeinterp.ContextOptions{Cwd: cwd}); !errors.Is(err, codeinterp.ErrInvalid) {
				t.Errorf("%s: %v", cwd, err)
			}
		}
	})
}
