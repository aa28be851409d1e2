package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/shorten"
)

// A Set is the tools that a model has. It is safe for concurrent use.
type Set struct {
	list   []Tool
	byName map[string]int
	memory *memory
}

// SetOptions tunes a [Set]. The zero value is ready to use.
type SetOptions struct {
	// RememberFor is how long the set remembers answers, so that a call that a
	// transport repeats does not run again. Zero means never. It works within one
	// turn only: see [DispatchOptions.Turn].
	// At most 64 answers are kept.
	RememberFor time.Duration
}

// NewSet makes a Set of tools. Names must differ by more than case. opts may be nil.
func NewSet(list []Tool, opts *SetOptions) (*Set, error) {
	if opts == nil {
		opts = &SetOptions{}
	}
	s := &Set{list: slices.Clone(list), byName: map[string]int{}, memory: &memory{lifetime: opts.RememberFor, byKey: map[callKey]*memo{}}}
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
	// ID is the call's id in the model's API. The Answer and events have it.
	ID string

	// Turn names the model's turn. If Turn and ID are set and the Set remembers
	// calls, a second call with the same client, turn, id, tool and arguments runs
	// nothing: it waits for the first and gets its answer, marked as
	// [Answer.Remembered]. Calls that ran nothing, and runs that were canceled, for
	// instance by a lost connection, are not remembered.
	Turn string

	// OnOutput, if set, receives the program's output while it runs, but not for a
	// call that is answered from memory.
	OnOutput func(codeinterp.Output) error
}

// Dispatch serves a model's call of a tool with JSON arguments. The answer is never
// nil and reports every error. opts may be nil.
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
	if c.ID == "" || opts.Turn == "" || s.memory.lifetime <= 0 {
		return serve(ctx, t, c)
	}
	return s.memory.serve(ctx, t, c, opts.Turn)
}

// serve calls the tool, turns a panic into a failure, and fills in CallID, Tool, and the
// Text of a failure.
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
	silent := r.Text == "" && r.Failure != nil
	if r.CallID == "" || r.Tool == "" || silent {
		// A copy, since an Answer may be shared.
		named := *r
		named.CallID, named.Tool = cmp.Or(r.CallID, c.ID), cmp.Or(r.Tool, t.Name)
		if silent {
			named.Text = string(r.Failure.JSON())
		}
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

// TurnOptions tunes the calls of one turn. The zero value is ready to use.
type TurnOptions struct {
	// ID names the turn; see [DispatchOptions.Turn].
	ID string

	// OnOutput, if set, receives the output of programs while they run, with its
	// call, unless the call has an OnOutput of its own. It is called once at a time
	// for one program, and concurrently for programs that run in parallel.
	OnOutput func(Invocation, codeinterp.Output) error

	// OnAnswer, if set, receives each answer when it is ready, one at a time.
	OnAnswer func(*Answer)
}

// DispatchAll serves all calls of a turn and returns the answers in the order of the
// calls. Calls that name the same context, command or path are served in order; all
// others concurrently. opts may be nil.
func (s *Set) DispatchAll(ctx context.Context, calls []Invocation, opts *TurnOptions) []*Answer {
	if opts == nil {
		opts = &TurnOptions{}
	}
	replies := make([]*Answer, len(calls))
	var wg sync.WaitGroup
	var mu sync.Mutex
	last := map[string]<-chan struct{}{}
	for i, c := range calls {
		id := subjectOf(c.Args)
		// Chained here, since goroutines start in any order.
		before, done := last[id], make(chan struct{})
		if id != "" {
			last[id] = done
		}
		wg.Go(func() {
			defer close(done)
			if before != nil {
				// Even if ctx has ended, which ends the earlier call too.
				<-before
			}
			replies[i] = s.Dispatch(ctx, c.Tool, c.Args, opts.call(c))
			if opts.OnAnswer != nil {
				mu.Lock()
				defer mu.Unlock()
				opts.OnAnswer(replies[i])
			}
		})
	}
	wg.Wait()
	return replies
}

func (o *TurnOptions) call(c Invocation) *DispatchOptions {
	opts := &DispatchOptions{ID: c.ID, Turn: o.ID, OnOutput: c.OnOutput}
	if c.OnOutput == nil && o.OnOutput != nil {
		opts.OnOutput = func(out codeinterp.Output) error { return o.OnOutput(c, out) }
	}
	return opts
}

// subjectOf returns the context, the command or the path that a call names, or "".
func subjectOf(args json.RawMessage) string {
	var f faults
	object, ok := parse(args, &f)
	if !ok {
		return ""
	}
	if id := object.Get("contextId").Str; id != "" {
		return id
	}
	if id := object.Get("commandId").Str; id != "" {
		return "command " + id
	}
	if p := object.Get("path").Str; p != "" {
		return "path " + path.Clean(p)
	}
	return ""
}
