package codemode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/typescript"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

// echo is a tool that answers with its arguments.
func echo(name, description, in, out string) tools.Tool {
	return tools.Tool{Name: name, Description: description, InputSchema: json.RawMessage(in), OutputSchema: json.RawMessage(out),
		Invoke: func(_ context.Context, c tools.Invocation) *tools.Answer { return &tools.Answer{Data: c.Args} }}
}

func interpreter(t testing.TB) codeinterp.CodeInterpreter {
	t.Helper()
	ci, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	return ci
}

// codeTool returns the code tool of a mode over list.
func codeTool(ci codeinterp.CodeInterpreter, list []tools.Tool, opts *codemode.Options) (tools.Tool, error) {
	m, err := codemode.New(ci, codemode.Entries(list), opts)
	if err != nil {
		return tools.Tool{}, err
	}
	return m.Tools()[0], nil
}

func run(t *testing.T, tool tools.Tool, code string) string {
	t.Helper()
	args, _ := json.Marshal(map[string]string{"language": "javascript", "code": code})
	return tool.Invoke(t.Context(), tools.Invocation{Args: args}).Text
}

func TestNew(t *testing.T) {
	list := []tools.Tool{
		echo("get-weather", "Weather of a city.\nNow.", `{"type":"object","properties":{"city":{"type":"string","description":"Where"},"unit":{"enum":["c","f"]},"my key":{"type":["integer","null"]}},"required":["city"]}`,
			`{"type":"object","properties":{"days":{"type":"array","items":{"$ref":"#/$defs/day"}}},"required":["days"],"$defs":{"day":{"type":"object","properties":{"next":{"$ref":"#/$defs/day"},"temp":{"type":"number"}}}}}`),
		echo("search", "Not ours.", `{"type":"object"}`, ``),
	}
	tool, err := codeTool(interpreter(t), list, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "```ts\ndeclare const tools: {\n" +
		"  /** Weather of a city. Now. (the tool get-weather) */\n" +
		"  get_weather(args: { /** Where */ city: string; unit?: (\"c\" | \"f\"); \"my key\"?: (number | null) }): Promise<{ days: Array<{ next?: unknown; temp?: number }> }>;\n" +
		"  /** Not ours. (the tool search) */\n" +
		"  search_(args?: Record<string, unknown>): Promise<unknown>;\n};\n```"
	if tool.Name != "run_code" || !strings.HasSuffix(tool.Description, want) {
		t.Errorf("%s: %s", tool.Name, tool.Description)
	}
	if got := run(t, tool, `const r = await Promise.all(["Oslo", "Rome"].map((city) => tools.get_weather({city}))); r.map((x) => x.city).join()`); !strings.Contains(got, "Oslo,Rome") {
		t.Errorf("%s", got)
	}
	if _, err := codeTool(interpreter(t), []tools.Tool{echo("a-b", "", "", ""), echo("a_b", "", "", "")}, nil); err == nil {
		t.Error("two tools became one function")
	}
	if _, err := codeTool(interpreter(t), list, &codemode.Options{Language: "cobol"}); err == nil {
		t.Error("an unknown language")
	}
}

func TestManyTools(t *testing.T) {
	var list []tools.Tool
	for i := range 300 {
		list = append(list, echo(fmt.Sprintf("tool_%03d", i), fmt.Sprintf("Does the work number %d of accounting.", i), `{"type":"object","properties":{"id":{"type":"integer"}}}`, ``))
	}
	list = append(list, echo("send-mail", "Sends mail.", `{"type":"object","properties":{"to":{"type":"string"}}}`, ``))
	tool, err := codeTool(interpreter(t), list, &codemode.Options{MaxDeclarations: 2000})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(tool.Description, "tools.search") || !strings.Contains(tool.Description, "more.") || strings.Contains(tool.Description, "declare const") || len(tool.Description) > 8000 {
		t.Errorf("%d bytes: %s", len(tool.Description), tool.Description)
	}
	got := run(t, tool, `const [f] = await tools.search({query: "mail"}); console.log(f.name); console.log(await tools.describe({name: f.name})); (await tools.send_mail({to: "x"})).to`)
	for _, want := range []string{"send_mail", "send_mail(args?: { to?: string }): Promise<unknown>;", "x"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if got := run(t, tool, `await tools.describe({name: "no"}).catch((e) => e.message)`); !strings.Contains(got, "there is no function") {
		t.Error(got)
	}
}

// hostile are texts that try to get out of comments, strings and fences.
var hostile = []string{"*/ evil(); /*", "*\x00/ evil()", "a\nevil()", "```\nevil()\n```", `"; evil(); "`, `'''evil()'''`, `\`, "\u2028evil()", "${evil()}", "*`/", "**//", "\"\"\"\nevil()", "\xff*/", "#\revil()", "*\u0085/"}

func schema(text string) string {
	q, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"object","properties":{%s:{"type":"string","description":%s},"e":{"enum":[%s,1.5,null,true]},"o":{"type":"object","properties":{%s:{"const":%s}}}},"required":[%s]}`, q, q, q, q, q, q)
}

// erased wants declarations in which there is nothing but types.
func erased(t *testing.T, description string) {
	t.Helper()
	_, text, ok := strings.Cut(description, "```ts\n")
	text, rest, closed := strings.Cut(text, "```")
	if !ok || !closed || rest != "" {
		t.Fatalf("not one fence at the end: %s", description)
	}
	p, err := typescript.Erase(context.Background(), text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if left := strings.Trim(p.Code, " \t\r\n;"); left != "" {
		t.Fatalf("%q is left of\n%s", left, text)
	}
}

func TestHostile(t *testing.T) {
	ci := interpreter(t)
	for _, h := range hostile {
		tool, err := codeTool(ci, []tools.Tool{echo("a", h, schema(h), schema(h)), echo(h, h, `{}`, ``)}, &codemode.Options{Language: "javascript"})
		if err != nil {
			t.Fatalf("%q: %v", h, err)
		}
		erased(t, tool.Description)
	}
}

func FuzzDeclarations(f *testing.F) {
	for _, h := range hostile {
		f.Add(h, schema(h))
	}
	for _, s := range []string{`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"array","items":{"$ref":"#/$defs/b"}}]},"b":{"allOf":[{"type":"string"},false]}}}`,
		`{"type":"object","properties":{"a":{"type":["string","null"]},"__proto__":{},"":true,"a":{}},"additionalProperties":{"type":"integer"}}`, `{"enum":[1e400,-0,{}]}`, `{"items":{},"type":"array"}`} {
		f.Add("x", s)
	}
	ci := interpreter(f)
	f.Fuzz(func(t *testing.T, text, schema string) {
		tool, err := codeTool(ci, []tools.Tool{echo("f", text, schema, schema)}, nil)
		if err != nil {
			return // the contract refuses the schema
		}
		erased(t, tool.Description)
		stub, err := codeTool(calling{}, []tools.Tool{echo("f", text, schema, schema)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		stubbed(t, stub.Description)
	})
}

var (
	literals = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	stubLine = regexp.MustCompile(`^    (# .*|def [A-Za-z]\w*\(self[\w\[\](),.:|*= -]*\) -> [\w\[\](),.| -]+: \.\.\.)$`)
)

// stubbed wants stubs in which there is nothing but comments and signatures.
func stubbed(t *testing.T, description string) {
	t.Helper()
	_, text, ok := strings.Cut(description, "class Tools:\n")
	text, rest, closed := strings.Cut(text, "\ntools: Tools\n```")
	if !ok || !closed || rest != "" {
		t.Fatalf("not one class at the end: %s", description)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if !stubLine.MatchString(literals.ReplaceAllString(line, "")) || strings.ContainsAny(line, "\r\f\v\x00\u0085\u2028\u2029") {
			t.Fatalf("%q in\n%s", line, text)
		}
	}
}

// calling is an interpreter that says that its python can call.
type calling struct{ codeinterp.CodeInterpreter }

func (calling) Languages() []string { return []string{"python"} }
func (calling) Describe() codeinterp.Info {
	return codeinterp.Info{Provider: "x", Languages: []codeinterp.LanguageInfo{{Name: "python", Functions: true}}}
}

// Arguments are declared for schemas whose properties are not at the top level.
func TestDeclaredArguments(t *testing.T) {
	const object = `"type":"object","properties":`
	for _, tt := range []struct{ name, schema, want string }{
		{"zod_named", `{"$ref":"#/definitions/Args","definitions":{"Args":{` + object + `{"city":{"type":"string"}},"required":["city"]}}}`, "(args: { city: string })"},
		{"pyd_root", `{"$ref":"#/$defs/Args","$defs":{"Args":{` + object + `{"city":{"type":"string"}},"required":["city"]}}}`, "(args: { city: string })"},
		{"allof_top", `{"type":"object","allOf":[{` + object + `{"a":{"type":"string"}},"required":["a"]},{` + object + `{"b":{"type":"number"}}}]}`, "(args: ({ a: string } & { b?: number }))"},
		{"oneof_top", `{"type":"object","oneOf":[{` + object + `{"a":{"type":"string"}},"required":["a"]},{` + object + `{"b":{"type":"number"}},"required":["b"]}]}`, "(args: ({ a: string } | { b: number }))"},
		{"discriminated", `{` + object + `{"action":{"type":"string","enum":["create","delete"]}},"required":["action"],"anyOf":[{"properties":{"action":{"const":"create"},"title":{"type":"string"}},"required":["title"]},{"properties":{"action":{"const":"delete"},"id":{"type":"integer"}},"required":["id"]}]}`,
			`(args: ({ action: ("create" | "delete") } & ({ action?: "create"; title: string } | { action?: "delete"; id: number })))`},
		{"required_beside", `{` + object + `{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, "(args: { a?: string; b?: string })"},
		{"props_null", `{"type":"object","properties":null}`, "(args?: Record<string, unknown>)"},
		{"props_list", `{"type":"object","properties":[]}`, "(args?: Record<string, unknown>)"},
		{"prop_null", `{` + object + `{"a":null,"b":{"type":"string"}}}`, "(args?: { a?: unknown; b?: string })"},
		{"tuple_2020", `{` + object + `{"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}}}`, "(args?: { t?: [string, number] })"},
		{"tuple_d7", `{` + object + `{"t":{"type":"array","items":[{"type":"string"},{"type":"integer"}]}}}`, "(args?: { t?: [string, number] })"},
		{"nullable", `{` + object + `{"n":{"type":"string","nullable":true},"e":{"type":"string","enum":["a"],"nullable":true}}}`, `(args?: { n?: (string | null); e?: ("a" | null) })`},
		{"patterns", `{` + object + `{"m":{"type":"object","patternProperties":{"^x":{"type":"integer"}}}}}`, "(args?: { m?: Record<string, number> })"},
		{"ref_to_property", `{` + object + `{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}}}`, "(args?: { a?: string; b?: string })"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool, err := codeTool(interpreter(t), []tools.Tool{echo(tt.name, "", tt.schema, "")}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(tool.Description, tt.name+tt.want+": Promise") {
				t.Errorf("no %s in %s", tt.want, tool.Description)
			}
		})
	}
}

// The description says what a result is, and a program in a form that other code modes
// use works or reads how to write it.
func TestForms(t *testing.T) {
	m := open(t, interpreter(t), nil, &codemode.Options{Language: "javascript"})
	tool := m.Tools()[0]
	if !strings.Contains(tool.Description, "JSON text of an object or array is parsed, other text is a string") {
		t.Error(tool.Description)
	}
	for code, want := range map[string]string{
		"```js\n6 * 7\n```":                  "42",
		"return 5":                           "its last expression is the result",
		"async () => { return 5 }":           "Nothing ran",
		"export default async () => { 5 }":   "a script",
		"const x = async () => 5; await x()": "5",
	} {
		if got := run(t, tool, code); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in %s", code, want, got)
		}
	}
	if got := run(t, tool, "const f = () => 5; f"); strings.Contains(got, "Nothing ran") {
		t.Errorf("a hint for a value that is a function: %s", got)
	}
}

// Python has one declaration for all alternatives of the arguments. A result type that
// several functions have is declared once.
func TestDeclared(t *testing.T) {
	const in = `{"type":"object","oneOf":[{"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a","b"]},{"properties":{"a":{"type":"string"}},"required":["a"]}]}`
	const out = `{"type":"object","properties":{"path":{"type":"string"},"size":{"type":"integer"}},"required":["path"]}`
	list := []tools.Tool{echo("a", "", in, out), echo("b", "", `{}`, out), echo("Result1", "", `{}`, "")}
	for want, ci := range map[string]codeinterp.CodeInterpreter{
		"type Result1_ = { path: string; size?: number };\ndeclare const tools: {\n": interpreter(t),
		"def a(self, *, a: str, b: int = ...) -> dict[str, Any]: ...":                calling{},
	} {
		tool, err := codeTool(ci, list, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(tool.Description, want) {
			t.Errorf("no %s in %s", want, tool.Description)
		}
	}
}
