package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolcell/toolcell/codeinterp"
)

// hoard keeps everything that comes out in memory.
func hoard(on func(codeinterp.Output) error) func(codeinterp.Output) error {
	var kept [][]byte
	return func(o codeinterp.Output) error {
		kept = append(kept, o.Data)
		if len(kept) == 0 {
			return errors.New("empty")
		}
		return on(o)
	}
}

// keep returns a fault in MaxOutput.
func keep(change func(int) int) wrapper {
	return options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
		if o.MaxOutput >= -1 {
			o.MaxOutput = change(o.MaxOutput)
		}
	})
}

func outputFaults() []fault {
	return []fault{
		{
			name: "the head only", want: "LimitHeadAndTail", also: "LossOfEachTold TruncationTold",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				limit := o.MaxOutput
				if limit == 1000 {
					o.MaxOutput = -1
				}
				r, err := next(ctx, c)
				if out := r.Result.Stdout(); limit == 1000 && len(out) > limit {
					r.Result.Outputs = []codeinterp.Output{{Kind: codeinterp.Stdout, Data: []byte(out[:limit])}}
					r.Result.Truncated = []codeinterp.Truncation{{Stream: "stdout", Bytes: int64(len(out)), Kept: int64(limit), Reason: codeinterp.TruncatedByLimit}}
				}
				return r, err
			}),
		},
		{
			name: "the gap is not marked", want: "LimitHeadAndTail", also: "LossOfEachTold",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i := range res.Outputs {
					res.Outputs[i].Dropped = 0
				}
				if len(res.Truncated) > 0 {
					res.Outputs = joined(res.Outputs)
				}
			}),
		},
		{
			name: "the loss is not told", want: "LimitHeadAndTail", also: "ErrorLossTold CallbacksSeeAll LossOfEachTold",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) { res.Truncated = nil }),
		},
		{
			name: "one byte less", want: "LimitNotExceeded", also: "LimitHeadAndTail",
			wrap: keep(func(n int) int {
				if n > 0 {
					n--
				}
				return n
			}),
		},
		{
			name: "what is dropped is not passed on", want: "LimitSpareCallback", also: "LossOfEachTold",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if on := o.OnOutput; on != nil && o.MaxOutput > 0 {
					left := o.MaxOutput
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
			name: "another default", want: "LimitDefault",
			wrap: keep(func(n int) int {
				if n == 0 {
					n = 1 << 20
				}
				return n
			}),
		},
		{name: "never without a limit", want: "LimitOff", wrap: keep(func(n int) int { return max(n, 0) })},
		{name: "everything is kept in memory", want: "HugeOutput", real: true, wrap: live(hoard)},
		{
			name: "a rate limit is passed off as complete", want: "LossTold", also: "CallbacksSeeAll",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				total := 0
				on := o.OnOutput
				if on != nil {
					o.OnOutput = func(out codeinterp.Output) error {
						if total += out.Size(); total > 1_000_000 {
							return nil
						}
						return on(out)
					}
				}
				return next(ctx, c)
			}),
		},
		{
			name: "a queue without bounds", want: "FloodBounded", real: true,
			wrap: live(func(on func(codeinterp.Output) error) func(codeinterp.Output) error {
				var queue [][]byte
				return func(o codeinterp.Output) error {
					size := 1 << 18
					if len(queue) == 0 {
						size = 2 * heapMargin // what comes first is enough, however slow the machine is
					}
					queue = append(queue, make([]byte, size))
					return errors.Join(on(o), func() error {
						if len(queue) == 0 {
							return errors.New("empty")
						}
						return nil
					}())
				}
			}),
		},
		{
			name: "more is kept than said", want: "TruncationTold", also: "LimitsHold LimitHeadAndTail LimitDefault LossOfEachTold",
			wrap: keep(func(n int) int {
				if n > 0 {
					n *= 2
				}
				return n
			}),
		},
	}
}

func invariantFaults() []fault {
	return []fault{
		{
			name: "timeouts exit with 1", want: "StatusAndExitCode", also: everyCheckOf("toy"),
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusTimeout {
					res.ExitCode = 1
				}
			}),
		},
		{
			name: "a failing program is a Go error", want: "StatusAndError", also: everyCheckOf("toy") + " ErrorDiscreet",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if r.Result.Status == codeinterp.StatusError {
					err = toyErr("run", r.Result.Error)
					if r.Result.Error == nil {
						err = toyErr("run", errors.New("exit"))
					}
				}
				return r, err
			}),
		},
		{
			name: "wrapped twice", want: "ErrorWrapped", also: everyCheckOf("toy"),
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				return r, toyErr("outer", err)
			}),
		},
		{
			name: "errors name the socket", want: "ErrorDiscreet", also: everyCheckOf("toy"),
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if e, ok := errors.AsType[*codeinterp.Error](err); ok {
					err = toyErr(e.Op, fmt.Errorf("%w: dial %s", e.Err, filepath.Join(os.TempDir(), "toy.sock")))
				}
				return r, err
			}),
		},
		{
			name: "errors are bare", want: "ErrorWrapped", also: everyCheckOf("toy"),
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if err != nil {
					err = fmt.Errorf("toy: %w", errors.Unwrap(err))
				}
				return r, err
			}),
		},
		{
			name: "updates stay in the Result", want: "OutputsWellFormed",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i := range res.Outputs {
					res.Outputs[i].Update = res.Outputs[i].Kind == codeinterp.Display
				}
			}),
		},
		{
			name: "chunks are not joined", want: "OutputsWellFormed", also: "StreamsApart LateOutput ValueLast DisplayOrder LateDuringRun FunctionShows",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				var list []codeinterp.Output
				for _, o := range res.Outputs {
					if n := len(o.Data); n > 1 && len(res.Truncated) == 0 {
						head := o
						head.Data, o.Data = o.Data[:n/2:n/2], o.Data[n/2:]
						list = append(list, head)
					}
					list = append(list, o)
				}
				res.Outputs = list
			}),
		},
		{
			name: "colours in the traceback", want: "ErrorReadable",
			wrap: programErrors(func(e *codeinterp.ProgramError) {
				for i, line := range e.Traceback {
					e.Traceback[i] = "\x1b[31m" + line + "\x1b[0m"
				}
			}),
		},
		{
			name: "RunCode tells of lost state", want: "StateLostInContexts",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				res.StateLost = res.StateLost || c.Op == codeinterp.OpRun && res.Status == codeinterp.StatusTimeout
			}),
		},
		{
			name: "a duration in other units", want: "Duration", also: "LatenessKept QueueNoTimeout",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) { res.Duration *= 1000 }),
		},
	}
}
