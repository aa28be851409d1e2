package mcpserver_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolcell/toolcell/tools"
)

// A schema that comes from a server or an option never ends the host: the tool is
// served with the type object, and the rest of its schema is kept.
func TestSchemaOfAnyForm(t *testing.T) {
	for name, schema := range map[string]string{
		"anyOf": `{"anyOf":[{"type":"object"}]}`, "allOf": `{"allOf":[{"type":"object"}]}`, "oneOf": `{"oneOf":[{}]}`,
		"ref": `{"$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}`, "empty": `{}`, "no type": `{"properties":{"x":{}}}`,
		"list": `{"type":["object","null"]}`, "upper": `{"type":"OBJECT"}`, "string": `{"type":"string"}`, "number": `{"type":5}`,
		"nothing": "", "null": "null", "bare string": `"string"`, "bare number": "5", "broken": "{", "array": "[]",
		"properties": `{"type":"object","properties":"x","required":"a"}`, "property": `{"type":"object","properties":{"a":5,"b":true,"c":false},"required":null}`,
		"header": `{"type":"object","properties":{"a":{"type":"object","x-mcp-header":5}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			more := tools.Tool{Name: "extra", InputSchema: json.RawMessage(schema), OutputSchema: json.RawMessage(schema),
				Invoke: func(context.Context, tools.Invocation) *tools.Answer { return &tools.Answer{Text: "x"} }}
			c := connect(t, newServer(t, newFake(), further(more)), nil)
			list, err := c.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range list.Tools {
				if tool.Name != "extra" {
					continue
				}
				got := tool.InputSchema.(map[string]any)
				if got["type"] != "object" {
					t.Errorf("the type is %v, want object", got["type"])
				}
				// Hosts made with the SDK for TypeScript refuse the whole list otherwise.
				properties, isObject := got["properties"].(map[string]any)
				for key, schema := range properties {
					if _, ok := schema.(map[string]any); !ok {
						t.Errorf("the property %s is %v", key, schema)
					}
				}
				if _, isList := got["required"].([]any); got["required"] != nil && !isList || got["properties"] != nil && !isObject {
					t.Errorf("got %v", got)
				}
				if name == "anyOf" && got["anyOf"] == nil {
					t.Errorf("anyOf is lost: %v", got)
				}
				return
			}
			t.Error("the tool is not served")
		})
	}
}
