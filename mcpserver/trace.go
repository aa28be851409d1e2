package mcpserver

import (
	"regexp"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/tools"
)

// traceparent is the form of the W3C Trace Context's field of that name, in
// version 00 or a later one.
var traceparent = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)
})

// The longest values in bytes that are passed on.
const (
	maxTraceparent = 256
	maxTracestate  = 512
	maxBaggage     = 8 << 10
)

// traceOf reads the trace context of a request's _meta, without what is malformed or too
// long.
func traceOf(meta mcp.Meta) (tools.Trace, bool) {
	t := tools.Trace{Baggage: stringOf(meta["baggage"], maxBaggage)}
	if p := stringOf(meta["traceparent"], maxTraceparent); traceparent().MatchString(p) {
		t.Parent = p
		t.State = stringOf(meta["tracestate"], maxTracestate)
	}
	return t, t != tools.Trace{}
}

func stringOf(v any, most int) string {
	if s, ok := v.(string); ok && len(s) <= most {
		return s
	}
	return ""
}
