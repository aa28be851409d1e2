package tools_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/toolcell/toolcell/internal/goldentest"
)

// goldenJSON compares JSON, indented, with testdata/name.
func goldenJSON(t *testing.T, name string, got []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, got, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	b.WriteByte('\n')
	goldentest.Check(t, name, b.Bytes())
}
