package codemode

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A schema that refers to the same parts many times
// costs a bounded number of bytes to read.
func TestSchemasAreReadWithinBounds(t *testing.T) {
	var properties, defs []string
	for i := range 5000 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d%d"}`, i, i%10))
		if i < 10 {
			defs = append(defs, fmt.Sprintf(`"d%d":{"description":%q,"anyOf":[{"$ref":"#/$defs/d%d"},true]}`, i, strings.Repeat("x", 15_000), (i+1)%10))
		}
	}
	schema := json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%s},"$defs":{%s}}`, strings.Join(properties, ","), strings.Join(defs, ",")))
	for _, sp := range []spelling{typeScript, typePython} {
		ty := newTyper(sp, schema)
		ty.fields(ty.root, 0)
		if !ty.full() || ty.read > maxRead+maxDepth*len(schema) {
			t.Errorf("%d bytes were read of a schema of %d", ty.read, len(schema))
		}
		if got := sp.properties(schema); got != nil || typeScript.arguments(schema) != typeScript.unknown {
			t.Errorf("%d properties", len(got))
		}
	}
}
