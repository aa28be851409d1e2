package tools

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Request is one of the calls that a model makes in a turn.
type Request struct {
	ID   string // that the model's API gave the call
	Name string // of the tool
	Args json.RawMessage
}

// TurnOptions tunes the calls of one turn. The zero value is ready to use.
type TurnOptions struct {
	// OnOutput, if set, sees the output of the programs while they run, and
	// the call that it belongs to. Calls for one program are serial; those
	// of programs that run in parallel are not.
	OnOutput func(Request, codeinterp.Output) error

	// OnReply, if set, sees each reply as soon as it is there, one at a time.
	OnReply func(*Reply)
}

// DispatchAll serves all calls of a turn and returns the replies in the order
// of the calls. Calls that name the same context are served one after the
// other, as the model wrote them; all others at the same time. opts may be nil.
func (s *Set) DispatchAll(ctx context.Context, calls []Request, opts *TurnOptions) []*Reply {
	if opts == nil {
		opts = &TurnOptions{}
	}
	replies := make([]*Reply, len(calls))
	var wg sync.WaitGroup
	var mu sync.Mutex
	last := map[string]<-chan struct{}{}
	for i, c := range calls {
		id := contextOf(c.Args)
		before, done := last[id], make(chan struct{})
		if id != "" {
			last[id] = done
		}
		wg.Go(func() {
			defer close(done)
			if before != nil {
				<-before
			}
			replies[i] = s.Dispatch(ctx, c.Name, c.Args, opts.call(c))
			if opts.OnReply != nil {
				mu.Lock()
				defer mu.Unlock()
				opts.OnReply(replies[i])
			}
		})
	}
	wg.Wait()
	return replies
}

func (o *TurnOptions) call(c Request) *CallOptions {
	opts := &CallOptions{ID: c.ID}
	if o.OnOutput != nil {
		opts.OnOutput = func(out codeinterp.Output) error { return o.OnOutput(c, out) }
	}
	return opts
}

// contextOf returns the context that a call names, empty if it names none.
func contextOf(args json.RawMessage) string {
	var f faults
	object, ok := parse(args, &f)
	if !ok {
		return ""
	}
	return object.Get("contextId").Str
}
