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

const (
	maxServerTools = 500
	maxTools       = codeinterp.MaxFunctions - 64
	maxPages       = 100
	maxSchema      = 256 << 10
	maxAbout       = 16 << 10
	maxListed      = 16 << 20 // bytes of all tools of a server
)

// A listed tool is what is kept of one that a server lists.
type listed struct {
	name, title, about string
	hints              tools.Annotations
	input, output      json.RawMessage
	err                error // why it cannot be called
}

func take(t *mcp.Tool) listed {
	l := listed{name: t.Name, title: clip(ansi.Plain(t.Title), 200), about: clip(ansi.Plain(t.Description), maxAbout), hints: hints(t.Annotations)}
	if l.input, l.err = schema(t.InputSchema); len(l.input) == 0 {
		l.input = json.RawMessage(`{"type":"object"}`)
	}
	l.output, _ = schema(t.OutputSchema)
	return l
}

func (l *listed) size() int {
	return len(l.name) + len(l.title) + len(l.about) + len(l.input) + len(l.output)
}

// relist asks a server for its tools.
func (s *server) relist(ctx context.Context, live *link) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.set.opts.StartTimeout, errSlow)
	defer cancel()
	defer context.AfterFunc(s.set.ctx, cancel)()
	var list []listed
	var problems []error
	seen, size := map[string]bool{}, 0
	params := &mcp.ListToolsParams{}
	for range maxPages {
		page, err := live.ListTools(ctx, params)
		if err != nil {
			// The cause says which time was over; the SDK's error only that one was.
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return fmt.Errorf("listing its tools: %w", err)
		}
		for _, t := range page.Tools {
			// One more than the bound is taken, which shows below that there are
			// more.
			if t == nil || seen[t.Name] || len(list) > maxServerTools || size > maxListed {
				continue
			}
			seen[t.Name] = true
			list = append(list, take(t))
			size += list[len(list)-1].size()
		}
		if params.Cursor = page.NextCursor; params.Cursor == "" || len(list) > maxServerTools || size > maxListed {
			break
		}
	}
	if size > maxListed {
		list = list[:len(list)-1]
		problems = append(problems, fmt.Errorf("its tools are described in more than %d bytes; the first %d are there", maxListed, len(list)))
	} else if len(list) > maxServerTools || params.Cursor != "" {
		list = list[:min(len(list), maxServerTools)]
		problems = append(problems, fmt.Errorf("it has too many tools; the first %d are there", len(list)))
	}
	for name := range s.Rules {
		if !seen[name] {
			problems = append(problems, fmt.Errorf("there is a rule for the tool %.80q, which it does not have", name))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list, s.problems = list, problems
	return nil
}

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
	failed := len(s.problems) > 0
	s.mu.Unlock()
	reason := "the server has no tools"
	if failed {
		reason = "the server cannot be reached"
	}
	return codemode.Entry{Tool: tools.Tool{Name: n.of("", s.Name)}, Use: codemode.Nobody, Reason: reason,
		Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, []codemode.File, error) {
			return nil, nil, errAway
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
