package mcptools_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMain is an MCP server where the environment says so.
func TestMain(m *testing.M) {
	switch os.Getenv("MCPTOOLS_SERVER") {
	case "":
		os.Exit(m.Run())
	case "good":
		good().Run(context.Background(), &mcp.StdioTransport{})
	case "silent": // reads, and never answers
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		}
	case "stubborn": // does not end with its input, and has a child
		child := exec.Command("sleep", "600")
		child.Start()
		fmt.Fprintln(os.Stderr, "child", child.Process.Pid)
		good().Run(context.Background(), &mcp.StdioTransport{})
		time.Sleep(10 * time.Minute)
	case "endless": // lists tools without end
		endless()
	case "deaf", "asking": // lists one tool, and does not read from its first call on
		deaf(os.Getenv("MCPTOOLS_SERVER") == "asking")
	case "malformed": // answers calls with what is no result
		in := bufio.NewScanner(os.Stdin)
		for mute := false; in.Scan() && !mute; {
			mute = strings.Contains(in.Text(), "mute") // from the next request on
			result := firstResult(in.Bytes())
			if result == "" {
				var r struct{ ID json.RawMessage }
				json.Unmarshal(in.Bytes(), &r)
				result = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%d}]}}`, r.ID, os.Getpid())
				if n := 0; strings.Contains(in.Text(), "deep") {
					fmt.Sscanf(in.Text()[strings.Index(in.Text(), `"deep":`):], `"deep":%d`, &n)
					result = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"a":%s1%s}}}`, r.ID, strings.Repeat("[", n), strings.Repeat("]", n))
				}
				if n := 0; strings.Contains(in.Text(), `"wide":`) {
					fmt.Sscanf(in.Text()[strings.Index(in.Text(), `"wide":`):], `"wide":%d`, &n)
					result = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"a":[%s0]}}}`, r.ID, strings.Repeat("{},", n/2))
				}
				if strings.Contains(in.Text(), "pid") {
					result = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%d"}]}}`, r.ID, os.Getpid())
				}
			}
			fmt.Println(result)
		}
		for in.Scan() {
		}
	case "scripted":
		scripted()
	case "unlisted": // has no list of tools, and does not end by itself
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(os.Stderr, os.Getpid())
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			if result := firstResult(in.Bytes()); strings.Contains(in.Text(), `"tools/list"`) {
				fmt.Println(strings.Replace(result, `"tools":[`, `"tools":5,"x":[`, 1))
			} else {
				fmt.Println(result)
			}
		}
		time.Sleep(10 * time.Minute)
	case "garbage":
		fmt.Println("\x00\xff{{{")
		time.Sleep(10 * time.Minute)
	}
}

type named struct {
	Name string `json:"name"`
}

// good is a server with tools of every kind of answer.
func good() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "good", Version: "1"}, nil)
	object := json.RawMessage(`{"type":"object"}`)
	add := func(name string, out any, f func(ctx context.Context, args json.RawMessage) (*mcp.CallToolResult, error)) {
		s.AddTool(&mcp.Tool{Name: name, Description: "Does " + name + ".", InputSchema: object, OutputSchema: out},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return f(ctx, r.Params.Arguments)
			})
	}
	text := func(texts ...string) *mcp.CallToolResult {
		res := &mcp.CallToolResult{}
		for _, t := range texts {
			res.Content = append(res.Content, &mcp.TextContent{Text: t})
		}
		return res
	}
	add("get-text", nil, func(_ context.Context, args json.RawMessage) (*mcp.CallToolResult, error) {
		return text("you said", string(args)), nil
	})
	add("structured", object, func(_ context.Context, args json.RawMessage) (*mcp.CallToolResult, error) {
		res := text("ignored")
		res.StructuredContent = json.RawMessage(`{"n":5,"list":[1,2]}`)
		return res, nil
	})
	add("nothing", nil, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) { return text(), nil })
	add("colored", nil, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		return text("\x1b[31mred\x1b[0m \x1b]0;title\x07plain"), nil
	})
	add("media", nil, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		res := text("two files")
		res.Content = append(res.Content, &mcp.ImageContent{Data: pixel(), MIMEType: "image/png"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a/../data.bin", MIMEType: "application/zip", Blob: []byte("PK\x03\x04")}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a/b.txt", Text: "embedded"}},
			&mcp.ResourceLink{Name: "doc", URI: "https://example.com/doc"})
		return res, nil
	})
	add("fail", nil, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		res := text("no such thing: " + os.Getenv("API_TOKEN"))
		res.IsError = true
		return res, nil
	})
	add("env", nil, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		return text(strings.Join(os.Environ(), "\n")), nil
	})
	add("die", nil, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		os.Exit(3)
		return nil, nil
	})
	add("hang", nil, func(ctx context.Context, _ json.RawMessage) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return text("canceled"), nil
	})
	add("huge", nil, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		return text(strings.Repeat("x", 17<<20)), nil
	})
	add("add-tool", nil, func(_ context.Context, args json.RawMessage) (*mcp.CallToolResult, error) {
		var n named
		json.Unmarshal(args, &n)
		s.AddTool(&mcp.Tool{Name: n.Name, InputSchema: object}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text("I am " + n.Name), nil
		})
		s.RemoveTools("media")
		return text("added"), nil
	})
	return s
}

// deaf serves until a tool is called, and reads no further. If it asks, it sends
// requests without end.
func deaf(asks bool) {
	fmt.Fprintln(os.Stderr, "deaf", os.Getpid())
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		result := firstResult(in.Bytes())
		if result == "" {
			break
		}
		fmt.Println(result)
	}
	for i := 0; asks; i++ {
		fmt.Printf(`{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"_meta":{"x":"%s"}}}`+"\n", i, strings.Repeat("x", 1<<10))
	}
	time.Sleep(10 * time.Minute)
}

// firstResult answers what comes before the first call of a tool, which it does
// not answer. Nothing is needed for notifications.
func firstResult(message []byte) string {
	var r struct {
		ID     json.RawMessage
		Method string
	}
	json.Unmarshal(message, &r)
	result := map[string]string{
		"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`,
		"tools/list": `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`,
	}[r.Method]
	switch {
	case r.ID == nil:
		return "\n"
	case r.Method == "tools/call":
		return ""
	case result == "":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, r.ID)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result)
}

// endless answers each request for a list of tools with a thousand and a cursor.
func endless() {
	in := bufio.NewScanner(os.Stdin)
	for n := 0; in.Scan(); {
		var r struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(in.Bytes(), &r); r.ID == nil {
			continue
		}
		result := `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
		if r.Method == "tools/list" {
			var list []string
			for range 40 {
				n++
				list = append(list, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, n))
			}
			list = append(list, `{"name":"big","inputSchema":{"type":"object","title":"`+strings.Repeat("x", 300<<10)+`"}}`, `{"name":"odd*/\n","title":"a\u202eb","description":"*/ evil() /*\u0000\u202e\u001b[31m\u0085\udb40\udc41","inputSchema":{"type":"object","properties":{"*/":{"$ref":"#"},"x\u202ey":{"const":"\u2066"}}}}`)
			result = `{"tools":[` + strings.Join(list, ",") + `],"nextCursor":"` + fmt.Sprint(n) + `"}`
		} else if r.Method != "initialize" {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", r.ID)
			continue
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
	}
}
