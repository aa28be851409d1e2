package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

// entry returns a tool of the server as an entry.
func (s *server) entry(t listed, n names) codemode.Entry {
	name := n.of(s.prefix, t.name)
	e := codemode.Entry{Files: true, Tool: tools.Tool{Name: name, Title: t.title, Description: t.about, Annotations: t.hints,
		InputSchema: t.input, OutputSchema: t.output}}
	if !strings.HasSuffix(name, t.name) {
		e.Description = strings.TrimSpace(fmt.Sprintf("%s (the tool %s of the server %s)", e.Description, clip(ansi.Plain(t.name), 200), s.Name))
	}
	r := s.Rules[t.name]
	e.Use, e.Reason, e.Exclusive = r.Use, r.Reason, r.Exclusive
	if t.err != nil {
		e.Use, e.Reason = codemode.Nobody, "its schema is "+t.err.Error()
	}
	e.Call = func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, []codemode.File, error) {
		return s.answer(ctx, t.name, c.Args)
	}
	e.Invoke = func(ctx context.Context, c tools.Invocation) *tools.Answer { return s.invoke(ctx, t.name, name, c) }
	return e
}

// absent stands for the tools of a server that has none, or cannot be reached.
func (s *server) absent(n names) codemode.Entry {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	reason := "the server cannot be reached"
	switch {
	case fault == nil:
		reason = "the server has no tools"
	case errors.Is(fault, errUnlisted):
		reason = "the server's tools cannot be listed"
	}
	return codemode.Entry{Tool: tools.Tool{Name: n.of("", s.Name)}, Use: codemode.Nobody, Reason: reason,
		Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, []codemode.File, error) {
			return nil, nil, errors.New(reason)
		}}
}

// schema returns a schema of a server, nothing where it is none.
func schema(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := json.Marshal(v)
	switch {
	case err != nil:
		return nil, errors.New("not JSON")
	case len(raw) > maxSchema:
		return nil, fmt.Errorf("larger than %d bytes", maxSchema)
	case raw[0] != '{':
		return nil, errors.New("no object")
	}
	return visible(raw), nil
}

// visible escapes what a reader of JSON would not see.
func visible(raw []byte) []byte {
	if !bytes.ContainsFunc(raw, ansi.Invisible) {
		return raw
	}
	var out []byte
	for _, r := range string(raw) {
		switch {
		case !ansi.Invisible(r):
			out = utf8.AppendRune(out, r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// hints are what a server says of a tool. What it does not say is the worst.
func hints(a *mcp.ToolAnnotations) tools.Annotations {
	if a == nil {
		return tools.Annotations{Destructive: true, OpenWorld: true}
	}
	return tools.Annotations{ReadOnly: a.ReadOnlyHint, Idempotent: a.IdempotentHint,
		Destructive: !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint),
		OpenWorld:   a.OpenWorldHint == nil || *a.OpenWorldHint}
}

// clip returns at most n bytes of text, in UTF-8.
func clip(text string, n int) string {
	if len(text) > n {
		text = text[:n] + "..."
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
