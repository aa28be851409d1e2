package tools

import (
	"context"
	"encoding/json"
	"path"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

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
