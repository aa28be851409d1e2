package conformance

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func seenFaults() []fault {
	return []fault{
		{
			name: "late output that comes during a run is its own", want: "LateDuringRun",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				began := false
				if on := o.OnOutput; on != nil {
					o.OnOutput = func(out codeinterp.Output) error {
						if out.Late && began {
							out.Late = false
						}
						began = began || !out.Late
						return on(out)
					}
				}
				r, err := next(ctx, c)
				if len(r.Result.Truncated) > 0 {
					return r, err
				}
				b := false
				for i := range r.Result.Outputs {
					if b {
						r.Result.Outputs[i].Late = false
					}
					b = b || !r.Result.Outputs[i].Late
				}
				r.Result.Outputs = joined(r.Result.Outputs)
				return r, err
			}),
		},
		{
			name: "late output goes with a run that never ran", want: "LateOutput",
			wrap: calls(func() handler {
				var m memory
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					if c.Op != codeinterp.OpRunIn {
						return r, err
					}
					if r.Result.Status == codeinterp.StatusNotRun {
						m.set(c.Context, "x")
					} else if m.get(c.Context) != "" {
						m.set(c.Context, "")
						r.Result.Outputs = slices.DeleteFunc(slices.Clone(r.Result.Outputs), func(o codeinterp.Output) bool { return o.Late && o.Kind == codeinterp.Stdout })
					}
					return r, err
				}
			}),
		},
		{
			name: "late output is dropped without OnOutput", want: "LateOutput", also: "EndNotKnown",
			wrap: quietRuns(func(l []codeinterp.Output) []codeinterp.Output {
				return slices.DeleteFunc(l, func(o codeinterp.Output) bool { return o.Late })
			}),
		},
		{
			name: "without OnOutput stderr is lost", want: "GeneratedPrograms", also: "EndNotKnown",
			wrap: quietRuns(not(codeinterp.Stderr)),
		},
		{
			name: "without OnOutput displays are lost", want: "GeneratedPrograms",
			wrap: quietRuns(not(codeinterp.Display)),
		},
		{
			name: "without OnOutput outputs are sorted", want: "GeneratedPrograms",
			wrap: quietRuns(func(l []codeinterp.Output) []codeinterp.Output {
				slices.SortStableFunc(l, func(a, b codeinterp.Output) int { return int(a.Kind) - int(b.Kind) })
				return l
			}),
		},
		{
			name: "the loss of stderr is told twice over", want: "LossOfEachTold",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i := range res.Truncated {
					if res.Truncated[i].Stream == "stderr" {
						res.Truncated[i].Bytes *= 2
					}
				}
			}),
		},
		{
			name: "nothing is said to be kept but of stdout", want: "LossOfEachTold",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i := range res.Truncated {
					if res.Truncated[i].Stream != "stdout" {
						res.Truncated[i].Kept = 0
					}
				}
			}),
		},
		{
			name: "the gap of stderr is not marked", want: "LossOfEachTold",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i := range res.Outputs {
					if res.Outputs[i].Kind == codeinterp.Stderr && res.Outputs[i].Dropped > 0 {
						res.Outputs[i].Dropped = 0
						res.Outputs = joined(res.Outputs)
						return
					}
				}
			}),
		},
		{
			name: "stderr has a limit of its own", want: "TruncationTold",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if o.MaxOutput > 0 && uses(c, "print ") && uses(c, "eprint ") {
					o.MaxOutput *= 2
				}
				return next(ctx, c)
			}),
		},
		{
			name: "stderr beyond the limit is not passed on", want: "LossOfEachTold",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if on := o.OnOutput; on != nil && o.MaxOutput > 0 {
					left := o.MaxOutput
					o.OnOutput = func(out codeinterp.Output) error {
						if left -= out.Size(); left < 0 && out.Kind == codeinterp.Stderr {
							return nil
						}
						return on(out)
					}
				}
			}),
		},
		{
			name: "the first error is forgotten", want: "CallbackError",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if on := o.OnOutput; on != nil {
					first := true
					o.OnOutput = func(out codeinterp.Output) error {
						f := first
						first = false
						err := on(out)
						if f {
							return nil
						}
						return err
					}
				}
			}),
		},
		{
			name: "one buffer for all bundles", want: "CallbackMemory", also: "DisplayUpdated CallbacksSeeAll",
			wrap: live(func(on func(codeinterp.Output) error) func(codeinterp.Output) error {
				buf := map[int][]byte{}
				return func(o codeinterp.Output) error {
					b := slices.Clone(o.Bundle)
					for i := range b {
						buf[i] = append(buf[i][:0], b[i].Data...)
						b[i].Data = buf[i]
					}
					o.Bundle = b
					return on(o)
				}
			}),
		},
		{
			name: "metadata is lost", want: "CallbacksSeeAll", also: "FunctionShows",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i := range res.Outputs {
					res.Outputs[i].Metadata = nil
				}
			}),
		},
		{
			name: "Wrap drops the commands", want: "WrapKeepsPresence",
			suite: func(s *suite) {
				s.wrap = func(ci codeinterp.CodeInterpreter, _ ...codeinterp.Middleware) codeinterp.CodeInterpreter {
					return described{undescribedOf(ci), func() codeinterp.Info { return codeinterp.Describe(ci) }}
				}
			},
		},
		{
			name: "Stateless drops the commands", want: "StatelessHides",
			suite: func(s *suite) {
				s.hide = func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
					h := codeinterp.Stateless(ci)
					return closing{bareOf(h), h.(codeinterp.Describer), h.Close}
				}
			},
		},
		{
			name: "a command whose ctx has ended runs", want: "CommandCanceled",
			wrap: commands(func(ctx context.Context, c codeinterp.Call, o *codeinterp.CommandOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if ctx.Err() == nil {
					return next(ctx, c)
				}
				r, _ := next(context.WithoutCancel(ctx), c)
				r.Result.Status, r.Result.ExitCode = codeinterp.StatusCanceled, 130
				return r, toyErr("run command", context.Cause(ctx))
			}),
		},
		{
			name: "output of commands ends at 64 KiB", want: "CommandOutput",
			wrap: commands(func(ctx context.Context, c codeinterp.Call, o *codeinterp.CommandOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				left := 64 << 10
				if on := o.OnOutput; on != nil {
					o.OnOutput = func(out codeinterp.Output) error {
						if len(out.Data) > left {
							out.Data = out.Data[:left]
						}
						left -= len(out.Data)
						if len(out.Data) == 0 {
							return nil
						}
						return on(out)
					}
				}
				r, err := next(ctx, c)
				keep := 64 << 10
				for i := range r.Result.Outputs {
					if len(r.Result.Outputs[i].Data) > keep {
						r.Result.Outputs[i].Data = r.Result.Outputs[i].Data[:keep]
					}
				}
				return r, err
			}),
		},
		{
			name: "commands have no MaxOutput", want: "CommandOutput", also: "TruncationTold",
			wrap: commandOptions(func(o *codeinterp.CommandOptions) { o.MaxOutput = -1 }),
		},
		{
			name: "Workdir is where the provider is", want: "Workdir",
			wrap: describes(func(i *codeinterp.Info) { i.Workdir = "/work" }),
		},
		{
			name: "an alias is told and not accepted", want: "LanguageNames",
			wrap: describes(func(i *codeinterp.Info) { i.Languages[0].Aliases = []string{"toylang"} }),
		},
		{
			name: "Describe knows of Input that there is not", want: "InputStreams",
			wrap: describes(func(i *codeinterp.Info) { i.Languages[0].Input = true }),
		},
		{
			name: "Describe knows of limits that do not hold", want: "LimitsTold",
			wrap: describes(func(i *codeinterp.Info) {
				i.Limits = codeinterp.Limits{Timeout: 24 * time.Hour, Output: 1 << 30, Code: 8 << 20}
			}),
		},
		{
			name: "Input is ignored", want: "InputStreams",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) { o.Input = nil }),
		},
		{
			name: "Stdin goes before Input", want: "InputStreams",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if o.Stdin != nil {
					o.Input = nil
				}
			}),
		},
		{
			name: "programs write the host's files", want: "ReachFiles",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if list, err := parse(c.Code); err == nil && uses(c, "write ") && strings.HasPrefix(list[0].args[0], os.TempDir()) {
					_ = os.WriteFile(list[0].args[0], []byte(list[0].args[1]), 0o666)
				}
				return next(ctx, c)
			}),
		},
	}
}

// quietRuns changes the outputs of runs without OnOutput.
func quietRuns(change func([]codeinterp.Output) []codeinterp.Output) wrapper {
	return runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		r, err := next(ctx, c)
		if o.OnOutput == nil && c.Op.Runs() {
			r.Result.Outputs = joined(change(slices.Clone(r.Result.Outputs)))
		}
		return r, err
	})
}

// not leaves out a kind of output.
func not(kind codeinterp.Kind) func([]codeinterp.Output) []codeinterp.Output {
	return func(l []codeinterp.Output) []codeinterp.Output {
		return slices.DeleteFunc(l, func(o codeinterp.Output) bool { return o.Kind == kind })
	}
}
