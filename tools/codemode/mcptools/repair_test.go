package mcptools

import (
	"testing"

	"github.com/toolcell/toolcell/tools"
)

func invocation(args string) tools.Invocation { return tools.Invocation{Args: []byte(args)} }

// A malformed answer fails its own call: a concurrent call and the next one succeed.
func TestMalformedAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ line, want string }{
		"NaN":             {`{"jsonrpc": "2.0", "id": ID, "result": {"structuredContent": {"x": NaN}}}`, "not valid JSON"},
		"NaN before id":   {`{"result":{"structuredContent":{"x":NaN,"id":7}},"jsonrpc":"2.0","id":ID}`, "not valid JSON"},
		"cut":             {`{"jsonrpc":"2.0","id":ID,"result":{"content":[`, "not valid JSON"},
		"error as text":   {`{"jsonrpc":"2.0","id":ID,"error":"a plain string"}`, "s_f: a plain string"},
		"error as list":   {`{"jsonrpc":"2.0","id":ID,"error":["a","b"]}`, `["a","b"]`},
		"code as text":    {`{"jsonrpc":"2.0","id":ID,"error":{"code":"E1","message":"quota"}}`, "s_f: quota"},
		"an error":        {`{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"bad input"}}`, "s_f: bad input"},
		"id as text":      {`{"jsonrpc":"2.0","id":"ID","result":{"content":[` + text("fine") + `]}}`, `"fine"`},
		"id as float":     {`{"jsonrpc":"2.0","id":ID.0,"result":{"content":[` + text("fine") + `]}}`, `"fine"`},
		"no version":      {`{"id":ID,"result":{"content":[` + text("fine") + `]}}`, `"fine"`},
		"another version": {`{"jsonrpc":"1.0","id":ID,"result":{"content":[` + text("fine") + `]}}`, `"fine"`},
		"empty":           {`{"jsonrpc":"2.0","id":ID}`, "neither a result nor an error"},
		"words before":    {"npm WARN x\n\x00\xff{{\n[1] 5\n{\"level\":\"info\",\"id\":ID}\n" + result(`{"content":[`+text("fine")+`]}`), `"fine"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			set := openSet(t, nil, fake("s", `{"name":"f","inputSchema":{"type":"object"}}`, func(r request) string {
				if r.Method != "tools/call" {
					return ""
				}
				if n++; n == 1 {
					return tt.line
				}
				return result(`{"content":[` + text("the next") + `]}`)
			}))
			got := programs(t, set)(`const beside = tools.s_sleep({}).catch((e) => "LOST " + e.message); ` + print + ` console.log(await beside); ` + print)
			wants(t, got, tt.want, "slept", "the next")
		})
	}
}

// A server that repeats ids as strings is used.
func TestIDsAsStrings(t *testing.T) {
	t.Parallel()
	set := openSet(t, nil, fake("s", "", func(r request) string {
		return map[string]string{
			"initialize": `{"jsonrpc":"2.0","id":"ID","result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`,
			"tools/list": `{"jsonrpc":"2.0","id":"ID","result":{"tools":[{"name":"f","inputSchema":{"type":"object"}},{"name":"f"}]}}`,
			"tools/call": `{"jsonrpc":"2.0","id":"ID","result":{"content":[` + text("fine") + `]}}`,
		}[r.Method]
	}))
	wants(t, programs(t, set)(print), `"fine"`)
	if n := len(set.Entries()); n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
}
