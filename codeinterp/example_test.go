package codeinterp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

func ExampleApprove() {
	ci := codeinterp.Wrap(&echo{}, codeinterp.Approve(func(ctx context.Context, r codeinterp.Request) error {
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
