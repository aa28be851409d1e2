package inmemory_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/filestest"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

// TestContextFiles runs the table that every implementation of FS passes.
func TestContextFiles(t *testing.T) {
	s := open(t, nil)
	for _, o := range []*codeinterp.ContextOptions{nil, {Cwd: "/home/me"}} {
		id, err := s.CreateContext(t.Context(), "javascript", o)
		if err != nil {
			t.Fatal(err)
		}
		of, _ := codeinterp.Files(codeinterp.Wrap(s))
		dir, err := of.OpenFiles(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		filestest.Run(t, dir)
	}
}

// TestChdir: the working directory is a part of a context's state, as in node.
func TestChdir(t *testing.T) {
	s := open(t, nil)
	id := create(t, s, "javascript")
	run(t, s, id, `const fs = require("fs"); fs.mkdirSync("d"); process.chdir("d"); 1`, nil)
	res := run(t, s, id, `fs.writeFileSync("f", ""); [process.cwd(), fs.existsSync("/d/f")].join()`, nil)
	if res.Text() != "/d,true" {
		t.Errorf("got %s", res.Text())
	}
	if res, err := s.RunCode(t.Context(), "javascript", "process.cwd()", nil); err != nil || res.Text() != "/" {
		t.Errorf("elsewhere: %+v, %v", res, err)
	}
}

// TestArtifacts: what a run wrote is found, in a RunCode with its content.
func TestArtifacts(t *testing.T) {
	s := open(t, nil)
	const code = `const fs = require("fs"); fs.mkdirSync("d"); fs.writeFileSync("d/out.csv", fs.readFileSync("in.csv", "utf8") + "b"); 1`
	o := &codeinterp.RunOptions{Artifacts: true, Files: fstest.MapFS{"in.csv": {Data: []byte("a,")}, "other": {}}}
	res, err := s.RunCode(t.Context(), "javascript", code, o)
	if err != nil || len(res.Artifacts) != 1 {
		t.Fatalf("%v, %v, %v", res.Artifacts, res.Error, err)
	}
	a := res.Artifacts[0]
	if a.Path != "d/out.csv" || a.MIME != "text/csv" || a.Size != 3 || string(a.Data) != "a,b" || len(a.SHA256) != 64 {
		t.Errorf("got %+v", a)
	}
	id := create(t, s, "javascript")
	if res = run(t, s, id, code, o); len(res.Artifacts) != 1 || res.Artifacts[0].Data != nil {
		t.Errorf("in a context: %+v", res.Artifacts)
	}
	if res = run(t, s, id, "1", &codeinterp.RunOptions{Artifacts: true}); res.Artifacts != nil || res.Truncated != nil {
		t.Errorf("of a run that writes nothing: %+v", res.Artifacts)
	}
}

// TestInputQuota: files that do not fit are refused.
func TestInputQuota(t *testing.T) {
	s := open(t, &inmemory.Options{Files: memfs.Options{MaxBytes: 1000}})
	big := fstest.MapFS{"a": {Data: make([]byte, 600)}, "b": {Data: make([]byte, 600)}}
	id := create(t, s, "javascript")
	_, err := s.RunInContext(t.Context(), id, "1", &codeinterp.RunOptions{Files: big})
	if !errors.Is(err, codeinterp.ErrCapacity) || !errors.Is(err, codeinterp.ErrQuota) {
		t.Errorf("got %v", err)
	}
	if _, err := s.RunCode(t.Context(), "javascript", "1", &codeinterp.RunOptions{Files: big}); !errors.Is(err, codeinterp.ErrQuota) {
		t.Errorf("got %v", err)
	}
}
