package conformance

import (
	"context"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// boundsFaults are mistakes in how much output is kept and passed on.
func boundsFaults() []fault {
	return []fault{
		{
			name: "half is the head", want: "LimitHeadAndTail",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				limit := o.MaxOutput
				if limit <= 0 || !uses(c, "lines ") {
					return next(ctx, c)
				}
				o.MaxOutput = -1
				r, err := next(ctx, c)
				if out := r.Result.Stdout(); len(out) > limit {
					tail := len(out) - limit/2
					r.Result.Outputs = []codeinterp.Output{{Kind: codeinterp.Stdout, Data: []byte(out[:limit/2])},
						{Kind: codeinterp.Stdout, Data: []byte(out[tail:]), Dropped: int64(tail - limit/2)}}
					r.Result.Truncated = []codeinterp.Truncation{{Stream: "stdout", Bytes: int64(len(out)), Kept: int64(limit), Reason: codeinterp.TruncatedByLimit}}
				}
				return r, err
			}),
		},
		{
			name: "just enough is too much", want: "LimitNotExceeded",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if n := len(res.Stdout()); n > 0 && c.Run != nil && c.Run.MaxOutput == n && len(res.Truncated) == 0 {
					res.Truncated = []codeinterp.Truncation{{Stream: "stdout", Bytes: int64(n), Kept: int64(n), Reason: codeinterp.TruncatedByLimit}}
				}
			}),
		},
		{
			name: "OnOutput sees twelve times of what is kept", want: "LimitSpareCallback",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if on := o.OnOutput; on != nil && o.MaxOutput > 0 {
					left := 12 * o.MaxOutput
					o.OnOutput = func(out codeinterp.Output) error {
						if left -= out.Size(); left < 0 {
							return nil
						}
						return on(out)
					}
				}
			}),
		},
		{
			name: "output ends at a megabyte, and nobody knows", want: "LossTold",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				const most = 1 << 20
				total := 0
				if on := o.OnOutput; on != nil {
					o.OnOutput = func(out codeinterp.Output) error {
						if out.Kind != codeinterp.Stdout {
							return on(out)
						}
						out.Data = out.Data[:min(len(out.Data), most-total)]
						if total += len(out.Data); len(out.Data) == 0 {
							return nil
						}
						return on(out)
					}
				}
				r, err := next(ctx, c)
				for i := range r.Result.Outputs {
					if d := &r.Result.Outputs[i].Data; len(*d) > most {
						*d = (*d)[:most]
					}
				}
				return r, err
			}),
		},
		{name: "values are another run's where runs are concurrent", want: "HammerTiny", wrap: otherValue(codeinterp.OpRun)},
		{name: "values are another run's where contexts are concurrent", want: "HammerTinyContexts", wrap: otherValue(codeinterp.OpRunIn)},
	}
}

// otherValue gives a run the value of the last one where another is in progress, and
// OnOutput too.
func otherValue(op codeinterp.Op) wrapper {
	return calls(func() handler {
		var mu sync.Mutex
		active := 0
		var last *codeinterp.Output
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			if c.Op != op || c.Run == nil || c.Run.OnOutput == nil {
				return next(ctx, c)
			}
			o := *c.Run
			c.Run = &o
			var given *codeinterp.Output
			on := o.OnOutput
			o.OnOutput = func(out codeinterp.Output) error {
				if out.Kind == codeinterp.Value {
					own := out
					mu.Lock()
					if active > 1 && last != nil {
						out = *last
					}
					last = &own
					mu.Unlock()
					kept := out
					given = &kept
				}
				return on(out)
			}
			mu.Lock()
			active++
			mu.Unlock()
			r, err := next(ctx, c)
			mu.Lock()
			active--
			mu.Unlock()
			for i := range r.Result.Outputs {
				if r.Result.Outputs[i].Kind == codeinterp.Value && given != nil {
					r.Result.Outputs[i] = *given
				}
			}
			return r, err
		}
	})
}
