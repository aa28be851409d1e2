package conformance

import (
	"bytes"
	"context"
	"encoding/base64"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// uses reports whether a program has a command.
func uses(c codeinterp.Call, command string) bool {
	return c.Op.Runs() && strings.Contains("\n"+c.Code+" ", "\n"+command)
}

func outcomeFaults() []fault {
	return []fault{
		{
			name: "a cause without need", want: "OK",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusOK {
					res.Cause = codeinterp.CauseExit
				}
			}),
		},
		{
			name: "exit is an error", want: "ExitZero", also: "StateAfterExit",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if uses(c, "exit") && res.OK() {
					res.Status, res.ExitCode = codeinterp.StatusError, 1
				}
			}),
		},
		{
			name: "every exit code is 1", want: "ExitCode", also: "StateAfterExit InterruptStubborn ExitOfProcess",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusError && res.Error == nil {
					res.ExitCode = 1
				}
			}),
		},
		{
			name: "errors pass for success", want: "UncaughtError", also: "ErrorLossTold ErrorNameAndMessage ErrorTraceback ErrorLine MissingModule StateSurvivesFailure SyntaxError StdinNone Recursion InterruptDuring InterruptSpin StdinNoneFails ManagedFromCallback ErrorOfAnything InterruptStubborn InterruptEarly FailedCodeEnds",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusError && res.Error != nil {
					res.Status, res.ExitCode, res.Error = codeinterp.StatusOK, 0, nil
				}
			}),
		},
		{
			name: "an error without words passes for success", want: "UncaughtError",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Error != nil && res.Error.Message == "" {
					res.Status, res.ExitCode, res.Error = codeinterp.StatusOK, 0, nil
				}
			}),
		},
		{
			name: "output before an error is dropped", want: "UncaughtError",
			wrap: outcomeDropsOutput(func(c codeinterp.Call, res *codeinterp.Result) bool {
				return res.Error != nil && res.Error.Name == "ToyError"
			}),
		},
		{
			name: "line by line", want: "SyntaxError",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				before, after, found := strings.Cut(c.Code, "\n!!")
				if !found {
					return next(ctx, c)
				}
				c.Code = before + "\nfail \"\"" + after
				return next(ctx, c)
			}),
		},
		{
			name: "the interpreter is broken afterwards", want: "Recursion", also: "StateAfterRecursion",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var broken seen
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if broken.has("recursion") && c.Op.Runs() {
						return refuse(c, codeinterp.ErrUnavailable)
					}
					if uses(c, "recurse") {
						broken.count("recursion")
					}
					return next(ctx, c)
				}
			}),
		},
		{
			name: "a dead process is a failed program", want: "KilledBySignal", also: "StateAfterDeath",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Cause == codeinterp.CauseSignal {
					res.Status, res.ExitCode = codeinterp.StatusError, 137
				}
			}),
		},
		{
			name: "an unterminated line moves to the next run", want: "RunsAreIndependent", also: everyCheckOf("toy") + " CallbacksSeeAll TruncationTold",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var m memory
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					if c.Op.Runs() && r.Result.OK() {
						rest := m.get(c.Context)
						m.set(c.Context, "")
						if out := r.Result.Stdout(); out != "" && !strings.HasSuffix(out, "\n") {
							m.set(c.Context, out)
						}
						if rest != "" {
							r.Result.Outputs = append([]codeinterp.Output{{Kind: codeinterp.Stdout, Data: []byte(rest)}}, r.Result.Outputs...)
							r.Result.Outputs = joined(r.Result.Outputs)
						}
					}
					return r, err
				}
			}),
		},
		{
			name: "messages end at the first line", want: "ErrorNameAndMessage",
			wrap: programErrors(func(e *codeinterp.ProgramError) { e.Message, _, _ = strings.Cut(e.Message, "\n") }),
		},
		{
			name: "no traceback", want: "ErrorTraceback",
			wrap: programErrors(func(e *codeinterp.ProgramError) { e.Traceback = nil }),
		},
		{
			name: "lines count from 0", want: "ErrorLine",
			wrap: programErrors(func(e *codeinterp.ProgramError) { e.Line-- }),
		},
		{
			name: "the module is in the message only", want: "MissingModule",
			wrap: programErrors(func(e *codeinterp.ProgramError) { e.MissingModule = "" }),
		},
	}
}

// programErrors returns a fault in Result.Error.
func programErrors(change func(*codeinterp.ProgramError)) wrapper {
	return results(func(c codeinterp.Call, res *codeinterp.Result) {
		if res.Error != nil {
			change(res.Error)
		}
	})
}

// outcomeDropsOutput drops the output of some runs, live and kept.
func outcomeDropsOutput(which func(codeinterp.Call, *codeinterp.Result) bool) wrapper {
	return runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		on := o.OnOutput
		var held []codeinterp.Output
		if on != nil && uses(c, "fail") {
			o.OnOutput = func(out codeinterp.Output) error { held = append(held, out); return nil }
		}
		r, err := next(ctx, c)
		if which(c, &r.Result) {
			r.Result.Outputs = nil
			return r, err
		}
		for _, out := range held {
			_ = on(out)
		}
		return r, err
	})
}

func streamFaults() []fault {
	newline := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	return []fault{
		{name: "line ends are translated", want: "StdoutExact", wrap: data(codeinterp.Stdout, newline)},
		{name: "line ends of stderr are translated", want: "StderrExact", wrap: data(codeinterp.Stderr, newline)},
		{
			name: "stderr goes to stdout", want: "StderrExact", also: everyCheckOf("toy") + " OutputsWellFormed",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				if o.Kind == codeinterp.Stderr {
					o.Kind = codeinterp.Stdout
				}
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "streams are sorted", want: "StreamsApart", also: "CallbacksSeeAll",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Stderr() == "" || res.Stdout() == "" || len(res.Outputs) < 3 {
					return
				}
				res.Outputs = []codeinterp.Output{{Kind: codeinterp.Stdout, Data: []byte(res.Stdout())}, {Kind: codeinterp.Stderr, Data: []byte(res.Stderr())}}
			}),
		},
		{
			name: "chunks are joined with newlines", want: "WritesJoined", also: everyCheckOf("toy") + " CallbacksSeeAll",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				on := o.OnOutput
				var chunks []string
				o.OnOutput = func(out codeinterp.Output) error {
					if out.Kind == codeinterp.Stdout {
						chunks = append(chunks, string(out.Data))
					}
					if on != nil {
						return on(out)
					}
					return nil
				}
				r, err := next(ctx, c)
				if len(r.Result.Outputs) == 1 && r.Result.Stdout() != "" {
					r.Result.Outputs[0].Data = []byte(strings.Join(chunks, "\n"))
				}
				return r, err
			}),
		},
		{
			name: "lines change places", want: "LinesInOrder", also: "CallbackSlow LossTold LimitSpareCallback LimitHeadAndTail LimitNotExceeded",
			wrap: data(codeinterp.Stdout, func(s string) string {
				return strings.Replace(s, "0000100\n0000101\n", "0000101\n0000100\n", 1)
			}),
		},
		{
			name: "bytes are made UTF-8", want: "BinaryExact",
			wrap: data(codeinterp.Stdout, func(s string) string {
				if utf8.ValidString(s) {
					return s
				}
				var b strings.Builder
				for _, r := range s {
					b.WriteRune(r)
				}
				return b.String()
			}),
		},
		{
			name: "each write is made UTF-8", want: "SplitCharacters",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if uses(c, "split") {
					c.Code = "split " + strconv.Quote(strings.Map(func(r rune) rune {
						if r >= utf8.RuneSelf {
							return utf8.RuneError
						}
						return r
					}, SplitText))
				}
				return next(ctx, c)
			}),
		},
		{
			name: "values are text", want: "ValueJSON", also: "LossOfEachTold",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				if o.Kind == codeinterp.Value {
					o.Value = []byte(strconv.Quote(string(o.Value)))
				}
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "quotes are stripped", want: "ValueText",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				if o.Kind == codeinterp.Value {
					o.Bundle = []codeinterp.Representation{{MIME: "text/plain", Data: bytes.Trim(o.Bundle[0].Data, "'")}}
				}
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "an empty value is none", want: "ValueJSON", also: "ValueText",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				if o.Kind == codeinterp.Value && string(o.Value) == `""` {
					return nil
				}
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "nothing is null", want: "NoValue",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Code == `set "x" "1"` {
					c.Code += "\nvalue \"null\" \"None\""
				}
				return next(ctx, c)
			}),
		},
		{
			name: "the value comes first", want: "ValueLast", also: "CallbacksSeeAll",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if n := len(res.Outputs); n == 2 && res.Outputs[1].Kind == codeinterp.Value {
					res.Outputs[0], res.Outputs[1] = res.Outputs[1], res.Outputs[0]
				}
			}),
		},
		{
			name: "images stay base64", want: "DisplayImage", also: "DisplayBundle",
			wrap: displays(func(rep *codeinterp.Representation) {
				if rep.MIME == "image/png" {
					rep.Data = []byte(base64.StdEncoding.EncodeToString(rep.Data))
				}
			}),
		},
		{
			name: "text is escaped", want: "DisplayText", also: "DisplayBundle FunctionShows",
			wrap: displays(func(rep *codeinterp.Representation) {
				if rep.MIME == "text/html" {
					rep.Data = []byte(html.EscapeString(string(rep.Data)))
				}
			}),
		},
		{
			name: "one output per representation", want: "DisplayBundle", also: "FunctionShows",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				var list []codeinterp.Output
				for i := range o.Bundle {
					one := o
					one.Bundle = o.Bundle[i : i+1]
					list = append(list, one)
				}
				if o.Kind == codeinterp.Display {
					return list
				}
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "the poorest first", want: "DisplayBundle",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				if n := len(o.Bundle); n == 3 {
					o.Bundle = []codeinterp.Representation{o.Bundle[2], o.Bundle[1], o.Bundle[0]}
				}
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "displays come last", want: "DisplayOrder", also: "CallbacksSeeAll OutputsWellFormed FunctionShows",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				var streams, shown []codeinterp.Output
				for _, o := range res.Outputs {
					if o.Kind == codeinterp.Display {
						shown = append(shown, o)
					} else {
						streams = append(streams, o)
					}
				}
				if len(streams) > 0 && len(shown) > 0 {
					res.Outputs = append(streams, shown...)
				}
			}),
		},
		{
			name: "updates are new displays", want: "DisplayUpdated",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				c.Code = strings.Replace(c.Code, "\nupdate", "\nshow", 1)
				return next(ctx, c)
			}),
		},
		{
			name: "clears are ignored", want: "DisplayCleared",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				c.Code = strings.Replace(c.Code, "\nclear\n", "\n", 1)
				return next(ctx, c)
			}),
		},
	}
}

// displays returns a fault in the representations of displays.
func displays(change func(*codeinterp.Representation)) wrapper {
	return outputs(func(o codeinterp.Output) []codeinterp.Output {
		if o.Kind == codeinterp.Display {
			bundle := append([]codeinterp.Representation(nil), o.Bundle...)
			for i := range bundle {
				change(&bundle[i])
			}
			o.Bundle = bundle
		}
		return []codeinterp.Output{o}
	})
}
