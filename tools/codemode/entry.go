package codemode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// An Entry is a tool with rules for its calls. Programs may call it unless it is Hidden.
type Entry struct {
	tools.Tool

	// Direct offers the tool to the model as a tool of its own.
	Direct bool

	// Hidden keeps programs from calling the tool. The model reads Reason.
	Hidden bool
	Reason string

	// Call, if set, serves the calls of programs in place of Tool.Invoke. Its errors
	// reach programs as those of a [codeinterp.Function] do. The value may be nil.
	Call func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, []File, error)

	// Files reports that the tool may return images or files; the description says so.
	Files bool
}

// A File is an image or another file that a tool returned. Name and MIME may hold
// anything.
type File struct {
	Name, MIME string
	Data       []byte
}

// Entries returns the entries of tools that programs may call.
func Entries(list []tools.Tool) []Entry {
	all := make([]Entry, 0, len(list))
	for _, t := range list {
		all = append(all, Entry{Tool: t})
	}
	return all
}

// serve serves a program's call.
func (e *Entry) serve(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, []File, error) {
	if e.Call != nil {
		return e.Call(ctx, c)
	}
	a := e.Invoke(ctx, tools.Invocation{Tool: e.Name, Args: c.Args})
	switch {
	case a == nil:
		return nil, nil, errors.New("the tool has not answered")
	case a.Failure != nil:
		return nil, nil, &codeinterp.FunctionError{Message: a.Failure.Message}
	}
	var files []File
	for _, i := range a.Images {
		files = append(files, File{MIME: i.MIME, Data: i.Data})
	}
	value := a.JSON()
	if len(value) == 0 {
		var err error
		if value, err = json.Marshal(strings.ToValidUTF8(a.Text, "\uFFFD")); err != nil {
			return nil, nil, err
		}
	}
	return value, files, nil
}

// refused returns why programs may not call the tool; it is empty if they may.
func (e *Entry) refused() string {
	switch {
	case !e.Hidden:
		return ""
	case e.Direct:
		return cmp.Or(e.Reason, "it is a tool of its own: call it directly, not from a program")
	}
	return cmp.Or(e.Reason, "it must not be called")
}

// A function is an entry as programs call it.
type function struct {
	codeinterp.Function
	tool    string // the tool's name
	refused string // why programs may not call it; empty if they may
}

// taken are the names of the functions that every program has.
var taken = []string{"search", "describe", "display"}

// functions returns the functions of entries. A call of one that programs may not call
// returns the reason.
func (m *Mode) functions(list []Entry) ([]function, error) {
	all := make([]function, 0, len(list)+len(taken))
	for i := range list {
		e := &list[i]
		if e.Invoke == nil && e.Call == nil {
			return nil, fmt.Errorf("codemode: %w: tool %.80q has neither Invoke nor Call", codeinterp.ErrInvalid, e.Name)
		}
		// Hidden ones too: their calls return the reason.
		f := function{e.Function(), e.Name, e.refused()}
		if slices.Contains(taken, f.Name) {
			f.Name += "_"
		}
		f.Unlisted, f.Call = f.refused != "", m.call(e, f.refused)
		all = append(all, f)
	}
	return all, nil
}

// call returns the function that serves the calls of an entry.
func (m *Mode) call(e *Entry, refused string) func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
	if refused != "" {
		return func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return nil, &codeinterp.FunctionError{Message: strings.ToValidUTF8(refused, "\uFFFD")}
		}
	}
	return func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
		if err := m.approvals.approve(ctx, c); err != nil {
			return nil, err
		}
		value, files, err := e.serve(ctx, c)
		if err != nil {
			return nil, m.scrubbed(err)
		}
		return m.keep(ctx, c, value, files)
	}
}

// scrubbed returns err with no secret in what programs read of it.
func (m *Mode) scrubbed(err error) error {
	reported, ok := errors.AsType[*codeinterp.FunctionError](err)
	if !ok || m.opts.Tools.Secrets == nil {
		return err
	}
	if clean := m.opts.Tools.Secrets.Scrub(reported.Message); clean != reported.Message {
		return &codeinterp.FunctionError{Function: reported.Function, Message: clean}
	}
	return err
}

// maxFound is how many functions a search finds.
const maxFound = 20

type query struct {
	Query string `json:"query"`
}

type nameArgs struct {
	Name string `json:"name"`
}

type match struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// finders returns the functions that find those of all.
func finders(all []function, d dialect) []function {
	search := func(ctx context.Context, q query) ([]match, error) { return find(ctx, all, q.Query) }
	declare := func(_ context.Context, n nameArgs) (string, error) {
		i := slices.IndexFunc(all, func(f function) bool { return f.Name == n.Name || f.tool == n.Name })
		if i < 0 {
			return "", &codeinterp.FunctionError{Message: fmt.Sprintf("there is no function %.80q; use tools.search", n.Name)}
		}
		if why := all[i].refused; why != "" {
			return "", &codeinterp.FunctionError{Message: fmt.Sprintf("%s cannot be called by programs: %s", all[i].Name, comment(why, 300))}
		}
		text, _ := declarations(all[i:i+1], d, math.MaxInt)
		return text, nil
	}
	return []function{
		{Function: tools.Func("search", "Finds functions by words of their names and descriptions.", search), tool: "search"},
		{Function: tools.Func("describe", "Returns the declaration of a function.", declare), tool: "describe"},
	}
}

// find returns the functions that have the words of a query, those that have more
// of them first.
func find(ctx context.Context, all []function, query string) ([]match, error) {
	words := strings.FieldsFunc(strings.ToLower(query[:min(len(query), 1<<10)]), func(r rune) bool {
		return !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127)
	})
	type hit struct{ at, score int }
	var hits []hit
	for i := range all {
		if ctx.Err() != nil { // hundreds of words in megabytes of descriptions take a second
			return nil, context.Cause(ctx)
		}
		name, about := strings.ToLower(all[i].Name+" "+all[i].tool), strings.ToLower(all[i].Description)
		score := 0
		for _, w := range words {
			if strings.Contains(name, w) {
				score += 3
			}
			if strings.Contains(about, w) {
				score++
			}
		}
		if score > 0 {
			hits = append(hits, hit{i, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.score - a.score })
	list := []match{}
	for _, h := range hits[:min(len(hits), maxFound)] {
		about := comment(all[h.at].Description, 200)
		if why := all[h.at].refused; why != "" {
			about += " (cannot be called by programs: " + comment(why, 200) + ")"
		}
		list = append(list, match{all[h.at].Name, strings.TrimSpace(about)})
	}
	return list, nil
}
