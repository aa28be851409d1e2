package wire

import (
	"errors"
	"strings"
	"testing"
)

// TestCrowded: contents that take many times their size once they are decoded are refused.
func TestCrowded(t *testing.T) {
	list := func(member string, n int) string { return strings.Repeat(member+",", n-1) + member }
	for content, crowded := range map[string]bool{
		`{"traceback": [` + list(`""`, 3<<20) + `]}`:                 true,
		`{"data": {` + list(`"":0`, 3<<20) + `}}`:                    true,
		`{"data": {"application/json": [` + list(`0`, 1<<20) + `]}}`: false,
		`{"text": "` + list(`[\\\",\"],{`, 3<<20) + `"}`:             false,
	} {
		f := Frame{Size: int64(len(content)), Body: strings.NewReader(content)}
		if b, err := f.Content(64 << 20); errors.Is(err, ErrTooLarge) != crowded || err == nil && string(b) != content {
			t.Errorf("%.40s: %d bytes, %v", content, len(b), err)
		}
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
