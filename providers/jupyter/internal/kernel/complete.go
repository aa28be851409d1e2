package kernel

import (
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// Completes reports whether kernels of the kind are known to complete code. One that is
// not, and never answers, would have people wait.
func (k Kind) Completes() bool { return k.dialect.completes }

// Complete asks the kernel's own completer. The protocol counts characters.
func (k *Kernel) Complete(ctx context.Context, code string, cursor int) (c codeinterp.Completion, err error) {
	defer k.guard(ctx)()
	m, err := k.ask(ctx, "shell", "complete_request", map[string]any{"code": code, "cursor_pos": utf8.RuneCountInString(code[:cursor])})
	if err != nil {
		return c, err
	}
	var r struct {
		Status  string   `json:"status"`
		Matches []string `json:"matches"`
		Start   int      `json:"cursor_start"`
		End     int      `json:"cursor_end"`
	}
	if json.Unmarshal(m.Content, &r) != nil {
		return c, server.Unavailable("malformed complete_reply")
	}
	if r.Status != "ok" {
		return c, nil // its completer failed, and has nothing to say
	}
	return codeinterp.Completion{Matches: r.Matches, Start: byteOffset(code, r.Start), End: byteOffset(code, r.End)}, nil
}

// byteOffset returns where the nth character of code begins; -1 where there is
// none.
func byteOffset(code string, n int) int {
	for i := range code {
		if n == 0 {
			return i
		}
		n--
	}
	if n == 0 {
		return len(code)
	}
	return -1
}
