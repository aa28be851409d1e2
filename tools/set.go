package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/shorten"
)

// A Set is a number of tools that a model is given together. It is safe for
// concurrent use.
type Set struct {
	list   []Tool
	byName map[string]int
	memory *memory // nil: calls are not remembered
}

// SetOptions tunes a [Set]. The zero value is ready to use.
type SetOptions struct {
	// RememberFor makes the set remember the answers to calls for that long, so
	// that a call that a transport sends again does not run again. Zero means
	// never. It works within one turn only: see [DispatchOptions.Turn].
	RememberFor time.Duration

	// RememberCalls and RememberBytes bound how many answers are remembered,
	// and the memory that they take. Zero means 64 and 16 MiB.
	RememberCalls, RememberBytes int
}

// NewSet makes a Set of tools, whose names must differ, and by more than case.
// opts may be nil.
func NewSet(list []Tool, opts *SetOptions) (*Set, error) {
	if opts == nil {
		opts = &SetOptions{}
	}
	s := &Set{list: slices.Clone(list), byName: map[string]int{}, memory: newMemory(opts)}
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
	// ID is the id that the model's API gave the call. It is in the Answer and
	// in events.
	ID string

	// Turn names the turn of the model that the call is part of. If it and ID
	// are set, and the Set remembers calls, the same call (client, turn, id, tool
	// and arguments) that arrives again gets the first answer, marked as
	// [Answer.Remembered], and nothing runs; while the first is running it waits
	// for it. Calls that ran nothing, and runs that were canceled, as when a
	// connection is lost, are not remembered.
	Turn string

	// OnOutput, if set, sees the program's output while it runs. A call that
	// is answered from memory has none.
	OnOutput func(codeinterp.Output) error
}

// Dispatch serves a model's call of the tool of that name with JSON arguments.
// Whatever is wrong is part of the answer, which is never nil. opts may be nil.
func (s *Set) Dispatch(ctx context.Context, name string, args json.RawMessage, opts *DispatchOptions) *Answer {
	if opts == nil {
		opts = &DispatchOptions{}
	}
	c := Invocation{ID: opts.ID, Tool: name, Args: args, OnOutput: opts.OnOutput}
	i, ok := s.byName[name]
	if !ok {
		return fail(c.ID, name, s.unknownTool(name), fmt.Errorf("%w: no tool %q", codeinterp.ErrInvalid, name))
	}
	t := &s.list[i]
	if c.ID == "" || opts.Turn == "" || s.memory == nil {
		return serve(ctx, t, c)
	}
	return s.memory.serve(ctx, t, c, opts.Turn)
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
	message := "no tool " + shorten.Head(strconv.Quote(name), 140)
	if best := closest(name, names); best != "" {
		message += "; did you mean " + best + "?"
	} else {
		message += "; there are " + strings.Join(names, ", ") + "."
	}
	return &Failure{CodeUnknownTool, message + " Nothing was run."}
}
