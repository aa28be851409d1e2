package mcpserver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/mcpserver"
)

// stream serves s over pipes and connects to it.
func stream(t *testing.T, ctx context.Context, s *mcpserver.Server) (c *mcp.ClientSession, stdin io.Closer, done <-chan error) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	over := make(chan error, 1)
	go func() {
		over <- s.ServeStream(ctx, inR, outW)
		outW.Close()
	}()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(context.Background(), &mcp.IOTransport{Reader: outR, Writer: inW}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, inW, over
}

func TestServeStreamLeavesNothingBehind(t *testing.T) {
	for name, end := range map[string]func(stdin io.Closer, cancel func()){
		"end of input": func(stdin io.Closer, _ func()) { stdin.Close() },
		"signal":       func(_ io.Closer, cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			f := newFake()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			c, stdin, done := stream(t, ctx, newServer(t, f, nil))
			newContext(t, c)
			go c.CallTool(ctx, &mcp.CallToolParams{Name: "run_code", Arguments: object("language", "python", "code", "block")})
			eventually(t, "the program runs", func() bool { n, _ := f.runs(); return n == 1 })
			end(stdin, cancel)
			if err := <-done; err != nil {
				t.Errorf("ServeStream: %v", err)
			}
			if n, ended := f.runs(); n != 0 || ended[0] != codeinterp.StatusCanceled || f.contexts() != 0 {
				t.Errorf("%d programs run, %v ended, %d contexts live", n, ended, f.contexts())
			}
			stdin.Close()
			c.Close()
			eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
		})
	}
}

// clog is an output that is not read.
type clog struct{ gate chan struct{} }

func (c clog) Write(p []byte) (int, error) {
	<-c.gate
	return len(p), nil
}

func TestClientThatDoesNotReadCannotHoldTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		in, feed := io.Pipe()
		out := clog{make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		s, err := mcpserver.New(newWorkspace(t, f), nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() { done <- s.ServeStream(ctx, in, out) }()
		io.WriteString(feed, initialize+"\n")
		synctest.Wait()
		cancel()
		if err := <-done; err == nil || !strings.Contains(err.Error(), "does not read") {
			t.Errorf("err = %v", err)
		}
		close(out.gate)
		feed.Close()
	})
}

// A client of a server that cannot start reads why, as the answer to its first request.
func TestRefuse(t *testing.T) {
	var out bytes.Buffer
	in := strings.NewReader("\n" + initialized + "\n" + initialize + "\n")
	mcpserver.Refuse(t.Context(), in, &out, errors.New("no such package"))
	if got := out.String(); got != `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no such package"}}`+"\n" {
		t.Error(got)
	}
}
