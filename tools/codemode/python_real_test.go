//go:build real

package codemode_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

// Stubs are one class of empty functions, whatever tools contain.
func TestPythonStubs(t *testing.T) {
	var b bytes.Buffer
	for _, h := range append(hostile, "class", "self", "plain") {
		tool, err := codeTool(calling{}, []tools.Tool{echo("a", h, schema(h), schema(h)), echo(h, h, `{}`, ``)}, nil)
		if err != nil {
			t.Fatalf("%q: %v", h, err)
		}
		_, text, _ := strings.Cut(tool.Description, "```python\n")
		text, rest, ok := strings.Cut(text, "```")
		if !ok || rest != "" {
			t.Fatalf("not one fence at the end: %s", tool.Description)
		}
		q, _ := json.Marshal(text)
		b.Write(append(q, '\n'))
	}
	cmd := exec.Command("python3", "-c", `
import ast, json, sys
for line in sys.stdin:
    text = json.loads(line)
    body = ast.parse(text).body
    assert [type(n) for n in body] == [ast.ImportFrom, ast.ClassDef, ast.AnnAssign], text
    assert all(isinstance(f, ast.FunctionDef) and len(f.body) == 1 for f in body[1].body) and len(body[1].body) == 2, text
    assert not any(isinstance(n, ast.Call) for n in ast.walk(body[1])), text
`)
	cmd.Stdin = &b
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// Programs in python call functions, also from asyncio.
func TestPythonCalls(t *testing.T) {
	ci, err := subprocess.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	tool := open(t, ci, []codemode.Entry{picture(), {Tool: echo("list", "", `{"type":"object"}`, ""), Exclusive: []string{"x"}}}, &codemode.Options{Files: true, Language: "python"}).Tools()[0]
	args, _ := json.Marshal(map[string]string{"language": "python", "code": `
import asyncio
r = tools.picture(n=1)
print(r["n"], open(r["_files"][1]["path"]).read(), tools.display(handle=r["_files"][0]["handle"]))
async def both():
    return await asyncio.gather(*[tools.aio.list(n=n) for n in range(3)])
print([x["n"] for x in asyncio.run(both())])
try:
    tools.display(handle="file_9")
except Exception as e:
    print(type(e).__name__)
`})
	a := tool.Invoke(t.Context(), tools.Invocation{Args: args})
	if !strings.Contains(a.Text, "1 hello it is shown\n[0, 1, 2]\nToolError\n") || len(a.Images) != 1 {
		t.Errorf("%d images: %s", len(a.Images), a.Text)
	}
	if !strings.Contains(tool.Description, "def list(self") {
		t.Error(tool.Description)
	}
}
