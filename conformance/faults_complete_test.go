package conformance

import (
	"context"
	"errors"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// uncompleting has all but Complete.
type uncompleting struct {
	codeinterp.StatefulInterpreter
	codeinterp.ContextManager
	codeinterp.ContextFiles
	codeinterp.Describer
}

// completions returns a fault in Complete.
func completions(f func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error)) wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		if c.Op != codeinterp.OpComplete {
			return next(ctx, c)
		}
		return f(ctx, c, next)
	})
}

func completeFaults() []fault {
	return []fault{
		{
			name: "Describe knows of completions that there are not", want: "CompletionsTold", also: "CompletesNames CompleteBusy CompleteRefuses",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				u := undescribedOf(ci)
				return uncompleting{u.StatefulInterpreter, u.ContextManager, u.ContextFiles, ci.(codeinterp.Describer)}
			},
		},
		{
			name: "the names of another context", want: "CompletesNames",
			wrap: completions(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if v, ok := r.Value.(codeinterp.Completion); ok && len(v.Matches) > 0 {
					v.Matches = append(v.Matches, otherName)
					r.Value = v
				}
				return r, err
			}),
		},
		{
			name: "the matches are what is to be appended", want: "CompletesNames",
			wrap: completions(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if v, ok := r.Value.(codeinterp.Completion); ok {
					for i, m := range v.Matches {
						v.Matches[i] = m[v.End-v.Start:]
					}
				}
				return r, err
			}),
		},
		{
			name: "a completion is a run", want: "CompletesNames",
			wrap: completions(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if err == nil {
					_, _ = next(ctx, codeinterp.Call{Op: codeinterp.OpRunIn, Context: c.Context, Code: "# nothing"})
				}
				return r, err
			}),
		},
		{
			name: "a completion waits for the run", want: "CompleteBusy",
			wrap: completions(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				for {
					if r, err := next(ctx, c); ctx.Err() != nil || !errors.Is(err, codeinterp.ErrCapacity) {
						return r, err
					}
					time.Sleep(10 * time.Millisecond)
				}
			}),
		},
		{
			name: "a completion interrupts the run", want: "CompleteBusy",
			wrap: completions(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if errors.Is(err, codeinterp.ErrCapacity) {
					_, _ = next(ctx, codeinterp.Call{Op: codeinterp.OpInterrupt, Context: c.Context})
				}
				return r, err
			}),
		},
		{
			name: "a cursor within a character is moved", want: "CompleteRefuses",
			wrap: completions(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Args == 1 && c.Code == "é" {
					c.Args = 0
				}
				return next(ctx, c)
			}),
		},
		{
			name: "what cannot be completed has no matches", want: "CompleteRefuses", also: "CompleteBusy ClosedCalls",
			wrap: completions(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if err != nil {
					return codeinterp.Reply{Value: codeinterp.Completion{}}, nil
				}
				return r, err
			}),
		},
	}
}
