package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
	"github.com/toolcell/toolcell/internal/shorten"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

const (
	maxTools  = codeinterp.MaxFunctions - 64 // of all servers
	maxSchema = 256 << 10
	maxAbout  = 16 << 10
)

// A serverTool is a tool that a server lists.
type serverTool struct {
	name, shown, title, about string // shown is name without secrets
	hints                     tools.Annotations
	input, output             json.RawMessage
}

func (s *server) take(t *mcp.Tool) serverTool {
	l := serverTool{name: t.Name, shown: s.clean(t.Name, 200), title: s.clean(t.Title, 200), about: s.clean(t.Description, maxAbout), hints: hints(t.Annotations),
		input: s.schema(t.InputSchema), output: s.schema(t.OutputSchema)}
	if len(l.input) == 0 {
		l.input = json.RawMessage(`{"type":"object"}`)
	}
	return l
}

// relist asks the server for its tools.
func (s *server) relist(ctx context.Context, live *link) error {
	var list []serverTool
	var problems []error
	seen := map[string]bool{}
	params := &mcp.ListToolsParams{}
	// A page without new tools is the last one: a list must end.
	for before := -1; before < len(list); {
		page, err := live.ListTools(ctx, params)
		if err != nil {
			return fmt.Errorf("listing its tools: %w", err)
		}
		before = len(list)
		for _, t := range page.Tools {
			if t == nil || t.Name == "" || seen[t.Name] {
				continue
			}
			if len(list) == maxTools {
				problems = append(problems, fmt.Errorf("it has more than %d tools; the others are not used", maxTools))
				page.NextCursor = ""
				break
			}
			seen[t.Name] = true
			list = append(list, s.take(t))
		}
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			break
		}
	}
	for name := range s.Rules {
		if !seen[name] {
			problems = append(problems, fmt.Errorf("there is a rule for the tool %.80q, which it does not have", name))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list, s.problems, s.fault = list, problems, nil
	return nil
}

// entry returns a tool of the server as an entry.
func (s *server) entry(t serverTool, n names) codemode.Entry {
	name := n.of(s.prefix, t.shown)
	e := codemode.Entry{Files: true, Tool: tools.Tool{Name: name, Title: t.title, Description: t.about, Annotations: t.hints,
		InputSchema: t.input, OutputSchema: t.output}}
	if !strings.HasSuffix(name, t.shown) {
		e.Description = strings.TrimSpace(fmt.Sprintf("%s (the tool %s of the server %s)", e.Description, t.shown, s.Name))
	}
	r := s.Rules[t.name]
	e.Direct, e.Hidden, e.Reason = r.Direct, r.Hidden, r.Reason
	e.Call = func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, []codemode.File, error) {
		return s.answer(ctx, t.name, c.Args)
	}
	e.Invoke = func(ctx context.Context, c tools.Invocation) *tools.Answer { return s.invoke(ctx, t.name, name, c) }
	return e
}

// absent returns an entry for a server without tools, with the reason.
func (s *server) absent(n names) codemode.Entry {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	reason := "the server cannot be reached; it is tried again"
	switch {
	case fault == nil:
		reason = "the server has no tools"
	case errors.Is(fault, errStarting):
		reason = errStarting.Error()
	}
	return codemode.Entry{Tool: tools.Tool{Name: n.of("", s.Name)}, Hidden: true, Reason: reason,
		Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, []codemode.File, error) {
			return nil, nil, errors.New(reason)
		}}
}

// schema returns a schema of the server without secrets; nil, which allows everything, if
// there is none or it cannot be used.
func (s *server) schema(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil || len(raw) > maxSchema || raw[0] != '{' {
		return nil
	}
	if raw = []byte(s.set.opts.Secrets.Scrub(string(raw))); !json.Valid(raw) {
		return nil
	}
	return raw
}

// hints returns the annotations of a tool, without them the worst case.
func hints(a *mcp.ToolAnnotations) tools.Annotations {
	if a == nil {
		return tools.Annotations{Destructive: true, OpenWorld: true}
	}
	return tools.Annotations{ReadOnly: a.ReadOnlyHint, Idempotent: a.IdempotentHint,
		Destructive: !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint),
		OpenWorld:   a.OpenWorldHint == nil || *a.OpenWorldHint}
}

// clean returns at most n bytes of a server's text without secrets, for people and models.
func (s *server) clean(text string, n int) string {
	return strings.ToValidUTF8(shorten.Head(s.set.opts.Secrets.Scrub(ansi.Plain(text)), n), "\uFFFD")
}

// maxPrefix is how many bytes of a server's name a prefix has.
const maxPrefix = 32

var underscores = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`_+`) })

// prefixes returns the prefix of the names of each server's tools. They depend on the
// configuration only.
func prefixes(servers []Server) []string {
	list, taken := make([]string, len(servers)), map[string]bool{}
	for i, s := range servers {
		if s.Name == "" {
			continue
		}
		base := underscores().ReplaceAllString(tools.FunctionName(strings.ToValidUTF8(s.Name, "_")), "_")
		base = strings.Trim(base[:min(len(base), maxPrefix)], "_")
		name := base
		for n := 2; taken[name]; n++ {
			name = fmt.Sprint(base, "_", n)
		}
		taken[name], list[i] = true, name+"_"
	}
	return list
}

// names are the names in use.
type names map[string]bool

// newNames has the names of codemode's own functions.
func newNames() names { return names{"search": true, "describe": true, "display": true} }

// of returns a new name for a tool after a prefix.
func (n names) of(prefix, tool string) string {
	full := tools.FunctionName(strings.ToValidUTF8(prefix+tool, "_"))
	name := full
	for i := 2; n[name]; i++ {
		end := fmt.Sprint("_", i)
		name = full[:min(len(full), 64-len(end))] + end
	}
	n[name] = true
	return name
}
