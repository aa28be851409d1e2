package codemode_test

import (
	"github.com/toolcell/toolcell/codeinterp"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

// Arguments are declared for schemas whose properties are not at the top level.
func TestDeclaredArguments(t *testing.T) {
	const object = `"type":"object","properties":`
	for _, tt := range []struct{ name, schema, want string }{
		{"zod_named", `{"$ref":"#/definitions/Args","definitions":{"Args":{` + object + `{"city":{"type":"string"}},"required":["city"]}}}`, "(args: { city: string })"},
		{"pyd_root", `{"$ref":"#/$defs/Args","$defs":{"Args":{` + object + `{"city":{"type":"string"}},"required":["city"]}}}`, "(args: { city: string })"},
		{"allof_top", `{"type":"object","allOf":[{` + object + `{"a":{"type":"string"}},"required":["a"]},{` + object + `{"b":{"type":"number"}}}]}`, "(args: { a: string; b?: number })"},
		{"oneof_top", `{"type":"object","oneOf":[{` + object + `{"a":{"type":"string"}},"required":["a"]},{` + object + `{"b":{"type":"number"}},"required":["b"]}]}`, "(args: { a: string } | { b: number })"},
		{"discriminated", `{` + object + `{"action":{"type":"string","enum":["create","delete"]}},"required":["action"],"anyOf":[{"properties":{"action":{"const":"create"},"title":{"type":"string"}},"required":["title"]},{"properties":{"action":{"const":"delete"},"id":{"type":"integer"}},"required":["id"]}]}`,
			`(args: { action: "create"; title: string } | { action: "delete"; id: number })`},
		{"required_beside", `{` + object + `{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, "(args?: { a?: string; b?: string })"},
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
