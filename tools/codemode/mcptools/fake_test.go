package mcptools

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

// A request is what a fake server reads.
type request struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name      string
		Arguments map[string]any
	}
}

// fake returns a server in this process that answers calls with the lines of answer, in
// which ID is the id of the request. It has the tools f and sleep, whose answer comes after
// that of f.
func fake(name, tool string, answer func(r request) string) Server {
	return Server{Name: name, transport: func(stray func([]byte)) (mcp.Transport, func(), error) {
		in, send := io.Pipe()
		receive, out := io.Pipe()
		var asleep []string
		called := false
		go func() {
			defer out.Close()
			lines := bufio.NewScanner(in)
			lines.Buffer(nil, 64<<20)
			for lines.Scan() {
				var r request
				json.Unmarshal(lines.Bytes(), &r)
				line := ""
				switch {
				case r.Params.Name == "sleep":
					asleep = append(asleep, `{"jsonrpc":"2.0","id":`+string(r.ID)+`,"result":{"content":[{"type":"text","text":"slept"}]}}`)
				case r.Method == "tools/call":
					line = answer(r)
				case r.Method == "tools/list":
					if line = answer(r); line == "" {
						line = `{"jsonrpc":"2.0","id":ID,"result":{"tools":[` + tool + `,{"name":"sleep","inputSchema":{"type":"object"}}]}}`
					}
				case r.Method == "initialize":
					if line = answer(r); line == "" {
						line = `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`
					}
				case r.ID != nil:
					line = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"method not found"}}`
				}
				if line != "" {
					io.WriteString(out, strings.ReplaceAll(line, "ID", string(r.ID))+"\n")
				}
				called = called || r.Method == "tools/call" && r.Params.Name != "sleep"
				for _, l := range asleep {
					if called {
						io.WriteString(out, l+"\n")
					}
				}
				if called {
					asleep = nil
				}
			}
		}()
		kill := sync.OnceFunc(func() { in.Close(); out.Close() })
		messages, to := io.Pipe()
		go passMessages(receive, to, stray)
		return &mcp.IOTransport{Reader: messages, Writer: send, MaxLineLength: -1}, kill, nil
	}}
}

// answering returns a fake server that answers each call with the line.
func answering(line string) Server {
	return fake("s", `{"name":"f","description":"Does f.","inputSchema":{"type":"object"}}`, func(r request) string {
		if r.Method != "tools/call" {
			return ""
		}
		return line
	})
}

// result is a line that answers with a result.
func result(text string) string { return `{"jsonrpc":"2.0","id":ID,"result":` + text + `}` }

func openSet(t *testing.T, opts *Options, servers ...Server) *Set {
	t.Helper()
	set, err := Open(t.Context(), servers, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set
}

// programs returns a function that runs programs with the tools of a set.
func programs(t *testing.T, set *Set) func(code string) string {
	t.Helper()
	ci, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	m, err := codemode.New(ci, set.Entries(), &codemode.Options{Language: "javascript", OnRun: set.Retry, Limits: codeinterp.FunctionLimits{Result: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	set.OnChange(func(list []codemode.Entry) {
		if err := m.Set(list); err != nil {
			t.Error(err)
		}
	})
	tool := m.Tools()[0]
	return func(code string) string {
		args, _ := json.Marshal(map[string]string{"language": "javascript", "code": code})
		return tool.Invoke(t.Context(), tools.Invocation{Args: args}).Text
	}
}

func wants(t *testing.T, got string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// print is a program that prints the result of f, or its error.
const print = `try { console.log(JSON.stringify(await tools.s_f({}))) } catch (e) { console.log("ERROR", e.message) }`

func text(s string) string {
	raw, _ := json.Marshal(s)
	return fmt.Sprintf(`{"type":"text","text":%s}`, raw)
}
