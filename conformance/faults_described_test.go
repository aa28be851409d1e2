package conformance

import (
	"context"
	"errors"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// describes returns a fault in what Describe says.
func describes(change func(*codeinterp.Info)) wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		r, err := next(ctx, c)
		if info, ok := r.Value.(codeinterp.Info); ok && c.Op == codeinterp.OpDescribe {
			change(&info)
			r.Value = info
		}
		return r, err
	})
}

func describedFaults() []fault {
	return []fault{
		{
			name: "programs that resist have all the time they want", want: "LatenessKept",
			wrap: describes(func(i *codeinterp.Info) { i.Lateness = time.Millisecond }),
		},
		{
			name: "a limit refuses who asks for nothing", want: "LimitsHold",
			suite: func(s *suite) {
				s.limit = func(o *codeinterp.LimitOptions) codeinterp.Middleware {
					limit := codeinterp.Limit(o)
					return func(next codeinterp.Handler) codeinterp.Handler {
						limited := limit(next)
						return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
							if c.Op.Runs() && (c.Run == nil || c.Run.MaxOutput == 0) {
								return refuse(c, codeinterp.ErrInvalid)
							}
							return limited(ctx, c)
						}
					}
				}
			},
		},
		{
			name: "a limit is not described", want: "LimitsHold",
			suite: func(s *suite) {
				s.limit = func(o *codeinterp.LimitOptions) codeinterp.Middleware {
					limit := codeinterp.Limit(o)
					return func(next codeinterp.Handler) codeinterp.Handler {
						limited := limit(next)
						return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
							if c.Op == codeinterp.OpDescribe {
								return next(ctx, c)
							}
							return limited(ctx, c)
						}
					}
				}
			},
		},
		{
			name: "a language has contexts and hides it", want: "ContextsDescribed", also: "CompletionsTold",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				return speaking{described{undescribedOf(ci), func() codeinterp.Info {
					info := codeinterp.Describe(ci)
					info.Languages = append([]codeinterp.LanguageInfo{{Name: "another", Contexts: true}}, info.Languages...)
					info.Languages[1].Contexts = false
					return info
				}}, func() []string { return append([]string{"another"}, ci.Languages()...) }}
			},
			suite: func(s *suite) { s.languages = []string{"toy"} },
		},
	}
}

// awayRuns changes how runs end whose server went away.
func awayRuns(change func(*codeinterp.Result) error) wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		r, err := next(ctx, c)
		if errors.Is(err, codeinterp.ErrUnavailable) {
			err = toyErr(c.Op.String(), change(&r.Result))
		}
		return r, err
	})
}

func awayFaults() []fault {
	return []fault{
		{
			name: "whose end is not known ended well", want: "EndNotKnown",
			wrap: awayRuns(func(res *codeinterp.Result) error {
				res.Status, res.ExitCode, res.Cause = codeinterp.StatusOK, 0, ""
				return nil
			}),
		},
		{
			name: "a server that went away is a crash", want: "EndNotKnown",
			wrap: awayRuns(func(res *codeinterp.Result) error { res.Cause = codeinterp.CauseSignal; return nil }),
		},
		{
			name: "nobody says that the program may go on", want: "EndNotKnown",
			wrap: awayRuns(func(res *codeinterp.Result) error { return codeinterp.ErrUnavailable }),
		},
		{
			name: "what became of a program is not told", want: "EndNotKnown",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				if o.Late && o.Kind == codeinterp.Stderr {
					return nil
				}
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "who is silent for a second is gone", want: "SilentIsNotGone",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if !uses(c, `pause "1.5s"`) {
					return next(ctx, c)
				}
				o.Timeout = time.Second
				r, err := next(ctx, c)
				if r.Result.Status == codeinterp.StatusTimeout {
					r.Result.Status, r.Result.ExitCode, r.Result.Cause = codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseServer
				}
				return r, err
			}),
		},
	}
}
