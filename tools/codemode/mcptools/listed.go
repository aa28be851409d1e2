package mcptools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
	"github.com/toolcell/toolcell/tools"
)

const (
	maxServerTools = 500
	maxTools       = codeinterp.MaxFunctions - 64
	maxPages       = 100
	maxLooked      = 10 * maxServerTools // tools of all pages, with those that are there already
	maxSchema      = 256 << 10
	maxAbout       = 16 << 10
	maxListed      = 16 << 20 // bytes of all tools of a server
)

var errUnlisted = errors.New("its tools cannot be listed")

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

// A list is what is kept of the pages that a server lists its tools on.
type list struct {
	tools        []listed
	seen         map[string]bool
	looked, size int
}

// add takes the tools of a page, and reports whether to ask for the next one.
func (l *list) add(page []*mcp.Tool) bool {
	before := len(l.tools)
	for _, t := range page {
		// One more than the bound is taken, which shows that there are more.
		if l.full() {
			return false
		}
		l.looked++
		if t == nil || l.seen[t.Name] {
			continue
		}
		l.seen[t.Name] = true
		l.tools = append(l.tools, take(t))
		l.size += l.tools[len(l.tools)-1].size()
	}
	return len(l.tools) > before && !l.full()
}

func (l *list) full() bool {
	return len(l.tools) > maxServerTools || l.size > maxListed || l.looked > maxLooked
}

// cut leaves out what is too much, and says so. There is more where a page was not
// asked for.
func (l *list) cut(more bool) error {
	switch {
	case l.size > maxListed:
		l.tools = l.tools[:len(l.tools)-1]
		return fmt.Errorf("its tools are described in more than %d bytes; the first %d are there", maxListed, len(l.tools))
	case len(l.tools) > maxServerTools || l.looked > maxLooked:
		l.tools = l.tools[:min(len(l.tools), maxServerTools)]
		return fmt.Errorf("it has too many tools; the first %d are there", len(l.tools))
	case more:
		return fmt.Errorf("its list of tools does not end; the first %d are there", len(l.tools))
	}
	return nil
}

// relist asks a server for its tools.
func (s *server) relist(ctx context.Context, live *link) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.set.opts.StartTimeout, errSlow)
	defer cancel()
	defer context.AfterFunc(s.set.ctx, cancel)()
	by := &lister{}
	ctx = context.WithValue(ctx, listerKey{}, by)
	all := list{seen: map[string]bool{}}
	params := &mcp.ListToolsParams{}
	for range maxPages {
		page, err := live.ListTools(ctx, params)
		if err != nil {
			return unlisted(ctx, live, err)
		}
		// A page that brings nothing new is the last one: a server could have any number
		// of them.
		if params.Cursor = page.NextCursor; !all.add(page.Tools) || params.Cursor == "" {
			break
		}
	}
	problems := by.problems()
	if err := all.cut(params.Cursor != ""); err != nil {
		problems = append(problems, err)
	}
	for name := range s.Rules {
		if !all.seen[name] {
			problems = append(problems, fmt.Errorf("there is a rule for the tool %.80q, which it does not have", name))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list, s.problems, s.fault = all.tools, problems, nil
	return nil
}

// A lister is a request for a list of tools, or several in a row.
type lister struct {
	mu    sync.Mutex
	bad   int
	first error
}

type listerKey struct{}

// sound leaves what is no tool out of the result of a list: the SDK would take none
// of the others.
func (l *lister) sound(result json.RawMessage) json.RawMessage {
	var page map[string]json.RawMessage
	var all, kept []json.RawMessage
	if json.Unmarshal(result, &page) != nil || json.Unmarshal(page["tools"], &all) != nil {
		return result
	}
	// One more than is looked at, which shows that there are more.
	for _, raw := range all[:min(len(all), maxLooked+1)] {
		var t *mcp.Tool
		if err := json.Unmarshal(raw, &t); err != nil || t == nil {
			l.leave(cmp.Or(err, errors.New("it is null")))
			continue
		}
		kept = append(kept, raw)
	}
	if len(kept) == len(all) {
		return result
	}
	page["tools"], _ = json.Marshal(kept) // which were JSON before
	result, _ = json.Marshal(page)
	return result
}

func (l *lister) leave(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bad++; l.bad == 1 {
		l.first = err
	}
}

func (l *lister) problems() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bad == 0 {
		return nil
	}
	return []error{fmt.Errorf("%d of its tools are none, and were left out: %w", l.bad, l.first)}
}

// unlisted is the error of a request for a list.
func unlisted(ctx context.Context, live *link, err error) error {
	// The cause says which time was over; the SDK's error only that one was.
	if ctx.Err() != nil {
		return fmt.Errorf("listing its tools: %w", context.Cause(ctx))
	}
	if _, answered := told(err); answered || live.answers() {
		return fmt.Errorf("%w: %w", errUnlisted, err)
	}
	return fmt.Errorf("listing its tools: %w", err)
}
