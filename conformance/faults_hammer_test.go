package conformance

import (
	"context"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func hammerFaults() []fault {
	return []fault{
		{name: "one outcome in thirty is another run's", want: "HammerTiny", also: "CallbacksSeeAll Duration", real: true, wrap: swapped(30, codeinterp.OpRun)},
		{name: "one outcome in thirty is another context's", want: "HammerTinyContexts", also: "CallbacksSeeAll Duration", real: true, wrap: swapped(30, codeinterp.OpRunIn)},
		{name: "values are swapped where runs are concurrent", want: "HammerTiny", also: "CallbacksSeeAll Duration", real: true, wrap: lastValue(codeinterp.OpRun)},
		{name: "values are swapped where contexts are concurrent", want: "HammerTinyContexts", also: "CallbacksSeeAll Duration", real: true, wrap: lastValue(codeinterp.OpRunIn)},
	}
}

// swapped gives each n-th run that ended well the reply of the one that ends
// next.
func swapped(n int, op codeinterp.Op) wrapper {
	return calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
		var count seen
		held := make(chan codeinterp.Reply, 1)
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			r, err := next(ctx, c)
			if c.Op != op || err != nil || !r.Result.OK() {
				return r, err
			}
			if count.count("run")%n == 0 {
				select {
				case held <- r:
					time.Sleep(5 * time.Millisecond)
				default:
				}
				return r, err
			}
			select {
			case other := <-held:
				return other, nil
			default:
				return r, err
			}
		}
	})
}

// lastValue gives a run the value of the last one where another is in progress.
func lastValue(op codeinterp.Op) wrapper {
	return calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
		var mu sync.Mutex
		active := 0
		var last *codeinterp.Output
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			if c.Op != op {
				return next(ctx, c)
			}
			mu.Lock()
			active++
			mu.Unlock()
			r, err := next(ctx, c)
			mu.Lock()
			defer mu.Unlock()
			active--
			for i := range r.Result.Outputs {
				if o := &r.Result.Outputs[i]; o.Kind == codeinterp.Value {
					own := *o
					if active > 0 && last != nil {
						*o = *last
					}
					last = &own
				}
			}
			return r, err
		}
	})
}
