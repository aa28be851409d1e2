package conformance

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// flowFaults are mistakes in the way of outputs, which OnOutput sees as the Result
// has them.
func flowFaults() []fault {
	last := func(kind codeinterp.Kind) func([]codeinterp.Output) []codeinterp.Output {
		return func(list []codeinterp.Output) []codeinterp.Output {
			of := func(o codeinterp.Output) bool { return o.Kind == kind }
			kept := slices.DeleteFunc(slices.Clone(list), of)
			return append(kept, slices.DeleteFunc(slices.Clone(list), func(o codeinterp.Output) bool { return !of(o) })...)
		}
	}
	using := func(commands ...string) func(codeinterp.Call) bool {
		return func(c codeinterp.Call) bool {
			return !slices.ContainsFunc(commands, func(command string) bool { return !uses(c, command) })
		}
	}
	return []fault{
		{
			name: "blank lines are squeezed", want: "StdoutExact",
			wrap: data(codeinterp.Stdout, func(s string) string { return strings.ReplaceAll(s, "\n\n\n", "\n\n") }),
		},
		{name: "stderr is read at the end", want: "StreamsApart", wrap: relive(using(`print "o1"`, `eprint "e1"`), last(codeinterp.Stderr))},
		{
			name: "an empty write is a line", want: "WritesJoined",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				c.Code = strings.ReplaceAll(c.Code, "\nprint \"\"\n", "\nprint \"\\n\"\n")
				return next(ctx, c)
			}),
		},
		{
			name: "without OnOutput lines change places", want: "LinesInOrder",
			wrap: quietRuns(func(list []codeinterp.Output) []codeinterp.Output {
				for i := range list {
					list[i].Data = bytes.Replace(list[i].Data, []byte("0000100\n0000101\n"), []byte("0000101\n0000100\n"), 1)
				}
				return list
			}),
		},
		{
			name: "the byte 255 is the end", want: "BinaryExact",
			wrap: data(codeinterp.Stdout, func(s string) string { s, _, _ = strings.Cut(s, "\xff"); return s }),
		},
		{
			name: "what is alone waits for half a minute", want: "CallbackLive",
			wrap: lazily(func(c codeinterp.Call, o *codeinterp.RunOptions) bool {
				return strings.HasPrefix(c.Code, `print "first"`) && waits(c) && o.Timeout == 0
			}, 30*time.Second),
		},
		{name: "what a slow consumer misses is lost", want: "CallbackSlow", wrap: runs(misses)},
		{
			name: "a recover that finds nil has found nothing", want: "CallbackGoexit",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.CallbackErr != nil && strings.Contains(res.CallbackErr.Error(), "ended its goroutine") {
					res.CallbackErr = nil
				}
			}),
		},
		{name: "the next run gets the buffers of the last", want: "CallbackMemory", wrap: pooled()},
		{name: "the value comes before what was printed", want: "ValueLast", wrap: relive(using(`print "printed"`), last(codeinterp.Stdout))},
		{
			name: "an image alone stays base64", want: "DisplayImage",
			wrap: alone("image/png", func(b []byte) []byte { return []byte(base64.StdEncoding.EncodeToString(b)) }),
		},
		{
			name: "text alone is escaped", want: "DisplayText",
			wrap: alone("text/html", func(b []byte) []byte { return []byte(html.EscapeString(string(b))) }),
		},
		{name: "displays are shown at the end", want: "DisplayOrder", wrap: relive(using(`print "before"`, `show "text/html"`), last(codeinterp.Display))},
		{name: "a slow OnOutput gets the next output too", want: "CallbacksSerial", wrap: runs(impatient)},
		{
			name: "OnOutput sees the richest representation", want: "CallbacksSeeAll",
			wrap: live(func(on func(codeinterp.Output) error) func(codeinterp.Output) error {
				return func(o codeinterp.Output) error {
					o.Bundle = o.Bundle[:min(len(o.Bundle), 1)]
					return on(o)
				}
			}),
		},
	}
}

// relive has OnOutput see the outputs of some runs at their end, and changes them
// there and in the Result alike.
func relive(which func(codeinterp.Call) bool, change func([]codeinterp.Output) []codeinterp.Output) wrapper {
	return runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		on := o.OnOutput
		if on == nil || !which(c) {
			return next(ctx, c)
		}
		var held []codeinterp.Output
		o.OnOutput = func(out codeinterp.Output) error { held = append(held, out); return nil }
		r, err := next(ctx, c)
		for _, out := range change(held) {
			_ = on(out)
		}
		r.Result.Outputs = joined(change(r.Result.Outputs))
		return r, err
	})
}

// lazily has OnOutput see the outputs of some runs each so often, and at their end.
func lazily(which func(codeinterp.Call, *codeinterp.RunOptions) bool, every time.Duration) wrapper {
	return runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		on := o.OnOutput
		if on == nil || !which(c, o) {
			return next(ctx, c)
		}
		var mu sync.Mutex
		var held []codeinterp.Output
		o.OnOutput = func(out codeinterp.Output) error {
			mu.Lock()
			defer mu.Unlock()
			held = append(held, out)
			return nil
		}
		flush := func() {
			mu.Lock()
			defer mu.Unlock()
			for _, out := range held {
				_ = on(out)
			}
			held = nil
		}
		defer flush()
		defer time.AfterFunc(every, flush).Stop()
		return next(ctx, c)
	})
}

// misses drops the fifth output of a run whose OnOutput takes a few milliseconds,
// from the Result too.
func misses(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
	on, n, slow := o.OnOutput, 0, 0
	var passed []codeinterp.Output
	if on != nil {
		o.OnOutput = func(out codeinterp.Output) error {
			if n++; n == 5 && slow > 2 {
				return nil
			}
			start := time.Now()
			defer func() {
				if took := time.Since(start); took > 5*time.Millisecond && took < 50*time.Millisecond {
					slow++
				}
			}()
			passed = append(passed, out)
			return on(out)
		}
	}
	r, err := next(ctx, c)
	if n > 4 && slow > 2 {
		r.Result.Outputs = joined(passed)
	}
	return r, err
}

// pooled has the memory of a run's chunks be that of the next run's.
func pooled() wrapper {
	return calls(func() handler {
		var mu sync.Mutex
		var free [][]byte
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			if c.Run == nil || c.Run.OnOutput == nil || !c.Op.Runs() {
				return next(ctx, c)
			}
			o := *c.Run
			c.Run = &o
			on := o.OnOutput
			var used [][]byte
			o.OnOutput = func(out codeinterp.Output) error {
				if len(out.Data) == 0 {
					return on(out)
				}
				mu.Lock()
				var buf []byte
				if len(free) > 0 {
					buf, free = free[0], free[1:]
				}
				mu.Unlock()
				buf = append(buf[:0], out.Data...)
				used = append(used, buf)
				out.Data = buf
				return on(out)
			}
			r, err := next(ctx, c)
			mu.Lock()
			free = append(used, free...)
			mu.Unlock()
			return r, err
		}
	})
}

// alone changes displays of one representation.
func alone(mime string, change func([]byte) []byte) wrapper {
	return outputs(func(o codeinterp.Output) []codeinterp.Output {
		if o.Kind == codeinterp.Display && len(o.Bundle) == 1 && o.Bundle[0].MIME == mime {
			o.Bundle = []codeinterp.Representation{{MIME: mime, Data: change(o.Bundle[0].Data)}}
		}
		return []codeinterp.Output{o}
	})
}

// impatient calls OnOutput again where a call takes some time.
func impatient(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
	var open sync.WaitGroup
	defer open.Wait()
	if on := o.OnOutput; on != nil && uses(c, "lines ") {
		o.OnOutput = func(out codeinterp.Output) error {
			done := make(chan error, 1)
			open.Go(func() {
				err := errors.New("exited")
				defer func() {
					if p := recover(); p != nil {
						err = fmt.Errorf("%v", p)
					}
					done <- err
				}()
				err = on(out)
			})
			t := time.NewTimer(5 * time.Millisecond)
			defer t.Stop()
			select {
			case err := <-done:
				return err
			case <-t.C:
				return nil
			}
		}
	}
	return next(ctx, c)
}
