package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// TestCrowded takes contents that are small enough as they come, and take many
// times as much when they are decoded.
// What stands before a slash in a name is the message's type.
func TestCrowded(t *testing.T) {
	list := func(member string, n int) string { return strings.Repeat(member+",", n-1) + member }
	for _, test := range []struct {
		name, content string
		crowded       bool
	}{
		{"execute_reply/page", `{"payload": [{"source": "page", "data": {` + list(`"":0`, 1<<19) + `}}]}`, true},
		{"execute_reply/other payload", `{"payload": [{"source": "zip", "data": {` + list(`"":0`, 1<<19) + `}}]}`, true},
		{"execute_reply/payloads", `{"payload": [` + list(`{}`, 1<<19) + `]}`, true},
		{"execute_reply/expression", `{"user_expressions": {"x": {"data": {` + list(`"":0`, 1<<19) + `}}}}`, true},
		{"execute_reply/figure", `{"payload": [{"source": "page", "data": {"application/json": [` + list(`0`, 1<<20) + `]}}]}`, false},
		{"traceback", `{"traceback": [` + list(`""`, 1<<19) + `]}`, true},
		{"bundle", `{"data": {` + list(`"":0`, 1<<19) + `}}`, true},
		{"expressions", `{"user_expressions": {` + list(`"":{}`, 1<<19) + `}}`, true},
		{"itself", `{` + list(`"":0`, 1<<19) + `}`, true},
		{"long traceback", `{"traceback": [` + list(`""`, 1<<16) + `]}`, false},
		{"figure", `{"data": {"application/json": [` + list(`0`, 1<<20) + `]}}`, false},
		{"text", `{"text": "` + list(`[\\\",\"],{`, 1<<19) + `"}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !json.Valid([]byte(test.content)) {
				t.Fatal("the test's own JSON is none")
			}
			typ, _, _ := strings.Cut(test.name, "/")
			for _, f := range []*Frame{
				{Size: int64(len(test.content)), Body: strings.NewReader(test.content)},
				{Size: -1, Msg: Message{Content: json.RawMessage(test.content)}},
			} {
				f.Msg.Header.Type = typ
				b, err := f.Content(64 << 20)
				if errors.Is(err, ErrTooLarge) != test.crowded || err == nil && !bytes.Equal(b, []byte(test.content)) {
					t.Errorf("got %d bytes, %v", len(b), err)
				}
			}
		})
	}
}

// TestLongHeaders: what is kept of headers is bounded where they come as JSON, too.
func TestLongHeaders(t *testing.T) {
	long := strings.Repeat("x", MaxHeader)
	for _, part := range []string{"header", "parent_header"} {
		for _, field := range []string{"msg_id", "msg_type", "session", "username", "date", "version"} {
			message := `{"` + part + `": {"version": "5", "` + field + `": "` + long + `x"}, "content": {}}`
			if _, err := ReadFrame(false, strings.NewReader(message), false, 64<<20); err == nil {
				t.Errorf("%s: %s: taken", part, field)
			}
		}
	}
}
