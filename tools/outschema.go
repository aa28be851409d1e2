package tools

import (
	"encoding/json"
	"reflect"
	"sync"

	"github.com/invopop/jsonschema"
)

// outputSchema returns the schema of the answers of an operation.
func outputSchema(op string) json.RawMessage { return outputSchemas()[op] }

var outputSchemas = sync.OnceValue(func() map[string]json.RawMessage {
	result, ok := reflected[resultJSON](), reflected[okJSON]()
	return map[string]json.RawMessage{
		"run_code":               result,
		"run_in_code_context":    result,
		"create_code_context":    reflected[createdJSON](),
		"delete_code_context":    ok,
		"restart_code_context":   ok,
		"interrupt_code_context": ok,
		"list_code_contexts":     reflected[listJSON](),
		"read_output":            reflected[Page](),
	}
})

func reflected[T any]() json.RawMessage {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true, AllowAdditionalProperties: true, Mapper: anyJSON}
	root := r.ReflectFromType(reflect.TypeFor[T]())
	root.Version = ""
	return marshal(root)
}

// anyJSON describes a json.RawMessage by all types there are, one by one: some
// consumers refuse a schema without a type, others one with several.
func anyJSON(t reflect.Type) *jsonschema.Schema {
	if t != reflect.TypeFor[json.RawMessage]() {
		return nil
	}
	s := &jsonschema.Schema{Description: "The value of the last expression as JSON."}
	for _, name := range []string{"null", "boolean", "number", "string", "array", "object"} {
		s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: name})
	}
	return s
}
