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

	// OnOutput, if set, sees the output of the programs while they run, and
	// the call that it belongs to, where the call has no OnOutput of its own. Calls for one program are serial; those
	// of programs that run in parallel are not.
	OnOutput func(Invocation, codeinterp.Output) error

	// OnAnswer, if set, sees each answer as soon as it is there, one at a time.
	OnAnswer func(*Answer)
}

// DispatchAll serves all calls of a turn and returns the answers in the order
// of the calls. Calls that name the same context, command or path are served one
// after the other, as the model wrote them; all others at the same time. opts may be nil.
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
		// Chained here, in the order of the calls: goroutines begin in any.
		before, done := last[id], make(chan struct{})
		if id != "" {
			last[id] = done
		}
		wg.Go(func() {
			defer close(done)
			if before != nil {
				// Whatever becomes of ctx: the call before ends with it as well.
				<-before
			}
			replies[i] = s.Dispatch(ctx, c.Tool, c.Args, opts.call(c))
			if opts.OnAnswer != nil {
				// Answers come from goroutines of their own, and OnAnswer is called one at a time.
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

// subjectOf returns what a call is about: the context, the command or the path that it
// names, empty if it names none.
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
