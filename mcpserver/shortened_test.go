package mcpserver

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestShortened: the answer of a call that has no places says what it lacks.
func TestShortened(t *testing.T) {
	s, freed := &Server{}, 0
	c := &carrier{users: 1, owner: "a", free: func() { freed++ }, answers: &places{most: 200 << 10, share: 100 << 10, taken: map[owner]int{}}}
	text := func(n int) mcp.Content { return &mcp.TextContent{Text: strings.Repeat("x", n)} }
	image := &mcp.ImageContent{Data: make([]byte, 60<<10), MIMEType: "image/png"}
	if !s.hold(c, 60<<10) || s.hold(c, 60<<10) || !s.hold(c, 1000) {
		t.Fatal("places are not counted")
	}
	r := &mcp.CallToolResult{Content: []mcp.Content{text(1000), image}}
	got := s.shortened(r, c, sizeOf(r))
	if len(got.Content) != 2 || got.IsError || got.Content[0] != r.Content[0] || !strings.HasPrefix(got.Content[1].(*mcp.TextContent).Text, "[image/png of 61440 bytes left out") {
		t.Errorf("without its image: %+v", got.Content[1])
	}
	r = &mcp.CallToolResult{Content: []mcp.Content{text(90 << 10), image}}
	got = s.shortened(r, c, sizeOf(r))
	if len(got.Content) != 1 || !got.IsError || !strings.Contains(got.Content[0].(*mcp.TextContent).Text, "left out") {
		t.Errorf("without its text: %+v", got.Content)
	}
	if other := (&carrier{users: 1, owner: "b", free: func() {}, answers: c.answers}); !s.hold(other, 1<<30) {
		t.Error("one's answers take another's places, or a larger one has none at all")
	}
	s.unuse(c)
	if freed != 1 || c.answers.taken["a"] != 0 {
		t.Errorf("freed %d times, %v are taken", freed, c.answers.taken)
	}
}

// TestSizeOf: what answers take is known before they are made.
func TestSizeOf(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "\"\\\n\t": 8, "\x01\x1f": 12, "<&>": 18, "é": 2} {
		if got := quoted(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
