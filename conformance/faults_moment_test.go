package conformance

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func momentFaults() []fault {
	return []fault{
		{
			name: "programs take no time", want: "DurationCounts", also: "Duration",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) { res.Duration = 0 }),
		},
		{
			name: "the wait for its turn is a program's time", want: "DurationAlone", also: "QueueNoTimeout",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				begin := time.Now()
				r, err := next(ctx, c)
				if r.Result.OK() {
					r.Result.Duration = time.Since(begin)
				}
				return r, err
			}),
		},
		{
			name: "the start of a state is the program's time", want: "DurationAlone",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				const start = 1200 * time.Millisecond
				if c.Op != codeinterp.OpRun || !uses(c, `print "x"`) {
					return next(ctx, c)
				}
				time.Sleep(start)
				r, err := next(ctx, c)
				if r.Result.OK() {
					r.Result.Duration += start
				}
				return r, err
			}),
		},
		{
			name: "timeouts are whole seconds", want: "TimeoutExact",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if o.Timeout > 0 {
					o.Timeout = max(o.Timeout, time.Second)
				}
			}),
		},
		{
			name: "what OnOutput takes is the program's time", want: "EndedBeforeTimeout", also: "QueueNoTimeout FunctionUntimed Duration",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				begin := time.Now()
				r, err := next(ctx, c)
				if r.Result.OK() && o.OnOutput != nil && o.Timeout > 0 && time.Since(begin) > o.Timeout {
					r.Result.Status, r.Result.ExitCode = codeinterp.StatusTimeout, codeinterp.ExitTimeout
				}
				return r, err
			}),
		},
		{
			name: "timeouts tell of a signal", want: "StoppedAtUserCode",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusTimeout {
					res.Error = &codeinterp.ProgramError{Name: "Error", Message: "interrupted by `SIGINT`"}
				}
			}),
		},
		{
			name: "timeouts tell of what runs the program", want: "StoppedAtUserCode",
			wrap: stoppedFrame("pause", `File "<driver>", line 1767, in run`),
		},
		{
			name: "timeouts tell of what takes the output", want: "StoppedAtUserCode",
			wrap: stoppedFrame("flood", "File /usr/lib/python3/dist-packages/kernel/streams.py:2, in write()"),
		},
		{
			name: "timeouts tell of a file of the driver's", want: "StoppedAtUserCode",
			wrap: stoppedFrame("spin", "    at execute (driver.js:40:7)"),
		},
		{
			name: "errors have a name of ours", want: "ErrorOfAnything",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Error != nil && res.Error.Message == "text" {
					res.Error = &codeinterp.ProgramError{Name: "Error", Message: "text", Line: res.Error.Line, Traceback: res.Error.Traceback}
				}
			}),
		},
		{
			name: "memory ran out without a word", want: "CauseMemory",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Cause == codeinterp.CauseMemory {
					res.Cause = ""
				}
			}),
		},
		{
			name: "nothing is waited for", want: "RunAwaits",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if uses(c, "awaited") {
					c.Code = toyPrograms().Print("own;")
				}
				return next(ctx, c)
			}),
		},
		{
			name: "what repeats goes on", want: "RepeatingEnds",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var started seen
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if uses(c, "repeating") {
						started.count("%s", c.Context)
					} else if uses(c, `print "own"`) && started.has("%s", c.Context) && started.count("late") < 2 {
						c.Code = "late \"tick;\" \"1ms\"\n" + c.Code
					}
					return next(ctx, c)
				}
			}),
		},
		{
			name: "what a program that failed has started goes on", want: "FailedCodeEnds",
			wrap: calls(func() handler {
				var started seen
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if uses(c, "unending") {
						started.count("%s", c.Context)
					} else if uses(c, `print "own"`) && started.has("%s", c.Context) {
						c.Code = toyPrograms().Print("tick;") + "\n" + c.Code
					}
					return next(ctx, c)
				}
			}),
		},
		{
			name: "the state that an error cost is told by the next run", want: "FailedCodeEnds",
			wrap: calls(func() handler {
				var ended seen
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					if uses(c, "unending") {
						ended.count("%s", c.Context)
					} else if c.Op == codeinterp.OpRunIn && ended.has("%s", c.Context) && ended.count("told %s", c.Context) == 1 {
						r.Result.StateLost = true
					}
					return r, err
				}
			}),
		},
		{
			name: "values are encoded again", want: "ValueJSON",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				var v any
				if o.Value != nil && json.Unmarshal(o.Value, &v) == nil {
					o.Value, _ = json.Marshal(v)
				}
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "long messages are cut in silence", want: "ErrorLossTold",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Error != nil && len(res.Error.Message) > 2000 {
					pe := *res.Error
					pe.Message, res.Error, res.Truncated = pe.Message[:2000], &pe, nil
				}
			}),
		},
		{
			name: "a long error counts as what was kept of it", want: "ErrorLossTold",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i := range res.Truncated {
					if t := &res.Truncated[i]; t.Stream == "error" {
						t.Bytes = t.Kept + 1
					}
				}
			}),
		},
		{
			name: "tracebacks have no bound", want: "ResultBounded",
			wrap: programErrors(func(e *codeinterp.ProgramError) {
				if e.Message == "went wrong" {
					e.Traceback = append(e.Traceback, strings.Repeat("x", 11<<20))
				}
			}),
		},
		{name: "the loss of stderr is not told", want: "LossOfEachTold", also: "CallbacksSeeAll", wrap: quiet("stderr")},
		{name: "the loss of displays is not told", want: "LossOfEachTold", also: "CallbacksSeeAll", wrap: quiet("display")},
		{name: "the loss of values is not told", want: "LossOfEachTold", also: "CallbacksSeeAll", wrap: quiet("result")},
	}
}

// quiet drops what is told of a stream's loss.
func quiet(stream string) wrapper {
	return results(func(c codeinterp.Call, res *codeinterp.Result) {
		var list []codeinterp.Truncation
		for _, t := range res.Truncated {
			if t.Stream != stream {
				list = append(list, t)
			}
		}
		res.Truncated = list
	})
}

// stoppedFrame adds a frame to the errors of programs with a command that their time
// was up for.
func stoppedFrame(command, frame string) wrapper {
	return results(func(c codeinterp.Call, res *codeinterp.Result) {
		if res.Status == codeinterp.StatusTimeout && uses(c, command) {
			e := codeinterp.ProgramError{Name: "Interrupted", Line: 1}
			if res.Error != nil {
				e = *res.Error
			}
			e.Traceback = append([]string{frame}, e.Traceback...)
			res.Error = &e
		}
	})
}
