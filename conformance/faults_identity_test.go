package conformance

import (
	"context"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func identityFaults() []fault {
	return []fault{
		{name: "ids are used again", want: "IDsNotReused", wrap: idsAgain()},
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
			if f, ok := c.Args.(codeinterp.FunctionCall); ok {
				f.Context = nameOf(real, f.Context)
				c.Args = f
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
					r.Contexts[i].ID = nameOf(real, r.Contexts[i].ID)
				}
			}
			return r, err
		}
	})
}

// nameOf returns the name that a context has for the caller.
func nameOf(real map[codeinterp.ContextID]codeinterp.ContextID, id codeinterp.ContextID) codeinterp.ContextID {
	for name, of := range real {
		if of == id {
			return name
		}
	}
	return id
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
