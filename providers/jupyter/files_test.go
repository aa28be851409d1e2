//go:build linux

package jupyter_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/filestest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// directory opens the files of a session's context.
func (s *session) directory() codeinterp.FS {
	s.t.Helper()
	of, ok := codeinterp.Files(codeinterp.Wrap(s.ci))
	if !ok {
		s.t.Fatal("no files")
	}
	dir, err := of.OpenFiles(s.t.Context(), s.id)
	if err != nil {
		s.t.Fatal(err)
	}
	return dir
}

// TestContextFiles runs the table that every implementation of FS passes, on a
// server of each kernel generation and on a gateway, which has no contents API.
func TestContextFiles(t *testing.T) {
	t.Parallel()
	for _, name := range everywhere(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			filestest.Run(t, realSession(t, sharedServer(t, name), jupyter.Options{}).directory())
		})
	}
}

// TestFilesWhileBusy: a program that computes is in nobody's way.
func TestFilesWhileBusy(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		dir := c.directory()
		var got []byte
		var err error
		const code = "import os, time\nopen('early', 'w').write('seen')\nprint('go', flush=True)\nwhile not os.path.exists('stop'): pass\nprint('done')"
		res, rerr := c.run(code, &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
			if strings.Contains(string(o.Data), "go") {
				got, err = fs.ReadFile(dir, "early")
				err = errors.Join(err, codeinterp.WriteFile(dir, "stop", strings.NewReader(""), 0o600))
			}
			return nil
		}})
		if rerr != nil || !res.OK() || err != nil || string(got) != "seen" || !strings.Contains(res.Stdout(), "done") {
			t.Errorf("%+v, %v; read %q, %v", res, rerr, got, err)
		}
	})
}

// TestFilesStayIn: links that lead out are not followed, and what is no file is
// not opened.
func TestFilesStayIn(t *testing.T) {
	t.Parallel()
	c := realSession(t, sharedServer(t, "server6"), jupyter.Options{})
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.ok("import os\nos.mkdir('d'); open('d/f', 'w').write('x')\nos.symlink('d/f', 'in'); os.symlink('d', 'dir'); os.symlink('../..', 'd/up')\n" +
		"os.symlink('" + secret + "', 'out'); os.symlink('loop', 'loop'); os.mkfifo('fifo'); open(b'd/\\xff', 'w').close()")
	dir := c.directory()
	for name, want := range map[string]error{"in": nil, "dir/f": nil, "out": codeinterp.ErrOutside, "d/up/x": codeinterp.ErrOutside,
		"dir/up": codeinterp.ErrOutside, "loop": fs.ErrInvalid, "fifo": codeinterp.ErrSpecial} {
		got, err := fs.ReadFile(dir, name)
		if !errors.Is(err, want) || want == nil && string(got) != "x" {
			t.Errorf("%s: %q, %v, want %v", name, got, err, want)
		}
		if err := codeinterp.WriteFile(dir, name, strings.NewReader("x"), 0o600); !errors.Is(err, want) {
			t.Errorf("writing %s: %v, want %v", name, err, want)
		}
	}
	if list, err := dir.ReadDir("d"); err != nil || len(list) != 3 || list[2].Name() != "\xff" {
		t.Errorf("listed %v, %v", list, err)
	}
	if err := dir.RemoveAll("d"); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(secret); string(got) != "secret" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestArtifactsAfterTimeout: a program that ended in time is no timeout, however
// long is looked for what it wrote.
func TestArtifactsAfterTimeout(t *testing.T) {
	t.Parallel()
	c := realSession(t, sharedServer(t, "server6"), jupyter.Options{})
	o := &codeinterp.RunOptions{Artifacts: true, Timeout: time.Second}
	res, err := c.run("for i in range(800): open(f'{i:03}', 'w').write(str(i))", o)
	if err != nil || !res.OK() && res.Duration < o.Timeout {
		t.Errorf("%s after %v, %v", res.Status, res.Duration, err)
	}
	// A program that took its time itself is looked at too, for less long.
	if n := len(res.Artifacts); res.OK() && n != 800 && !slices.ContainsFunc(res.Truncated, func(t codeinterp.Truncation) bool { return t.Stream == "artifacts" }) {
		t.Errorf("%d files, %v", n, res.Truncated)
	}
}

// TestArtifacts: what a run wrote is found, in a RunCode with its content.
func TestArtifacts(t *testing.T) {
	t.Parallel()
	c := realSession(t, sharedServer(t, "server6"), jupyter.Options{})
	const code = "import os\nos.mkdir('d'); open('d/out.csv', 'w').write(open('in.csv').read() + 'b'); os.mkfifo('fifo')"
	o := &codeinterp.RunOptions{Artifacts: true, Files: fstest.MapFS{"in.csv": {Data: []byte("a,")}, "other": {}}}
	res, err := c.ci.RunCode(t.Context(), "python", code, o)
	if err != nil || len(res.Artifacts) != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	a := res.Artifacts[0]
	if a.Path != "d/out.csv" || a.MIME != "text/csv" || a.Size != 3 || string(a.Data) != "a,b" || len(a.SHA256) != 64 || res.Artifacts[1].Skipped != "FIFO" {
		t.Errorf("got %+v", res.Artifacts)
	}
	if res, err = c.run(code, o); err != nil || len(res.Artifacts) != 2 || res.Artifacts[0].Data != nil || res.Artifacts[0].SHA256 != a.SHA256 {
		t.Errorf("in a context: %+v, %v", res, err)
	}
	if res, err = c.run("1", o); err != nil || res.Artifacts != nil || res.Truncated != nil {
		t.Errorf("of a run that writes nothing: %+v, %v", res, err)
	}
	res, err = c.run("for name in b'\\xff.csv', b'\\xfe.csv':\n    with open(name, 'w') as f: f.write('1')", o)
	if err != nil || len(res.Artifacts) != 2 || res.Artifacts[0].Path != `\xfe.csv` || res.Artifacts[1].Path != `\xff.csv` || !res.Artifacts[0].Escaped || res.Artifacts[0].MIME != "text/csv" {
		t.Errorf("of names that are not UTF-8: %+v, %v", res, err)
	}
	res, err = c.run("open('late', 'w').close()\nimport os; os._exit(3)", &codeinterp.RunOptions{Artifacts: true})
	if err != nil || !slices.ContainsFunc(res.Truncated, func(t codeinterp.Truncation) bool {
		return t.Stream == "artifacts" && t.Reason == codeinterp.TruncatedByExit
	}) {
		t.Errorf("of a run whose kernel died: %+v, %v", res, err)
	}
}
