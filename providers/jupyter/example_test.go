package jupyter_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// exampleServer stands for a Jupyter server.
func exampleServer() (*fakeServer, *jupyter.Options) {
	s := newFake()
	s.Execute = func(k *fakeKernel, req *fakeMessage) {
		k.IOPub(req, "status", fakeStatus("busy"))
		k.IOPub(req, "stream", fakeStream("stdout", "hello\n"))
		k.Reply(req, "execute_reply", fakeOK(1))
		k.IOPub(req, "status", fakeStatus("idle"))
	}
	return s, &jupyter.Options{URL: "http://localhost:8888", HTTPClient: s.Client()}
}

// A kernel for each run.
func ExampleNew() {
	server, opts := exampleServer()
	defer server.Close()
	ctx := context.Background()

	ci, err := jupyter.New(ctx, opts)
	if err != nil {
		log.Fatal(err)
	}
	defer ci.Close()
	res, err := ci.RunCode(ctx, "python", `print("hello")`, &codeinterp.RunOptions{Timeout: time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, res.Stdout())
	// Output: ok hello
}

// A context is a kernel, which can be handed on to another process.
func Example_detach() {
	server, opts := exampleServer()
	defer server.Close()
	ctx := context.Background()

	ci, err := jupyter.NewStateful(ctx, opts)
	if err != nil {
		log.Fatal(err)
	}
	id, err := ci.CreateContext(ctx, "python", nil)
	if err != nil {
		log.Fatal(err)
	}
	attacher, _ := codeinterp.Attaches(ci)
	ref, err := attacher.Detach(ctx, id)
	if err != nil {
		log.Fatal(err)
	}
	ci.Close()

	other, err := jupyter.NewStateful(ctx, opts)
	if err != nil {
		log.Fatal(err)
	}
	defer other.Close()
	attacher, _ = codeinterp.Attaches(other)
	if id, err = attacher.Attach(ctx, ref); err != nil {
		log.Fatal(err)
	}
	res, err := other.RunInContext(ctx, id, "x + 1", nil)
	fmt.Println(res.Status, err)
	// Output: ok <nil>
}
