package mcpserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// talk sends lines to a new server, and returns all that it answers once each of some
// texts is in it and a last request is answered: they are answered in any order.
func talk(t testing.TB, texts []string, lines ...string) string {
	t.Helper()
	return talkUntil(t, append(texts, `"id":"last"`), append(lines, `{"jsonrpc":"2.0","id":"last","method":"ping"}`)...)
}

// talkUntil sends lines to a new server, and returns all that it answers once each of
// some texts is in it.
func talkUntil(t testing.TB, texts []string, lines ...string) string {
	t.Helper()
	s, err := mcpserver.New(newWorkspace(t, newFake()), nil)
	if err != nil {
		t.Fatal(err)
	}
	in, w := io.Pipe()
	out := newAnswers(texts)
	done := make(chan error, 1)
	go func() { done <- s.ServeStream(t.Context(), in, out) }()
	for _, line := range lines {
		io.WriteString(w, line+"\n")
	}
	missing := ""
	select {
	case <-out.seen:
	case <-time.After(time.Minute):
		missing = fmt.Sprintf("no answer to %.500q", lines)
	case err := <-done:
		t.Fatalf("the session ended: %v; answers:\n%s", err, out)
	}
	w.Close()
	if err := <-done; err != nil {
		t.Errorf("ServeStream: %v", err)
	}
	if missing != "" {
		t.Fatalf("%s; answers:\n%.3000s", missing, out)
	}
	return out.String()
}

// answers collects what is written, and waits for texts.
type answers struct {
	bytes.Buffer
	wants []string
	seen  chan struct{}
}

func newAnswers(wants []string) *answers { return &answers{wants: wants, seen: make(chan struct{})} }

func (a *answers) Write(p []byte) (int, error) {
	a.Buffer.Write(p)
	if a.wants == nil {
		return len(p), nil
	}
	for _, want := range a.wants {
		if !bytes.Contains(a.Bytes(), []byte(want)) {
			return len(p), nil
		}
	}
	a.wants = nil
	close(a.seen)
	return len(p), nil
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// No line ends the session.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"python","code":"print x"}}}`))
	f.Add([]byte("[]\nnull\n{}\n\xff"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("last")) || bytes.Contains(data, []byte("subscri")) {
			return
		}
		talk(t, nil, initialize, initialized, string(data))
	})
}

// A line that is not a message is answered with an error, and the session goes on.
func TestInvalidLines(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"no JSON", `{"jsonrpc": nope`, `"id":null,"error":{"code":-32700`},
		{"not UTF-8", "\xff\xfe", `-32700`},
		{"too deep", strings.Repeat("[", 100_000), `-32700`},
		{"deep arguments", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"run_code","arguments":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}}`, `"id":5,"error"`},
		{"null", `null`, `"id":null,"error":{"code":-32600`},
		{"no version", `{"id":"a","method":"ping"}`, `"id":"a","error":{"code":-32600`},
		{"no method", `{"jsonrpc":"2.0","id":7,"method":5}`, `"id":7,"error":{"code":-32600`},
		{"batch", `[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, "batches are not supported"},
		{"answer to nothing", `{"jsonrpc":"2.0","id":99,"result":{}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) { talk(t, []string{tt.want}, initialize, initialized, tt.line) })
	}
}
