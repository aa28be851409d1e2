package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/toolcell/toolcell/internal/plainjson"
)

// limits are the parts of arguments that are only known at run time.
type limits struct {
	languages  []string
	contexts   []string // languages that have contexts
	code       int      // bytes; 0: none
	maxTimeout int64    // milliseconds
	timeout    int64    // milliseconds; 0: none
	maxRead    int64    // bytes
}

// schemas returns the schema of arguments, and that of strict modes: all
// properties are required there, and optional ones may be null.
func schemas(args []argument, lim *limits) (neutral, strict json.RawMessage) {
	var all [2]json.RawMessage
	for i, strict := range []bool{false, true} {
		root := jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
		for _, a := range args {
			p := a.schema(lim)
			if a.optional && strict {
				allowNull(p)
			}
			root.Properties.Set(a.name, p)
			if !a.optional || strict {
				root.Required = append(root.Required, a.name)
			}
		}
		all[i] = marshal(&root)
	}
	return all[0], all[1]
}

func (a *argument) schema(lim *limits) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: a.about}
	if a.enum != nil {
		for _, v := range a.enum(lim) {
			s.Enum = append(s.Enum, v)
		}
	}
	if _, ok := a.to(&input{}).(*bool); ok {
		s.Type = "boolean"
	}
	if a.bounds != nil {
		least, most := a.bounds(lim)
		s.Type, s.Minimum = "integer", json.Number(strconv.FormatInt(least, 10))
		if most <= maxInteger {
			s.Maximum = json.Number(strconv.FormatInt(most, 10))
		}
	}
	if a.more != nil {
		s.Description = strings.TrimSpace(s.Description + " " + a.more(lim))
	}
	return s
}

// maxInteger is the largest integer that all readers of JSON agree on.
const maxInteger = 1 << 53

// allowNull turns an optional property into the form of strict modes.
func allowNull(p *jsonschema.Schema) {
	// The Type of a Schema is one string; Extras are written as they are.
	p.Extras = map[string]any{"type": []string{p.Type, "null"}}
	p.Type = ""
	if p.Enum != nil {
		// By JSON Schema an enum without null refuses it, whatever the type says.
		p.Enum = append(p.Enum, nil)
	}
}

// marshal encodes values that always can be.
func marshal(v any) json.RawMessage {
	b, err := plainjson.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("tools: %v", err))
	}
	return b
}

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
