// Command mcpserver is an MCP server of one's own: the code tools of the
// embedded engine, a tool that this program adds, and a policy that looks at
// every program before it runs. Hosts start it like any other server:
//
//	claude mcp add demo -- go run ./examples/mcpserver
//
// With -http :8080 it serves http://127.0.0.1:8080/mcp instead, and wants the
// bearer token that it prints.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

func main() {
	addr := flag.String("http", "", "serve HTTP on this address instead of standard input and output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, addr string) error {
	js, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{quickjs.New(nil)}})
	if err != nil {
		return err
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: codeinterp.Wrap(js, codeinterp.Approve(noEval))}, nil)
	if err != nil {
		js.Close()
		return err
	}
	defer ws.Close()
	server, err := mcpserver.New(ws, &mcpserver.Options{
		Name:   "demo",
		Tools:  func(list []tools.Tool) []tools.Tool { return append(list, clock()) },
		Limits: mcpserver.Limits{Contexts: 2, Idle: 10 * time.Minute},
	})
	if err != nil {
		return err
	}
	if addr == "" {
		return server.ServeStream(ctx, os.Stdin, os.Stdout)
	}
	token := rand.Text()
	log.Printf("serving %s at %s, token %s", addr, mcpserver.Path, token)
	return server.ListenAndServe(ctx, addr, &mcpserver.HTTPOptions{Tokens: []string{token}})
}

// noEval refuses programs that evaluate others. It stands for a policy.
func noEval(_ context.Context, c codeinterp.Call) error {
	if strings.Contains(c.Code, "eval(") {
		return errors.New("eval is not allowed")
	}
	return nil
}

// clock is a tool of this program's own.
func clock() tools.Tool {
	return tools.Tool{
		Name:        "current_time",
		Title:       "Current time",
		Description: "Returns the time, in RFC 3339.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		Annotations: tools.Annotations{ReadOnly: true},
		Invoke: func(context.Context, tools.Invocation) *tools.Answer {
			return &tools.Answer{Text: time.Now().Format(time.RFC3339)}
		},
	}
}
