package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Set is a number of tools that a model is given together. It is safe for
// concurrent use.
type Set struct {
	list   []Tool
	byName map[string]int
	calls  *calls
}

// SetOptions tunes a [Set]. The zero value is ready to use.
type SetOptions struct {
	// RememberCalls is how many calls are remembered by their ids. Zero
	// means 1024, -1 none.
	RememberCalls int

	// RememberBytes is how much memory the answers to remembered calls may
	// take. Beyond it, older ones lose their Result and their images, but
	// not their text. Zero means 64 MiB.
	RememberBytes int
}

// NewSet makes a Set of tools, whose names must differ, and by more than case.
// opts may be nil.
func NewSet(list []Tool, opts *SetOptions) (*Set, error) {
	if opts == nil {
		opts = &SetOptions{}
	}
	s := &Set{list: slices.Clone(list), byName: map[string]int{}, calls: newCalls(opts)}
	folded := map[string]string{}
	for i, t := range list {
		if t.Invoke == nil {
			return nil, fmt.Errorf("tools: tool %q has no Invoke", t.Name)
		}
		if err := CheckToolName(t.Name, 128); err != nil {
			return nil, fmt.Errorf("tools: %w", err)
		}
		f := strings.ToLower(t.Name)
		if other, ok := folded[f]; ok {
			return nil, fmt.Errorf("tools: the names %q and %q of two tools are too much alike", other, t.Name)
		}
		folded[f] = t.Name
		s.byName[t.Name] = i
	}
	return s, nil
}

// Tools returns the tools, in their order.
func (s *Set) Tools() []Tool { return slices.Clone(s.list) }

// DispatchOptions tunes one call. The zero value is ready to use.
type DispatchOptions struct {
	// ID is the id that the model's API gave the call. The same call, by client (see
	// [WithClient]), id, tool and arguments, that comes again after a fault on the way back is
	// answered with the answer to the first and does not run again; while the
	// first is running it waits for it. Calls that did not get as far as
	// running are not remembered, nor are those that ended with their ctx, as
	// when a connection is lost, and neither are calls without an id. Some
	// servers count ids from zero in every turn: make those unique first, or
	// a model that repeats a call gets the old answer.
	ID string

	// OnOutput, if set, sees the program's output while it runs. A call that
	// is answered from memory has none.
	OnOutput func(codeinterp.Output) error
}

// Dispatch serves a model's call of the tool of that name with JSON arguments.
// Whatever is wrong is part of the answer, which is never nil. opts may be nil.
func (s *Set) Dispatch(ctx context.Context, name string, args json.RawMessage, opts *DispatchOptions) *Answer {
	c := Invocation{Tool: name, Args: args}
	if opts != nil {
		c.ID, c.OnOutput = opts.ID, opts.OnOutput
	}
	i, ok := s.byName[name]
	if !ok {
		return fail(c.ID, name, s.unknownTool(name), fmt.Errorf("%w: no tool %q", codeinterp.ErrInvalid, name))
	}
	t := &s.list[i]
	if c.ID == "" || s.calls == nil {
		return serve(ctx, t, c)
	}
	return s.calls.serve(ctx, t, c)
}

// serve calls the tool, survives its panics, and says what the answer answers
// where the tool does not.
func serve(ctx context.Context, t *Tool, c Invocation) (r *Answer) {
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("panic in tool %s: %v", t.Name, p)
			r = fail(c.ID, t.Name, &Failure{CodeInternal, "internal error; " + advice[CodeInternal]}, err)
		}
	}()
	r = t.Invoke(ctx, c)
	if r == nil {
		panic("no reply")
	}
	if r.CallID == "" || r.Tool == "" {
		// A copy, since an Answer may be shared.
		named := *r
		named.CallID, named.Tool = cmp.Or(r.CallID, c.ID), cmp.Or(r.Tool, t.Name)
		r = &named
	}
	return r
}

func (s *Set) unknownTool(name string) *Failure {
	names := make([]string, 0, len(s.list))
	for _, t := range s.list {
		names = append(names, t.Name)
	}
	message := "no tool " + clip(strconv.Quote(name), 140)
	if best := closest(name, names); best != "" {
		message += "; did you mean " + best + "?"
	} else {
		message += "; there are " + strings.Join(names, ", ") + "."
	}
	return &Failure{CodeUnknownTool, message + " Nothing was run."}
}
