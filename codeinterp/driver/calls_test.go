package driver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// callers are programs that call functions.
var callers = map[string]program{
	// call NAME ARGS prints the answer.
	"call": func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		f := strings.SplitN(p.Code, " ", 3)
		say(out, p, ctx, f[1], f[2])
		return ended(ctx, s)
	},
	// many N NAME calls N times at once.
	"many": func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		f := strings.Fields(p.Code)
		n, _ := strconv.Atoi(f[1])
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() { say(out, p, ctx, f[2], "{}") })
		}
		wg.Wait()
		return ended(ctx, s)
	},
	// loop N NAME calls N times, one by one.
	"loop": func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		f := strings.Fields(p.Code)
		n, _ := strconv.Atoi(f[1])
		for i := range n {
			p.Call(ctx, f[2], json.RawMessage(fmt.Sprintf(`{"i":%d}`, i)))
		}
		return driver.Outcome{}, nil
	},
	// later NAME calls, without waiting, and ends.
	"later": func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		begun := make(chan struct{})
		go func() {
			close(begun)
			p.Call(context.Background(), strings.Fields(p.Code)[1], nil)
		}()
		<-begun
		time.Sleep(time.Second)
		return driver.Outcome{}, nil
	},
	// last NAME calls, and the session hears of the end first.
	"last": func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		p.End()
		say(out, p, ctx, strings.Fields(p.Code)[1], `{"a":1}`)
		return driver.Outcome{}, nil
	},
	// list prints the functions.
	"list": func(_ context.Context, _ *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		for _, f := range p.Functions() {
			fmt.Fprintf(writer{out}, "%s:%s:%t ", f.Name, f.Description, f.Call == nil)
		}
		return driver.Outcome{}, nil
	},
}

type writer struct{ *driver.Output }

func (w writer) Write(b []byte) (int, error) {
	w.Output.Write(codeinterp.Stdout, b)
	return len(b), nil
}

func say(out *driver.Output, p *driver.Program, ctx context.Context, name, args string) {
	v, err := p.Call(ctx, name, json.RawMessage(args))
	if _, ok := err.(*codeinterp.FunctionError); err != nil && !ok && err != driver.ErrEnded {
		panic(err)
	}
	if err != nil {
		v = json.RawMessage("! " + err.Error())
	}
	out.Write(codeinterp.Stdout, append(v, '\n'))
}

// ended is the end of a program that obeys interrupts.
func ended(ctx context.Context, s *fakeSession) (driver.Outcome, error) {
	select {
	case <-s.stop:
		return driver.Outcome{ExitCode: 1}, nil
	case <-ctx.Done():
		return driver.Outcome{Lost: true}, nil
	default:
		return driver.Outcome{}, nil
	}
}

func fn(name string, f func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error)) codeinterp.Function {
	return codeinterp.Function{Name: name, Call: f}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// hostFunctions are what programs call in the tests.
func hostFunctions() []codeinterp.Function {
	return []codeinterp.Function{
		fn("echo", func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) { return c.Args, nil }),
		fn("nothing", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) { return nil, nil }),
		fn("secret", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return nil, errors.New("/etc/passwd")
		}),
		fn("fails", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return nil, fmt.Errorf("of /etc/passwd: %w", &codeinterp.FunctionError{Message: "no such city"})
		}),
		fn("refused", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return nil, &codeinterp.Error{Provider: "p", Op: "o", Err: fmt.Errorf("%w: not today", codeinterp.ErrRefused)}
		}),
		fn("panics", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) { panic("/etc/passwd") }),
		fn("exits", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			runtime.Goexit()
			return nil, nil
		}),
		fn("broken", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) { return raw("{"), nil }),
		fn("large", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return raw(`"` + strings.Repeat("x", 100) + `"`), nil
		}),
		fn("waits", func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}),
		fn("leaves", func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		fn("sleeps", func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
			select {
			case <-time.After(3 * time.Second):
			case <-ctx.Done():
			}
			return raw("true"), nil
		}),
		fn("unresponsive", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			time.Sleep(time.Hour)
			return nil, nil
		}),
	}
}

func TestCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci, id := stateful(t, &fake{programs: callers}, driver.Config{})
		for _, tt := range []struct {
			code, want string
			limits     codeinterp.FunctionLimits
		}{
			{code: `call echo {"a":"ü\n"}`, want: `{"a":"ü\n"}`},
			{code: `call echo `, want: `{}`},
			{code: `call nothing {}`, want: `null`},
			{code: `call echo [1]`, want: `! echo: the arguments are not a JSON object`},
			{code: `call other {}`, want: `! other: the run was given no function of this name`},
			{code: `call secret {}`, want: `! secret: the function failed`},
			{code: `call fails {}`, want: `! fails: no such city`},
			{code: `call refused {}`, want: `! refused: refused: not today`},
			{code: `call panics {}`, want: `! panics: the function failed`},
			{code: `call exits {}`, want: `! exits: the function failed`},
			{code: `call broken {}`, want: `! broken: the function failed`},
			{code: `call echo {"a":"12345"}`, limits: codeinterp.FunctionLimits{Args: 10}, want: `! echo: the arguments have 13 bytes; 10 are the limit`},
			{code: `call large {}`, limits: codeinterp.FunctionLimits{Result: 101}, want: `! large: the result has 102 bytes; 101 are the limit`},
			{code: `call waits {}`, limits: codeinterp.FunctionLimits{Timeout: time.Second}, want: `! waits: the call took longer than 1s`},
			{code: `call leaves {}`, limits: codeinterp.FunctionLimits{Timeout: time.Second}, want: `! leaves: the call took longer than 1s`},
			{code: `call unresponsive {}`, limits: codeinterp.FunctionLimits{Timeout: time.Second}, want: `! unresponsive: the call took longer than 1s`},
		} {
			res, err := ci.RunInContext(t.Context(), id, tt.code, &codeinterp.RunOptions{Functions: hostFunctions(), FunctionLimits: tt.limits})
			if got := strings.TrimSuffix(res.Stdout(), "\n"); err != nil || got != tt.want || len(res.Calls) != 1 {
				t.Errorf("%s: %q, %v, %d calls; want %q", tt.code, got, err, len(res.Calls), tt.want)
				continue
			}
			if c := res.Calls[0]; c.Number != 1 || (c.Error != "") != strings.HasPrefix(tt.want, "!") || strings.Contains(c.Error, "passwd") {
				t.Errorf("%s: recorded %+v", tt.code, c)
			}
			if unresponsive := strings.Contains(tt.code, "unresponsive"); unresponsive != (res.CallbackErr != nil) {
				t.Errorf("%s: CallbackErr %v", tt.code, res.CallbackErr)
			}
		}
		ci.Close()
		time.Sleep(time.Hour) // for unresponsive
	})
}

// TestShow: what a function shows is an output of the run, while that goes on.
func TestShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci, id := stateful(t, &fake{programs: callers}, driver.Config{})
		var show func(codeinterp.Output) bool
		out := codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte("x")}}}
		f := fn("f", func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
			if show = c.Show; !show(out) {
				t.Error("not shown")
			}
			return raw("1"), nil
		})
		res, err := ci.RunInContext(t.Context(), id, "call f {}", &codeinterp.RunOptions{Functions: []codeinterp.Function{f}})
		if err != nil || len(res.Outputs) != 2 || res.Outputs[0].Kind != codeinterp.Display || show(out) {
			t.Errorf("%+v, %v, or shown after the end", res.Outputs, err)
		}
		ci.Close()
	})
}

// TestCallsEndWithTheRun: whatever ends a run ends its calls first, and the run
// returns after them.
func TestCallsEndWithTheRun(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		stop       func(ci *driver.Stateful, id codeinterp.ContextID, cancel func())
		want       want
		took       time.Duration
	}{
		{"timeout", "call slow {}", nil, want{status: codeinterp.StatusTimeout, exit: 124, count: 1}, 6 * time.Second},
		{"cancel", "call slow {}", func(_ *driver.Stateful, _ codeinterp.ContextID, cancel func()) { cancel() },
			want{status: codeinterp.StatusCanceled, exit: 130, count: 1, err: context.Canceled}, 3 * time.Second},
		{"interrupt", "call slow {}", func(ci *driver.Stateful, id codeinterp.ContextID, _ func()) {
			ci.InterruptContext(context.Background(), id)
		},
			want{status: codeinterp.StatusError, exit: 130, cause: codeinterp.CauseInterrupt, count: 1}, 3 * time.Second},
		{"delete", "call slow {}", func(ci *driver.Stateful, id codeinterp.ContextID, _ func()) {
			ci.DeleteContext(context.Background(), id)
		},
			want{status: codeinterp.StatusLost, exit: 137, cause: codeinterp.CauseClosed, lost: true, count: 1, err: codeinterp.ErrContext}, 3 * time.Second},
		{"the program", "later slow", nil, want{status: codeinterp.StatusOK, count: 1}, 3 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ci, id := stateful(t, &fake{programs: callers}, driver.Config{})
				ctx, cancel := context.WithCancel(t.Context())
				var returned atomic.Bool
				slow := fn("slow", func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
					<-ctx.Done()
					time.Sleep(2 * time.Second)
					returned.Store(true)
					return nil, context.Cause(ctx)
				})
				p := start(ci, ctx, id, tt.code, &codeinterp.RunOptions{Functions: []codeinterp.Function{slow}, Timeout: 4 * time.Second})
				time.Sleep(time.Second)
				if tt.stop != nil {
					tt.stop(ci, id, cancel)
				}
				<-p.done
				tt.want.check(t, tt.name, p.res, p.err)
				if !returned.Load() || p.took != tt.took || p.res.CallbackErr != nil {
					t.Errorf("returned %t, took %v, %v", returned.Load(), p.took, p.res.CallbackErr)
				}
				if len(p.res.Calls) != 1 || p.res.Calls[0].Error != "the run has ended" || !errors.Is(p.res.Calls[0].Err, driver.ErrEnded) {
					t.Errorf("%+v", p.res.Calls)
				}
				cancel()
				ci.Close()
			})
		})
	}
}

// TestCallBeforeTheEnd: a call that comes behind the news of the program's end is in the
// result, and is not made.
func TestCallBeforeTheEnd(t *testing.T) {
	ci, id := stateful(t, &fake{programs: callers}, driver.Config{})
	defer ci.Close()
	for _, name := range []string{"panics", "unknown"} {
		res, err := ci.RunInContext(t.Context(), id, "last "+name, &codeinterp.RunOptions{Functions: hostFunctions()})
		if err != nil || res.Stdout() != "! the run has ended\n" || len(res.Calls) != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
		if c := res.Calls[0]; c.Number != 1 || c.Name != name || c.Args != `{"a":1}` || c.Error != "the run has ended" || c.Err != driver.ErrEnded {
			t.Errorf("%+v", c)
		}
	}
}

func TestFunctionThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci, id := stateful(t, &fake{programs: callers}, driver.Config{})
		p := start(ci, t.Context(), id, "call unresponsive {}", &codeinterp.RunOptions{Functions: hostFunctions(), Timeout: time.Second})
		time.Sleep(2 * time.Second)
		if res, err := ci.RunInContext(t.Context(), id, "ok", nil); err != nil || !res.OK() {
			t.Errorf("the next run waits for a function of the last: %+v, %v", res, err)
		}
		<-p.done
		want{status: codeinterp.StatusTimeout, exit: 124, count: 1}.check(t, "unresponsive", p.res, p.err)
		if p.took != 11*time.Second || p.res.CallbackErr == nil || !strings.Contains(p.res.CallbackErr.Error(), "1 functions have not returned although their ctx has ended: unresponsive (call 1)") {
			t.Errorf("took %v, %v", p.took, p.res.CallbackErr)
		}
		ci.Close()
		time.Sleep(time.Hour)
	})
}

func TestCallLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci, id := stateful(t, &fake{programs: callers}, driver.Config{})
		var now, most atomic.Int32
		count := fn("count", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return nil, nil
		})
		o := &codeinterp.RunOptions{Functions: []codeinterp.Function{count}, FunctionLimits: codeinterp.FunctionLimits{Parallel: 7}}
		res, _ := ci.RunInContext(t.Context(), id, "many 70 count", o)
		if most.Load() != 7 || res.Duration != 10*time.Second {
			t.Errorf("%d at once, in %v", most.Load(), res.Duration)
		}
		o = &codeinterp.RunOptions{Functions: hostFunctions(), FunctionLimits: codeinterp.FunctionLimits{Calls: 1000}}
		res, _ = ci.RunInContext(t.Context(), id, "loop 1001 echo", o)
		if n := len(res.Calls); n != 256 || res.Calls[127].Number != 128 || res.Calls[128].Number != 874 || res.Calls[254].Error != "" ||
			!strings.Contains(res.Calls[255].Error, "1000 calls") || res.Calls[254].Args != `{"i":999}` {
			t.Errorf("%d records: %+v", n, res.Calls[n-2:])
		}
		ci.Close()
	})
}

// TestExcludeFromTimeout: time in which the program waits for a function is not its own.
func TestExcludeFromTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci, id := stateful(t, &fake{programs: callers}, driver.Config{})
		for _, untimed := range []bool{false, true} {
			o := &codeinterp.RunOptions{Functions: hostFunctions(), Timeout: 2 * time.Second, FunctionLimits: codeinterp.FunctionLimits{ExcludeFromTimeout: untimed}}
			res, _ := ci.RunInContext(t.Context(), id, "loop 3 sleeps", o)
			if want := map[bool]codeinterp.Status{false: codeinterp.StatusTimeout, true: codeinterp.StatusOK}[untimed]; res.Status != want {
				t.Errorf("untimed %t: %s after %v", untimed, res.Status, res.Duration)
			}
		}
		o := &codeinterp.RunOptions{Functions: hostFunctions(), Timeout: 2 * time.Second, FunctionLimits: codeinterp.FunctionLimits{ExcludeFromTimeout: true}}
		p := start(ci, t.Context(), id, "stubborn", o)
		if <-p.done; p.res.Status != codeinterp.StatusTimeout {
			t.Errorf("%+v", p.res)
		}
		ci.Close()
	})
}
