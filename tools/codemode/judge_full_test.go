//go:build full

package codemode_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
	"github.com/toolcell/toolcell/tools/codemode/mcptools"
)

// judges returns the directory of the compilers and servers.
func judges(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../.testenv/codemode")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".done")); err != nil {
		t.Fatal("no .testenv/codemode; run make testenv-full")
	}
	return dir
}

// keywords are schemas that have every keyword that says something of a type, and
// those that do not.
var keywords = map[string]string{
	"types": `{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"number"},"i":{"type":"integer"},"b":{"type":"boolean"},"z":{"type":"null"},
		"a":{"type":"array","items":{"type":"string"}},"o":{"type":"object"},"m":{"type":["string","null","array"],"items":{"type":"integer"}},"u":{}},"required":["s","n"]}`,
	"values": `{"type":"object","properties":{"e":{"enum":["a","b c","\"'",1,-0,2.5,1e400,99999999999999999999,true,null]},"c":{"const":"x"},"f":{"const":1e2},"o":{"enum":[{"a":1}]},"none":{"enum":[]}}}`,
	"joins":  `{"type":"object","properties":{"any":{"anyOf":[{"type":"string"},{"type":"null"},{"const":3}]},"one":{"oneOf":[{"type":"integer"},{"type":"array","items":{"enum":["q"]}}]},"all":{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"number"}},"required":["b"]}]},"no":{"anyOf":[false,{"type":"string"}]},"empty":{"anyOf":[]}}}`,
	"objects": `{"type":"object","properties":{"map":{"type":"object","additionalProperties":{"type":"integer"}},"closed":{"type":"object","properties":{"x":{"type":"string"}},"additionalProperties":false},
		"deep":{"type":"object","properties":{"deep":{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","properties":{"y":{"type":"boolean"}}}}}}}},"pattern":{"type":"object","patternProperties":{"^x":{"type":"string"}}}}}`,
	"refs": `{"type":"object","properties":{"tree":{"$ref":"#/$defs/tree"},"old":{"$ref":"#/definitions/old"},"self":{"$ref":"#"},"far":{"$ref":"https://x/y"},"loop":{"$ref":"#/$defs/loop"}},
		"$defs":{"tree":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}},"value":{"type":"string"}},"required":["value"]},"loop":{"$ref":"#/$defs/loop"}},"definitions":{"old":{"enum":["o"]}}}`,
	"others": `{"type":"object","properties":{"t":{"type":"array","prefixItems":[{"type":"string"}],"items":false},"l":{"type":"array","items":[{"type":"string"}]},"s":{"type":"string","format":"date","pattern":"^a","minLength":1,"maxLength":2,"default":"*/","examples":["x"],"title":"T","deprecated":true,"readOnly":true},
		"n":{"type":"integer","minimum":0,"exclusiveMaximum":9,"multipleOf":3},"a":{"type":"array","items":{"type":"number"},"minItems":1,"uniqueItems":true,"contains":{}},"not":{"not":{"type":"string"}},"if":{"if":{},"then":{},"else":{}},"self":{"type":"string"},"more":{"type":"string"},"class":{"type":"string"},"my key":{"type":"string"},"__proto__":{"type":"string"},"":{"type":"string"},"true":true,"false":false}}`,
	"lists":   `{"type":"object","properties":{"list":{"type":"array","items":{"type":"string"}},"dict":{"type":"object"},"Any":{}}}`,
	"nothing": ``, "wrong": `{"type":"pigeon","properties":[],"required":{},"items":3}`,
	"deepest": strings.Repeat(`{"type":"object","properties":{"a":{"type":"array","items":`, 60) + `{"type":"string"}` + strings.Repeat(`}}}`, 60),
}

// declared returns the declarations of tools, each with the schema for both its
// arguments and its result.
func declared(t *testing.T, ci codeinterp.CodeInterpreter, language, fence string, list []codemode.Entry) string {
	t.Helper()
	m, err := codemode.New(ci, list, &codemode.Options{Language: language, MaxDeclarations: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(m.Tools()[0].Description, "```"+fence+"\n")
	text, _, closed := strings.Cut(text, "```")
	if !ok || !closed {
		t.Fatal("nothing is declared")
	}
	return text
}

// sets are lists of tools to declare: all keywords, hostile ones, and those of MCP
// servers.
func sets(t *testing.T, set *mcptools.Set) map[string][]codemode.Entry {
	all := map[string][]codemode.Entry{}
	var list []tools.Tool
	for name, s := range keywords {
		list = append(list, echo(name, "About "+name, s, s))
	}
	all["keywords"] = codemode.Entries(list)
	for i, h := range hostile {
		all[fmt.Sprint("hostile", i)] = codemode.Entries([]tools.Tool{echo("a", h, schema(h), schema(h)), echo(h, h, `{}`, ``)})
	}
	all["servers"] = set.Entries()
	for _, want := range []string{"everything_echo", "filesystem_read_text_file", "memory_create_entities", "time_get_current_time", "git_git_status"} {
		found := false
		for _, e := range all["servers"] {
			found = found || e.Name == want
		}
		if !found {
			t.Errorf("no %s", want)
		}
	}
	return all
}

// real are MCP servers that people use.
func real(t *testing.T, dir string) (list []mcptools.Server) {
	for _, name := range []string{"everything", "filesystem", "memory"} {
		list = append(list, mcptools.Server{Name: name, Command: "node", Args: []string{
			filepath.Join(dir, "node_modules/@modelcontextprotocol/server-"+name, "dist/index.js")}, Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl"), "API_TOKEN": "s3cr3t-of-a-server"}})
	}
	list[1].Args = append(list[1].Args, t.TempDir())
	for _, name := range []string{"time", "git"} {
		list = append(list, mcptools.Server{Name: name, Command: filepath.Join(dir, "python/bin/python"), Args: []string{"-m", "mcp_server_" + name}})
	}
	return list
}

// TestJudges: what people use takes what we make, and the other way round.
func TestJudges(t *testing.T) {
	dir := judges(t)
	set, err := mcptools.Open(t.Context(), real(t, dir), &mcptools.Options{Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	for _, p := range set.Problems() {
		t.Error(p)
	}
	t.Run("compilers", func(t *testing.T) { compilers(t, dir, set) })
	t.Run("servers", func(t *testing.T) { servers(t, set) })
}

// compilers: what is declared passes tsc --strict and mypy --strict, and says what
// is true.
func compilers(t *testing.T, dir string, set *mcptools.Set) {
	all, temp := sets(t, set), t.TempDir()
	var script strings.Builder
	for name, list := range all {
		fmt.Fprintf(&script, "namespace %s {\n%s}\n", name, declared(t, interpreter(t), "javascript", "ts", list))
		stub := declared(t, calling{}, "python", "python", list)
		if err := os.WriteFile(filepath.Join(temp, name+".pyi"), []byte(stub), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := codemode.Entries([]tools.Tool{echo("get", "", `{"type":"object","properties":{"city":{"type":"string"},"unit":{"enum":["c","f"]}},"required":["city"]}`,
		`{"type":"object","properties":{"days":{"type":"array","items":{"type":"integer"}}},"required":["days"]}`)})
	script.WriteString(declared(t, interpreter(t), "javascript", "ts", list) + `
		async function use() {
			const n: number = (await tools.get({city: "Oslo", unit: "c"})).days[0]!;
			// @ts-expect-error
			await tools.get({});
			// @ts-expect-error
			await tools.get({city: "Oslo", unit: "k"});
			// @ts-expect-error
			await tools.nope({});
			return n;
		}
		use();`)
	use := "from use_stub import tools\n\nlist(tools.get(city='Oslo', unit='c'))\ntools.get()  # type: ignore[call-arg]\ntools.get(city='Oslo', unit='k')  # type: ignore[arg-type]\ntools.nope()  # type: ignore[attr-defined]\n"
	for name, text := range map[string]string{"all.ts": script.String(), "use_stub.pyi": declared(t, calling{}, "python", "python", list), "use.py": use} {
		if err := os.WriteFile(filepath.Join(temp, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, cmd := range map[string]*exec.Cmd{
		"tsc":  exec.CommandContext(t.Context(), "node", filepath.Join(dir, "node_modules/typescript/bin/tsc"), "--strict", "--noEmit", "--target", "es2022", "all.ts"),
		"mypy": exec.CommandContext(t.Context(), filepath.Join(dir, "python/bin/python"), "-m", "mypy", "--strict", "--cache-dir", filepath.Join(temp, "cache"), "."),
	} {
		cmd.Dir = temp
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// servers: programs call the tools of servers that people use.
func servers(t *testing.T, set *mcptools.Set) {
	m := open(t, interpreter(t), set.Entries(), &codemode.Options{Language: "javascript"})
	args, _ := json.Marshal(map[string]string{"language": "javascript", "code": `
		console.log(await tools.everything_echo({message: "hi"}));
		await tools.memory_create_entities({entities: [{name: "Ada", entityType: "person", observations: ["counts"]}]});
		console.log((await tools.memory_read_graph({})).entities[0].name);
		console.log(typeof await tools.time_get_current_time({timezone: "UTC"}));
		const [r, e] = await Promise.all([tools.everything_get_tiny_image({}), tools.filesystem_read_text_file({path: "/etc/passwd"}).catch((e) => e.name)]);
		console.log(r._files.length, e); await tools.display({handle: r._files[0].handle});`})
	a := m.Tools()[0].Invoke(t.Context(), tools.Invocation{Args: args})
	for _, want := range []string{"hi\n", "Ada\n", "object\n", "1 ToolError", "[image"} {
		if !strings.Contains(a.Text, want) {
			t.Errorf("no %q in %s", want, a.Text)
		}
	}
}
