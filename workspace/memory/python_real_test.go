//go:build real

package memory_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/internal/filestest"
	"github.com/toolcell/toolcell/internal/packtest"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/python"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/workspace/memory"
)

// TestLanguages: Python and JavaScript have the same files, in contexts and without.
func TestLanguages(t *testing.T) {
	dir := packtest.Dir(t)
	py, err := python.New(t.Context(), &python.Options{Pack: os.DirFS(dir), Cache: packtest.Cache(dir)})
	if err != nil {
		t.Fatal(err)
	}
	ws, err := memory.New("demo", &memory.Options{Engines: inmemory.Options{Engines: []engine.Engine{quickjs.New(nil), py}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	ctx := t.Context()
	ci, _ := codeinterp.Stateful(ws.Code())
	ids := map[string]codeinterp.ContextID{}
	for _, language := range []string{"python", "javascript"} {
		if ids[language], err = ci.CreateContext(ctx, language, nil); err != nil {
			t.Fatal(err)
		}
	}
	write := map[string]string{"python": "import os; os.makedirs('d', exist_ok=True); _ = open('d/%[1]s', 'wb').write(bytes.fromhex('%[2]x'))",
		"javascript": "const fs = require('fs'); fs.mkdirSync('d', { recursive: true }); fs.writeFileSync('d/%[1]s', Buffer.from('%[2]x', 'hex')); void 0"}
	read := map[string]string{"python": "print(open('/d/%s', 'rb').read().hex())", "javascript": "console.log(require('fs').readFileSync('/d/%s').toString('hex'))"}
	for writer, reader := range map[string]string{"python": "javascript", "javascript": "python"} {
		for name, content := range filestest.Contents() {
			if len(content) > 1024 {
				continue // a program is as long as its text
			}
			name = writer + "-" + name
			res, err := ci.RunCode(ctx, writer, fmt.Sprintf(write[writer], name, content), nil)
			run(t, res, err)
			want := fmt.Sprintf("%x\n", content)
			res, err = ci.RunInContext(ctx, ids[reader], fmt.Sprintf(read[reader], name), nil)
			if got := run(t, res, err); got != want {
				t.Errorf("%s wrote %q to %s, and a context of %s reads %.100s", writer, content, name, reader, got)
			}
			res, err = ci.RunCode(ctx, reader, fmt.Sprintf(read[reader], name), nil)
			if got := run(t, res, err); got != want {
				t.Errorf("%s wrote %q to %s, and %s reads %.100s", writer, content, name, reader, got)
			}
		}
	}
	// A file that one of them has open is what the other writes to, and Go and the file
	// tools see it.
	steps := []struct{ language, code, want string }{
		{"python", "f = open('log', 'a+'); f.write('py\\n'); f.flush(); print('ok')", "ok\n"},
		{"javascript", "require('fs').appendFileSync('log', 'js\\n'); console.log('ok')", "ok\n"},
		{"python", "f.seek(0); print(f.read(), end='')", "py\njs\n"},
		{"javascript", "require('fs').renameSync('log', 'd/moved'); console.log(require('fs').existsSync('log'))", "false\n"},
		{"python", "f.write('py again\\n'); f.close(); import os; print(os.path.getsize('d/moved'), os.path.exists('log'))", "15 False\n"},
		{"javascript", "require('fs').unlinkSync('d/moved'); console.log('ok')", "ok\n"},
		{"python", "try: open('d/moved')\nexcept FileNotFoundError: print('gone')", "gone\n"},
		{"python", "open('module.py', 'w').write('x = 1'); import module; print(module.x)", "1\n"},
		{"javascript", "require('fs').writeFileSync('data.json', JSON.stringify({ a: [1, 'é'] })); console.log('ok')", "ok\n"},
		{"python", "import json; print(json.load(open('data.json')))", "{'a': [1, 'é']}\n"},
	}
	for _, s := range steps {
		res, err := ci.RunInContext(ctx, ids[s.language], s.code, nil)
		if got := run(t, res, err); got != s.want {
			t.Errorf("%s: %q, want %q", s.code, got, s.want)
		}
	}
	if page, err := ws.Files().Read(ctx, "data.json", files.Range{}); err != nil || page.Text != `{"a":[1,"é"]}` {
		t.Errorf("%+v, %v", page, err)
	}
}
