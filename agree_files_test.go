//go:build linux && real

package toolcell_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/internal/filestest"
	"github.com/toolcell/toolcell/internal/leftover"
	provider "github.com/toolcell/toolcell/providers/jupyter"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/jupyter"
	"github.com/toolcell/toolcell/workspace/local"
)

// A filePlace is a directory that code, commands, tools and Go work in.
type filePlace struct {
	fsys  codeinterp.FS
	code  func(ctx context.Context, language, code string) (codeinterp.Result, error)
	langs []string
	ws    *workspace.Workspace // nil where there are no tools for it
}

// filePrograms write the bytes of %[2]s, in hexadecimal, to the file %[1]s, print
// what is in it in the same form, the hash of it, and the names of a directory.
var filePrograms = map[string]struct{ write, read, sum, list string }{
	"python": {"open('%[1]s', 'wb').write(bytes.fromhex('%[2]s')) and None", "print(open('%[1]s', 'rb').read().hex())",
		"import hashlib; print(hashlib.sha256(open('%[1]s', 'rb').read()).hexdigest())", "import os; print(' '.join(sorted(os.listdir('.'))))"},
	"javascript": {"require('fs').writeFileSync('%[1]s', Buffer.from('%[2]s', 'hex'))", "console.log(require('fs').readFileSync('%[1]s').toString('hex'))",
		"", "console.log(require('fs').readdirSync('.').sort().join(' '))"},
	"bash": {"printf '%%b' \"$(sed 's/../\\\\x&/g' <<<'%[2]s')\" >'%[1]s'", "od -An -v -tx1 '%[1]s' | tr -d ' \\n'; echo",
		"sha256sum <'%[1]s' | cut -d ' ' -f 1", "ls -A | tr '\\n' ' ' | sed 's/ $//'; echo"},
}

func program(language string) struct{ write, read, sum, list string } {
	if language == "typescript" {
		language = "javascript"
	}
	return filePrograms[language]
}

// filesAgree has every writer write files of each content, and every reader read and
// list them: code in each language, commands, tools and Go.
func filesAgree(t *testing.T, of *places) {
	for name, open := range map[string]func(*testing.T, *places) *filePlace{"memory": memoryPlace, "local": localPlace, "jupyter": jupyterPlace} {
		t.Run(name, func(t *testing.T) {
			p := open(t, of)
			var names []string
			writers, readers := p.writers(t), p.readers(t)
			for _, by := range slices.Sorted(maps.Keys(writers)) {
				for content, want := range filestest.Contents() {
					if len(want) > 1024 { // Go writes that, and a program is as long as its text
						continue
					}
					file := by + "-" + content
					if !writers[by](file, want) {
						continue
					}
					names = append(names, file)
					for _, reader := range slices.Sorted(maps.Keys(readers)) {
						if got, ok := readers[reader](file, want); !ok {
							t.Errorf("%s wrote %x to %s, and %s reads %.600s", by, want, file, reader, got)
						}
					}
				}
			}
			slices.Sort(names)
			p.listed(t, strings.Join(names, " "))
			p.large(t)
		})
	}
}

// writers write a file, or report that they cannot write such a content.
func (p *filePlace) writers(t *testing.T) map[string]func(name string, data []byte) bool {
	w := map[string]func(name string, data []byte) bool{}
	for _, language := range p.langs {
		w[language] = func(name string, data []byte) bool {
			p.run(t, language, fmt.Sprintf(program(language).write, name, fmt.Sprintf("%x", data)))
			return true
		}
	}
	w["go"] = func(name string, data []byte) bool {
		if err := codeinterp.WriteFile(p.fsys, name, bytes.NewReader(data), 0o644); err != nil {
			t.Error(err)
		}
		return true
	}
	if p.ws == nil {
		return w
	}
	w["command"] = func(name string, data []byte) bool {
		p.command(t, fmt.Sprintf(program("bash").write, name, fmt.Sprintf("%x", data)))
		return true
	}
	w["service"] = func(name string, data []byte) bool {
		if err := p.ws.Files().Write(t.Context(), name, data, nil); err != nil {
			t.Error(err)
		}
		return true
	}
	w["tool"] = func(name string, data []byte) bool {
		if bytes.IndexByte(data, 0) >= 0 {
			return false // a tool's arguments are text
		}
		p.tool(t, "write_file", fmt.Sprintf(`{"path": %q, "content": %q}`, name, data))
		return true
	}
	return w
}

// readers report what they read, and whether that is right.
func (p *filePlace) readers(t *testing.T) map[string]func(name string, want []byte) (string, bool) {
	r := map[string]func(name string, want []byte) (string, bool){}
	hex := func(got string, want []byte) (string, bool) { return got, got == fmt.Sprintf("%x\n", want) }
	for _, language := range p.langs {
		r[language] = func(name string, want []byte) (string, bool) {
			return hex(p.run(t, language, fmt.Sprintf(program(language).read, name)), want)
		}
	}
	r["go"] = func(name string, want []byte) (string, bool) {
		got, err := fs.ReadFile(p.fsys, name)
		return fmt.Sprintf("%x, %v", got, err), err == nil && bytes.Equal(got, want)
	}
	if p.ws == nil {
		return r
	}
	r["command"] = func(name string, want []byte) (string, bool) {
		return hex(p.command(t, fmt.Sprintf(program("bash").read, name)), want)
	}
	r["service"] = func(name string, want []byte) (string, bool) {
		page, err := p.ws.Files().Read(t.Context(), name, files.Range{})
		binary := bytes.IndexByte(want, 0) >= 0
		return fmt.Sprintf("%+v, %v", page, err), err == nil && page.Binary == binary && (binary || page.Text == string(want))
	}
	r["tool"] = func(name string, want []byte) (string, bool) {
		text := p.tool(t, "read_file", fmt.Sprintf(`{"path": %q}`, name))
		if bytes.IndexByte(want, 0) >= 0 {
			return text, strings.Contains(text, "binary")
		}
		return text, strings.HasSuffix(text, string(want))
	}
	return r
}

func (p *filePlace) run(t *testing.T, language, code string) string {
	t.Helper()
	res, err := p.code(t.Context(), language, code)
	if err != nil || !res.OK() || res.Stderr() != "" {
		t.Errorf("%s: %.300s: %+v, %v", language, code, res, err)
	}
	return res.Stdout()
}

func (p *filePlace) command(t *testing.T, line string) string {
	t.Helper()
	res, err := p.ws.Shell().Run(t.Context(), line, nil)
	if err != nil || !res.OK() || res.Stderr() != "" {
		t.Errorf("%.300s: %+v, %v", line, res, err)
	}
	return res.Stdout()
}

func (p *filePlace) tool(t *testing.T, op, args string) string {
	t.Helper()
	a := p.ws.Dispatch(t.Context(), "workspace__demo__"+op, []byte(args), nil)
	if a.Failure != nil {
		t.Errorf("%s %s: %s", op, args, a.Text)
	}
	return a.Text
}

// listed wants all to see the same names, and the same fault of one that is not
// there.
func (p *filePlace) listed(t *testing.T, want string) {
	for _, language := range p.langs {
		if got := strings.TrimSpace(p.run(t, language, program(language).list)); got != want {
			t.Errorf("%s lists %s\nwant %s", language, got, want)
		}
	}
	entries, err := p.fsys.ReadDir(".")
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != want || err != nil {
		t.Errorf("Go lists %s, %v\nwant %s", got, err, want)
	}
	if _, err := p.fsys.Open("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if p.ws == nil {
		return
	}
	if got := strings.TrimSpace(p.command(t, program("bash").list)); got != want {
		t.Errorf("a command lists %s\nwant %s", got, want)
	}
	list, err := p.ws.Files().List(t.Context(), ".", nil)
	names = nil
	for _, e := range list.Entries {
		names = append(names, e.Path)
	}
	if got := strings.Join(names, " "); got != want || err != nil {
		t.Errorf("the service lists %s, %v\nwant %s", got, err, want)
	}
	if _, err := p.ws.Files().Read(t.Context(), "none", files.Range{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// large has 100 MB written by Go read by who has a hash for it, and those of a
// command read by Go. With the race detector they are a fifth.
func (p *filePlace) large(t *testing.T) {
	size := int64(20 << 20)
	if p.ws == nil {
		return // package filestest does, with a quota that lets it
	}
	sum := func(f io.Reader) string {
		h := sha256.New()
		n, err := io.Copy(h, f)
		if n != size || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
		return fmt.Sprintf("%x", h.Sum(nil))
	}
	p.command(t, fmt.Sprintf("set +o pipefail; yes 0123456789abcde | head -c %d >by-command", size))
	f, err := p.fsys.Open("by-command")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := sum(f)
	again, err := p.fsys.Open("by-command")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := codeinterp.WriteFile(p.fsys, "by-go", again, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"by-command", "by-go"} {
		for _, language := range p.langs {
			if code := program(language).sum; code != "" {
				if got := strings.TrimSpace(p.run(t, language, fmt.Sprintf(code, name))); got != want {
					t.Errorf("%s has %s of %s, want %s", language, got, name, want)
				}
			}
		}
		if got := strings.TrimSpace(p.command(t, fmt.Sprintf(program("bash").sum, name))); got != want {
			t.Errorf("a command has %s of %s, want %s", got, name, want)
		}
	}
}

func memoryPlace(t *testing.T, of *places) *filePlace {
	return contextPlace(t, of.of("memory"), "javascript")
}

// contextPlace is the directory of a context.
func contextPlace(t *testing.T, ci codeinterp.StatefulInterpreter, language string) *filePlace {
	id, err := ci.CreateContext(t.Context(), language, nil)
	if err != nil {
		t.Fatal(err)
	}
	of, _ := codeinterp.Files(ci)
	dir, err := of.OpenFiles(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return &filePlace{fsys: dir, langs: []string{language}, code: func(ctx context.Context, _, code string) (codeinterp.Result, error) {
		return ci.RunInContext(ctx, id, code, nil)
	}}
}

func localPlace(t *testing.T, _ *places) *filePlace {
	dir := leftover.Dir(t)
	ws, err := local.New("demo", dir, &local.Options{Subprocess: subprocess.Options{
		Languages: []subprocess.Language{subprocess.Python(), subprocess.JavaScript(), subprocess.TypeScript(), subprocess.Bash()}}})
	if err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	return workspacePlace(t, ws, err)
}

func jupyterPlace(t *testing.T, of *places) *filePlace {
	ws, err := jupyter.New(t.Context(), "demo", &jupyter.Options{Server: provider.Options{URL: of.jupyter(), Dir: leftover.Dir(t)}})
	return workspacePlace(t, ws, err)
}

// workspacePlace is a workspace's directory.
func workspacePlace(t *testing.T, ws *workspace.Workspace, err error) *filePlace {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	ci, _ := codeinterp.Stateful(ws.Code())
	of, _ := codeinterp.Files(ws.Code())
	p := &filePlace{ws: ws}
	ids := map[string]codeinterp.ContextID{}
	for _, l := range codeinterp.Describe(ws.Code()).Languages {
		if filePrograms[strings.Replace(l.Name, "typescript", "javascript", 1)].write == "" || !l.Files {
			continue
		}
		if ids[l.Name], err = ci.CreateContext(t.Context(), l.Name, nil); err != nil {
			t.Fatal(err)
		}
		p.langs = append(p.langs, l.Name)
		if p.fsys, err = of.OpenFiles(t.Context(), ids[l.Name]); err != nil {
			t.Fatal(err)
		}
	}
	p.code = func(ctx context.Context, language, code string) (codeinterp.Result, error) {
		return ci.RunInContext(ctx, ids[language], code, nil)
	}
	return p
}
