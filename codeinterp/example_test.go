package codeinterp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func ExampleStream() {
	ctx := context.Background()
	ci := &echo{} // any provider
	outputs, result := codeinterp.Stream(ctx, func(ctx context.Context, o *codeinterp.RunOptions) (codeinterp.Result, error) {
		o.Timeout = time.Minute
		return ci.RunCode(ctx, "echo", "one\ntwo\n", o)
	})
	for out := range outputs {
		fmt.Printf("%s: %s", out.Kind, out.Data)
	}
	res, err := result()
	fmt.Println(res.Status, err)
	// Output:
	// stdout: one
	// stdout: two
	// ok <nil>
}

func ExampleWrap() {
	ci := codeinterp.Wrap(&echoStateful{},
		codeinterp.Log(slog.New(slog.DiscardHandler)),
		codeinterp.Limit(&codeinterp.LimitOptions{Runs: 4, Contexts: 10, Timeout: time.Minute}))
	_, stateful := codeinterp.Stateful(ci)
	fmt.Println("still stateful:", stateful)

	_, err := ci.RunCode(context.Background(), "echo", "hi", &codeinterp.RunOptions{Timeout: time.Hour})
	fmt.Println(err)
	// Output:
	// still stateful: true
	// limit: run: invalid input: timeout 1h0m0s is longer than 1m0s
}

// One value of Limit is one set of limits, for all that is wrapped with it.
func ExampleLimit() {
	limit := codeinterp.Limit(&codeinterp.LimitOptions{Contexts: 1})
	one := codeinterp.Wrap(&echoStateful{}, limit).(codeinterp.StatefulInterpreter)
	two := codeinterp.Wrap(&echoStateful{}, limit).(codeinterp.StatefulInterpreter)
	_, err := one.CreateContext(context.Background(), "echo", nil)
	fmt.Println(err)
	_, err = two.CreateContext(context.Background(), "echo", nil)
	fmt.Println(errors.Is(err, codeinterp.ErrCapacity))
	// Output:
	// <nil>
	// true
}

// What is logged says which calls there were, and neither code nor output.
func ExampleLog() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Value.Kind() == slog.KindDuration {
			return slog.Attr{}
		}
		return a
	}}))
	ci := codeinterp.Wrap(&echo{}, codeinterp.Log(logger))
	_, _ = ci.RunCode(context.Background(), "echo", "a secret", nil)
	// Output: level=INFO msg=run language=echo code_bytes=8 status=ok exit_code=0 output_bytes=8
}

// A program that fails is a Result. What kept it from running is an error.
func ExampleResult() {
	ci := &echo{} // any provider
	res, err := ci.RunCode(context.Background(), "echo", "hello\n", nil)
	if err != nil {
		fmt.Println("the system failed:", err)
		return
	}
	if res.Error != nil {
		fmt.Println("the program failed:", res.Error)
	}
	fmt.Printf("%s %d %q %q\n", res.Status, res.ExitCode, res.Stdout(), res.Text())
	// Output: ok 0 "hello\n" ""
}

// How a provider begins each of its calls.
func ExampleCheckRun() {
	language, err := codeinterp.ResolveLanguage("JS", []string{"javascript", "python"})
	fmt.Println(language, err)
	o, err := codeinterp.CheckRun("1 + 1", nil)
	fmt.Println(o.MaxOutput, err)
	_, err = codeinterp.CheckRun("1 +\x00 1", nil)
	fmt.Println(err)
	// Output:
	// javascript <nil>
	// 8388608 <nil>
	// invalid input: code has a NUL byte at offset 3
}

func ExampleApprove() {
	ci := codeinterp.Wrap(&echo{}, codeinterp.Approve(func(ctx context.Context, r codeinterp.Call) error {
		if strings.Contains(r.Code, "rm ") {
			return errors.New("deleting files needs a person's consent")
		}
		return nil
	}))
	res, err := ci.RunCode(context.Background(), "echo", "rm *", nil)
	fmt.Println(res.Status, err)
	// Output: not_run approve: run: refused: deleting files needs a person's consent
}

func ExampleStateless() {
	ci := codeinterp.Stateless(&echoStateful{})
	_, stateful := codeinterp.Stateful(ci)
	fmt.Println(stateful)
	// Output: false
}

func ExampleManager() {
	if m, ok := codeinterp.Manager(&echoManager{}); ok {
		list, _ := m.ListContexts(context.Background())
		fmt.Println(len(list), "context")
	}
	// Output: 1 context
}

func ExampleDescribe() {
	info := codeinterp.Describe(&echo{})
	fmt.Println(info.Isolation.Backend, info.Isolation.Network)
	// Output: none open
}

func ExampleOutput_Richest() {
	o := codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{
		{MIME: "image/png", Data: []byte("...")}, {MIME: "text/plain", Data: []byte("<Figure>")},
	}}
	best, _ := o.Richest("image/svg+xml", "image/png")
	fmt.Println(best.MIME, o.Text())
	// Output: image/png <Figure>
}

func ExampleResult_MarshalJSON() {
	res := codeinterp.Result{Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{{Kind: codeinterp.Stdout, Data: []byte("hi\n")}}}
	b, _ := res.MarshalJSON()
	fmt.Println(string(b))
	// Output: {"status":"ok","exitCode":0,"outputs":[{"type":"stdout","text":"hi\n"}]}
}
