//go:build real && unix

package subprocess_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestLanguageWithoutContexts: a language without a driver has no contexts, and takes them
// from no other.
func TestLanguageWithoutContexts(t *testing.T) {
	awk := subprocess.Language{Name: "awk", Commands: []string{"awk", "mawk", "gawk"}, Args: []string{"-f", subprocess.FileArg}, Extension: ".awk", VersionArgs: []string{"BEGIN { print 1 }"}}
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{awk, subprocess.Bash()}})
	if res := run(t, ci, "awk", `BEGIN { print 6 * 7 }`, nil); res.Stdout() != "42\n" {
		t.Error(summary(res))
	}
	if res := newNotebook(t, ci, "bash").run("echo in a context", nil); res.Stdout() != "in a context\n" {
		t.Error(summary(res))
	}
	for _, ci := range []*subprocess.Stateful{ci, open(t, subprocess.Options{Languages: []subprocess.Language{awk}})} {
		if _, err := ci.CreateContext(t.Context(), "awk", nil); !errors.Is(err, codeinterp.ErrLanguage) {
			t.Errorf("a context of awk: %v", err)
		}
		for _, l := range ci.Describe().Languages {
			if l.Contexts != (l.Name == "bash") {
				t.Errorf("%s: contexts %v", l.Name, l.Contexts)
			}
		}
	}
}

// TestCwdReplaced: a Cwd that was exchanged for a link leads nowhere, also when
// the context gets a new process.
func TestCwdReplaced(t *testing.T) {
	dir := t.TempDir()
	for d := dir; d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cwd, other := filepath.Join(dir, "cwd"), filepath.Join(dir, "other")
	for _, d := range []string{cwd, other} {
		if err := errors.Join(os.Mkdir(d, 0o777), os.Chmod(d, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "secret"), []byte("HUSH"), 0o644); err != nil {
		t.Fatal(err)
	}
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		id, err := ci.CreateContext(t.Context(), "bash", &codeinterp.ContextOptions{Cwd: cwd})
		if err != nil {
			t.Fatal(err)
		}
		moved := cwd + ".moved"
		if err := errors.Join(os.Rename(cwd, moved), os.Symlink(other, cwd)); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := errors.Join(os.Remove(cwd), os.Rename(moved, cwd)); err != nil {
				t.Fatal(err)
			}
		}()
		if err := ci.RestartContext(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		res, err := ci.RunInContext(t.Context(), id, "cat secret; pwd", &codeinterp.RunOptions{Timeout: time.Minute})
		if !errors.Is(err, codeinterp.ErrInvalid) || strings.Contains(res.Stdout(), "HUSH") {
			t.Errorf("%s, %v", summary(res), err)
		}
	})
}
