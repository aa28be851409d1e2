//go:build real

package codemode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

// Programs in python call functions, also from asyncio.
func TestPythonCalls(t *testing.T) {
	ci, err := subprocess.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	tool := open(t, ci, []codemode.Entry{picture(), {Tool: echo("list", "", `{"type":"object"}`, "")}}, &codemode.Options{Files: true, Language: "python"}).Tools()[0]
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
