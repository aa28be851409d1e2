package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// TestStringsOfTypes: of a type that is not known to be binary a string is what
// the program gave, also where it could be base64.
func TestStringsOfTypes(t *testing.T) {
	for _, tt := range []struct{ mime, sent, want string }{
		{"text/plain", "ZGF0YQ==", "ZGF0YQ=="},
		{"application/sql", "select 1", "select 1"},
		{"application/sql", "ZGF0YQ==", "ZGF0YQ=="}, // "data"
		{"application/x-foo", "/wA=", "\xff\x00"},
		{"application/octet-stream", "ZGF0YQ==", "data"},
		{"image/png", "iVBO\nRw==\n", "\x89PNG"},
		{"image/png", "no base64!", "no base64!"},
		{"image/svg+xml", "<svg/>", "<svg/>"},
		{"font/woff2", "d09GMg==", "wOF2"},
		{"application/pdf; version=1", "JVBERg==", "%PDF"},
	} {
		content, err := json.Marshal(map[string]any{"data": map[string]string{tt.mime: tt.sent}})
		if err != nil {
			t.Fatal(err)
		}
		o, ok := wire.OutputOf("display_data", content, nil)
		if !ok || len(o.Bundle) != 1 || string(o.Bundle[0].Data) != tt.want {
			t.Errorf("%s %q: %+v", tt.mime, tt.sent, o.Bundle)
		}
	}
}
