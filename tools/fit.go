package tools

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/internal/shorten"
)

// A fit checks arguments by a schema of schemaOf where encoding/json is lenient: it
// accepts Name for name, missing names, and null for anything. What a person approves
// must be what the function gets.
type fit struct{ root, defs map[string]any }

func newFit(schema json.RawMessage) *fit {
	f := &fit{}
	_ = json.Unmarshal(schema, &f.root) // no schema allows everything
	f.defs, _ = f.root["$defs"].(map[string]any)
	return f
}

const refPrefix = "#/$defs/"

// check checks the value at a path.
func (f *fit) check(schema any, v any, path string) error {
	s, _ := schema.(map[string]any)
	if ref, _ := s["$ref"].(string); ref != "" {
		s, _ = f.defs[strings.TrimPrefix(ref, refPrefix)].(map[string]any)
	}
	want, _ := s["type"].(string)
	if got := typeOf(v); want != "" && got != want && !(want == "number" && got == "integer") {
		return fmt.Errorf("%s: it is %s, and has to be %s", at(path), article(got), article(want))
	}
	switch v := v.(type) {
	case map[string]any:
		return f.object(s, v, path)
	case []any:
		for i, item := range v {
			if err := f.check(s["items"], item, fmt.Sprintf("%s[%d]", shorten.Head(path, maxPath), i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *fit) object(s map[string]any, v map[string]any, path string) error {
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Errorf("%s: required, and missing", at(member(path, name.(string))))
		}
	}
	known, _ := s["properties"].(map[string]any)
	for name, value := range v {
		of, ok := known[name]
		switch {
		case ok && value == nil && !slices.Contains(required, any(name)): // as if it were absent
			continue
		case !ok && s["additionalProperties"] == false && s["patternProperties"] == nil:
			return fmt.Errorf("unknown field %q", shorten.Head(member(path, name), maxPath))
		case !ok:
			of = s["additionalProperties"]
		}
		if err := f.check(of, value, member(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// maxPath bounds a path in an error.
const maxPath = 200

func member(path, name string) string {
	return strings.TrimPrefix(shorten.Head(path, maxPath)+"."+shorten.Head(name, maxPath), ".")
}

func at(path string) string {
	if path == "" {
		return "the arguments"
	}
	return shorten.Head(path, maxPath)
}

// typeOf returns the type of a decoded value in the words of JSON Schema.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

func article(kind string) string {
	switch kind {
	case "null":
		return kind
	case "integer", "object", "array":
		return "an " + kind
	}
	return "a " + kind
}
