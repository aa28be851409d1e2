//go:build real && unix

package subprocess_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/filestest"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// openFiles returns the directory of a new context.
func openFiles(t *testing.T, ci codeinterp.StatefulInterpreter, language string, o *codeinterp.ContextOptions) (codeinterp.ContextID, codeinterp.FS) {
	t.Helper()
	id, err := ci.CreateContext(t.Context(), language, o)
	if err != nil {
		t.Fatal(err)
	}
	of, ok := codeinterp.Files(codeinterp.Wrap(ci))
	if !ok {
		t.Fatal("no files")
	}
	dir, err := of.OpenFiles(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return id, dir
}

// TestContextFiles runs the table that every implementation of FS passes: in a
// directory of the context's own, and in one of somebody's.
func TestContextFiles(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		shared := leftover.Dir(t)
		for _, opts := range []*codeinterp.ContextOptions{nil, {Cwd: shared}} {
			id, dir := openFiles(t, ci, "bash", opts)
			filestest.Run(t, dir)
			res, err := ci.RunInContext(t.Context(), id, "cat lines; echo more >> dir/lines; mv dir moved; echo text > new", nil)
			if err != nil || res.Stdout() != string(filestest.Contents()["lines"]) || res.Stderr() != "" {
				t.Errorf("a program finds %q, %q, %v", res.Stdout(), res.Stderr(), err)
			}
			if b, err := fs.ReadFile(dir, "new"); string(b) != "text\n" || err != nil {
				t.Errorf("what a program wrote: %q, %v", b, err)
			}
			if _, err := dir.Stat("moved/lines"); err != nil {
				t.Error(err)
			}
			if err := dir.RemoveAll("moved"); err != nil {
				t.Error(err)
			}
			if err := ci.DeleteContext(t.Context(), id); err != nil {
				t.Error(err)
			}
			if _, err := dir.Stat("new"); !errors.Is(err, codeinterp.ErrContext) {
				t.Errorf("after the end: %v", err)
			}
		}
		if b, err := os.ReadFile(filepath.Join(shared, "new")); string(b) != "text\n" || err != nil {
			t.Errorf("left in a directory of somebody's: %q, %v", b, err)
		}
	})
}

// readAll prints what is in the file in.bin, in hexadecimal.
var readAll = map[string]string{
	"python":     "print(open('in.bin', 'rb').read().hex())",
	"javascript": "console.log(require('fs').readFileSync('in.bin').toString('hex'))",
	"bash":       "od -An -v -tx1 in.bin | tr -d ' \\n'; echo",
}

// TestInputs: files beside the code, of a run and of a context.
func TestInputs(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		all := filestest.Contents()["bytes"]
		src := fstest.MapFS{"in.bin": {Data: all}, "d/e/empty": {}}
		for language, code := range readAll {
			want := fmt.Sprintf("%x\n", all)
			res := run(t, ci, language, code, &codeinterp.RunOptions{Files: src})
			if res.Stdout() != want {
				t.Errorf("%s: %s", language, summary(res))
			}
			id, _ := openFiles(t, ci, language, &codeinterp.ContextOptions{Files: src})
			res, err := ci.RunInContext(t.Context(), id, code, nil)
			if res.Stdout() != want {
				t.Errorf("%s, in a context: %s, %v", language, summary(res), err)
			}
			id, _ = openFiles(t, ci, language, nil)
			res, err = ci.RunInContext(t.Context(), id, code, &codeinterp.RunOptions{Files: src})
			if res.Stdout() != want {
				t.Errorf("%s, of a run in a context: %s, %v", language, summary(res), err)
			}
		}
		_, err := ci.RunCode(t.Context(), "bash", "echo no", &codeinterp.RunOptions{Files: fstest.MapFS{"l": {Mode: fs.ModeSymlink}}})
		if !errors.Is(err, codeinterp.ErrInvalid) || !errors.Is(err, codeinterp.ErrSpecial) {
			t.Errorf("a link: %v", err)
		}
	})
}

// TestFilesQuota: what does not fit is refused, before a program pays for it.
func TestFilesQuota(t *testing.T) {
	ci := open(t, subprocess.Options{Limits: subprocess.Limits{Disk: 1 << 20, FileSize: 600 << 10}})
	_, dir := openFiles(t, ci, "bash", nil)
	big := func(n int) error {
		f, err := dir.OpenFile("big", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(make([]byte, n))
		return errors.Join(err, f.Close())
	}
	if err := big(700 << 10); !errors.Is(err, codeinterp.ErrTooLarge) {
		t.Errorf("a large file: %v", err)
	}
	if err := big(500 << 10); err != nil {
		t.Error(err)
	}
	if err := codeinterp.WriteFile(dir, "small", bytes.NewReader(make([]byte, 600<<10)), 0o600); !errors.Is(err, codeinterp.ErrQuota) {
		t.Errorf("more than the disk: %v", err)
	}
	src := fstest.MapFS{"a": {Data: make([]byte, 590<<10)}, "b": {Data: make([]byte, 590<<10)}}
	if _, err := ci.RunCode(t.Context(), "bash", "echo no", &codeinterp.RunOptions{Files: src}); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("inputs: %v", err)
	}
}

// writes has programs that read in.txt and write d/out.csv.
var writes = map[string]string{
	"python":     "import os\nos.mkdir('d')\nopen('d/out.csv', 'w').write(open('in.txt').read() + 'b')",
	"javascript": "const fs = require('fs'); fs.mkdirSync('d'); fs.writeFileSync('d/out.csv', fs.readFileSync('in.txt', 'utf8') + 'b')",
	"bash":       "mkdir d; { cat in.txt; printf b; } > d/out.csv",
	"awk":        `BEGIN { system("mkdir d; { cat in.txt; printf b; } > d/out.csv") }`,
}

func awk() subprocess.Language {
	return subprocess.Language{Name: "awk", Commands: []string{"awk", "mawk", "gawk"}, Args: []string{"-f", subprocess.FileArg}, Extension: ".awk", VersionArgs: []string{"BEGIN { print 1 }"}}
}

// TestArtifacts: what a run wrote is found, in a RunCode with its content; what
// was given to it, and what it has not touched, is not.
func TestArtifacts(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		o.Languages = []subprocess.Language{subprocess.Python(), subprocess.JavaScript(), subprocess.Bash(), awk()}
		ci := open(t, o)
		for language, code := range writes {
			opts := &codeinterp.RunOptions{Artifacts: true, Files: fstest.MapFS{"in.txt": {Data: []byte("a,")}, "other": {}}, Stdin: []byte("x")}
			res := run(t, ci, language, code, opts)
			if len(res.Artifacts) != 1 || res.Truncated != nil {
				t.Errorf("%s: %+v, %s", language, res.Artifacts, summary(res))
				continue
			}
			a := res.Artifacts[0]
			if a.Path != "d/out.csv" || a.MIME != "text/csv" || a.Size != 3 || string(a.Data) != "a,b" || len(a.SHA256) != 64 {
				t.Errorf("%s: %+v", language, a)
			}
			if language == "awk" {
				continue
			}
			n := newNotebook(t, ci, language)
			if res := n.run(code, opts); len(res.Artifacts) != 1 || res.Artifacts[0].Path != a.Path || res.Artifacts[0].Data != nil {
				t.Errorf("%s, in a context: %+v", language, res.Artifacts)
			}
			if res := n.run("1", &codeinterp.RunOptions{Artifacts: true}); res.Artifacts != nil || res.Truncated != nil {
				t.Errorf("%s, of a run that writes nothing: %+v", language, res.Artifacts)
			}
		}
	})
}
