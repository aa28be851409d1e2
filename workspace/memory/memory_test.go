package memory_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/internal/filestest"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/memory"
)

func open(t *testing.T, o memory.Options) *workspace.Workspace {
	t.Helper()
	js := quickjs.New(nil)
	o.Engines.Engines = []engine.Engine{js, typescript.New(js)}
	ws, err := memory.New("demo", &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	return ws
}

func run(t *testing.T, res codeinterp.Result, err error) string {
	t.Helper()
	if err != nil || !res.OK() {
		t.Fatalf("%+v, %v", res, err)
	}
	return res.Stdout()
}

// TestShared: what a context, a stateless run, another language, the files and Go
// write is what each of the others reads.
func TestShared(t *testing.T) {
	fsys := memfs.New(nil)
	ws := open(t, memory.Options{Engines: inmemory.Options{Shared: fsys}})
	ctx, ci := t.Context(), ws.Code()
	stateful, _ := codeinterp.Stateful(ci)
	id, err := stateful.CreateContext(ctx, "javascript", &codeinterp.ContextOptions{Cwd: "sub"})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range filestest.Contents() {
		list, _ := json.Marshal([]byte(content)) // base64
		write := fmt.Sprintf("require('fs').writeFileSync('/%s', Buffer.from(%s, 'base64'))", name, list)
		res, err := stateful.RunInContext(ctx, id, write, nil)
		run(t, res, err)
		res, err = ci.RunCode(ctx, "typescript", fmt.Sprintf("const b: Uint8Array = require('fs').readFileSync('%s'); console.log(Buffer.from(b).toString('base64'))", name), nil)
		if got := strings.TrimSpace(run(t, res, err)); `"`+got+`"` != string(list) {
			t.Errorf("%s: %.100s, want %.100s", name, got, list)
		}
		if b, err := fsys.ReadFile(name); err != nil || string(b) != string(content) {
			t.Errorf("%s in Go: %.100q, %v", name, b, err)
		}
	}
	if err := ws.Files().Write(ctx, "sub/from-files.txt", []byte("hello"), nil); err != nil {
		t.Fatal(err)
	}
	res, err := stateful.RunInContext(ctx, id, "console.log(require('fs').readFileSync('from-files.txt', 'utf8'))", nil)
	if got := run(t, res, err); got != "hello\n" {
		t.Errorf("a context read %q", got)
	}
	// The files stay when the context that wrote them ends.
	if err := stateful.DeleteContext(ctx, id); err != nil {
		t.Fatal(err)
	}
	if page, err := ws.Files().Read(ctx, "lines", files.Range{}); err != nil || page.Text != "a\r\nb\n\n" {
		t.Errorf("%+v, %v", page, err)
	}
}

// TestFS: the file system has the faults that every other has.
func TestFS(t *testing.T) {
	fsys := memfs.New(nil)
	open(t, memory.Options{Engines: inmemory.Options{Shared: fsys}})
	filestest.Run(t, fsys.Files("."))
}

// TestQuota: all programs together have the room of one file system.
func TestQuota(t *testing.T) {
	ws := open(t, memory.Options{Engines: inmemory.Options{Files: memfs.Options{MaxBytes: 100_000}}})
	fill := func(name string) codeinterp.Result {
		res, err := ws.Code().RunCode(t.Context(), "javascript", fmt.Sprintf("require('fs').writeFileSync(%q, 'x'.repeat(60000))", name), nil)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := fill("a"); !res.OK() {
		t.Fatal(res.Error)
	}
	if res := fill("b"); res.OK() {
		t.Error("a second program had room that the first took")
	}
	if err := ws.Files().Write(t.Context(), "c", make([]byte, 60000), nil); !errors.Is(err, codeinterp.ErrQuota) {
		t.Errorf("a tool's write: %v", err)
	}
}

// TestTogether: programs side by side append to one file and lose nothing.
func TestTogether(t *testing.T) {
	ws := open(t, memory.Options{})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			res, err := ws.Code().RunCode(t.Context(), "javascript", fmt.Sprintf("for (let k = 0; k < 50; k++) require('fs').appendFileSync('log', '%02d\\n')", i), nil)
			if err != nil || !res.OK() {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
	wg.Wait()
	page, err := ws.Files().Read(t.Context(), "log", files.Range{})
	if err != nil || len(page.Text) != 20*50*3 {
		t.Fatalf("%d bytes, %v", len(page.Text), err)
	}
	for i := range 20 {
		if n := strings.Count(page.Text, fmt.Sprintf("%02d\n", i)); n != 50 {
			t.Errorf("%d lines of %d", n, i)
		}
	}
}

// TestTools: files are among the tools, commands are not, and a shell that is
// declared is refused.
func TestTools(t *testing.T) {
	var names []string
	for _, tool := range open(t, memory.Options{}).Tools() {
		names = append(names, tool.Name)
	}
	all := strings.Join(names, " ")
	if !strings.Contains(all, "workspace__demo__read_file") || !strings.Contains(all, "workspace__demo__run_code") || strings.Contains(all, "command") {
		t.Error(all)
	}
	_, err := memory.New("demo", &memory.Options{Declared: workspace.Declaration{Shell: true}})
	if !errors.Is(err, workspace.ErrLacking) {
		t.Errorf("a shell: %v", err)
	}
}
