package mcpserver

import (
	"strings"
	"testing"
)

// TestWeigh: what a client sends besides arguments stays small once it is decoded,
// whatever it is called and wherever it stands.
func TestWeigh(t *testing.T) {
	list := func(n int) string { return "[" + strings.Repeat("{},", n) + "0]" }
	message := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	}
	for _, tt := range []struct {
		name, text string
		refused    bool
	}{
		{"nothing", "", false},
		{"no message", "5", false},
		{"large arguments", message("tools/call", `{"name":"x","arguments":{"a":`+list(100_000)+`}}`), false},
		{"larger arguments", message("tools/call", `{"name":"x","arguments":{"a":`+list(300_000)+`}}`), true},
		{"a long program", message("tools/call", `{"name":"x","arguments":{"code":"`+strings.Repeat("[,{", 3_000_000)+`"}}`), false},
		{"metadata beside arguments", message("tools/call", `{"_meta":{"a":`+list(10_000)+`},"arguments":{"a":`+list(10_000)+`}}`), true},
		{"metadata with arguments twice", message("tools/call", `{"_meta":{"a":`+list(10_000)+`},"arguments":`+list(10_000)+`,"Arguments":1}`), true},
		{"metadata", message("ping", `{"_meta":{"a":`+list(10_000)+`}}`), true},
		{"parameters that are a list", message("ping", list(10_000)), true},
		{"an opening", message("initialize", `{"capabilities":{"experimental":{"a":`+list(100)+`}}}`), false},
		{"a large opening", message("initialize", `{"capabilities":{"experimental":{"a":`+list(1000)+`}}}`), true},
		{"a long opening", message("initialize", `{"clientInfo":{"name":"`+strings.Repeat("x", 300_000)+`"}}`), true},
		{"an opening by another name", message(`initi\u0061lize`, `{"capabilities":{"experimental":{"a":`+list(1000)+`}}}`), true},
		{"an opening with arguments", message("initialize", `{"arguments":`+list(1000)+`}`), true},
		{"a batch", "[" + message("ping", "{}") + "," + message("tools/call", `{"arguments":`+list(10_000)+`}`) + "]", false},
		{"a large batch", "[" + message("ping", "{}") + "," + message("ping", `{"_meta":{"a":`+list(10_000)+`}}`) + "]", true},
		{"a long batch", "[" + strings.Repeat("1,", 2000) + "1]", true},
		{"an answer", `{"jsonrpc":"2.0","id":1,"result":` + list(10_000) + `}`, true},
	} {
		if err := weigh([]byte(tt.text)); (err != nil) != tt.refused {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
