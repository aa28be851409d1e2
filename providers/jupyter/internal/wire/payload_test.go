package wire_test

import (
	"testing"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// TestPayload: what no kernel should send as a payload is passed over, and leaves
// the reply and the other payloads as they are.
func TestPayload(t *testing.T) {
	const page = `{"source": "page", "data": {"text/plain": "shown"}}`
	for payload, want := range map[string]int{
		`[` + page + `, {"source": "set_next_input", "text": "x"}]`:      2,
		`[{"source": "page", "data": "x"}, ` + page + `]`:                1,
		`[{"source": "set_next_input", "text": {"x": 1}}, ` + page + `]`: 1,
		`[{"source": "page", "text": 5, "data": {"text/plain": "x"}}]`:   1,
		`[{"source": 5}, 7, null, "x", [], ` + page + `]`:                1,
		`{}`: 0, `"x"`: 0, `null`: 0, `7`: 0, `[]`: 0, ``: 0,
	} {
		r := wire.ExecuteReply{Payload: []byte(payload)}
		if shown := r.Shown(); len(shown) != want {
			t.Errorf("%s: %+v", payload, shown)
		}
	}
}
