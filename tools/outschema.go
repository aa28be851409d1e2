package tools

import (
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"
)

// reflected returns the schema of the JSON of a T.
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
