package mcpserver

import (
	"strings"
	"testing"
)

// TestContentOf: of notifications only what somebody heeds goes on, and all else does.
func TestContentOf(t *testing.T) {
	const (
		ping     = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		cancel   = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
		begun    = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
		progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`
		answer   = `{"jsonrpc":"2.0","id":1,"result":{}}`
	)
	long := func(s string) string {
		return strings.Replace(s, `"params":{`, `"params":{"reason":"`+strings.Repeat("x", maxNote)+`",`, 1)
	}
	for _, tt := range []struct {
		body, want   string
		calls, notes int
	}{
		{ping, ping, 1, 0},
		{answer, answer, 0, 0},
		{"no JSON", "no JSON", 0, 0},
		{"[no JSON", "[no JSON", 0, 0},
		{"", "", 0, 0},
		{progress, "", 0, 0},
		{`{"jsonrpc":"2.0","method":"no such"}`, "", 0, 0},
		{cancel, cancel, 0, 1},
		{long(cancel), "", 0, 0},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"b"}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`, 0, 1},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[1]}}`, "", 0, 0},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, "", 0, 0},
		{`{"jsonrpc":"2.0","method":"notifications/\u0069nitialized","params":{"a":"b"}}`, begun, 0, 1},
		{"[" + ping + "," + progress + "," + cancel + "," + answer + "]", "[" + ping + "," + cancel + "," + answer + "]", 1, 1},
		{" [" + progress + "," + progress + "]", "", 0, 0},
		{"[" + ping + ", " + ping + ",17]", "[" + ping + ", " + ping + ",17]", 2, 0},
	} {
		got := contentOf([]byte(tt.body))
		if string(got.body) != tt.want || got.calls != tt.calls || got.notes != tt.notes {
			t.Errorf("%.80s: %.80s, %d calls, %d notifications; want %.80s, %d, %d", tt.body, got.body, got.calls, got.notes, tt.want, tt.calls, tt.notes)
		}
	}
}
