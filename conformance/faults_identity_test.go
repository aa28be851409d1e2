package conformance

import (
	"context"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func identityFaults() []fault {
	return []fault{
		{name: "ids are used again", want: "IDsNotReused", also: "DeletedContext FunctionCalled", wrap: idsAgain()},
		{name: "deletes that overlap are mixed up", want: "DeletesApart", wrap: mixedDeletes()},
		{
			name: "a context was never used", want: "LastUsedMoves",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				for i := range r.Contexts {
					r.Contexts[i].LastUsed = r.Contexts[i].Created
				}
				return r, err
			}),
		},
	}
}

// idsAgain gives new contexts the ids of deleted ones.
func idsAgain() wrapper {
	return calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
		var mu sync.Mutex
		real := map[codeinterp.ContextID]codeinterp.ContextID{}
		var freed []codeinterp.ContextID
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			mu.Lock()
			name := c.Context
			if id, ok := real[name]; ok {
				c.Context = id
			}
			mu.Unlock()
			r, err := next(ctx, c)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case c.Op == codeinterp.OpDelete && err == nil:
				delete(real, name)
				freed = append(freed, name)
			case c.Op == codeinterp.OpCreate && err == nil:
				name = r.Context
				if len(freed) > 0 {
					name, freed = freed[0], freed[1:]
				}
				real[name], r.Context = r.Context, name
			case c.Op == codeinterp.OpList:
				for i := range r.Contexts {
					for name, id := range real {
						if id == r.Contexts[i].ID {
							r.Contexts[i].ID = name
							break
						}
					}
				}
			}
			return r, err
		}
	})
}

// mixedDeletes deletes one context too many and one too few where two deletes
// overlap.
func mixedDeletes() wrapper {
	return calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
		var mu sync.Mutex
		active := 0
		var last codeinterp.ContextID
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			if c.Op != codeinterp.OpDelete {
				return next(ctx, c)
			}
			mu.Lock()
			if active++; active > 1 {
				c.Context, last = last, c.Context
			} else {
				last = c.Context
			}
			mu.Unlock()
			time.Sleep(time.Millisecond) // so that they overlap
			r, err := next(ctx, c)
			mu.Lock()
			active--
			mu.Unlock()
			return r, err
		}
	})
}
