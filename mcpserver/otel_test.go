package mcpserver_test

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/oteltools"
)

// TestSpansHaveTheClientAsParent joins the server with OpenTelemetry.
func TestSpansHaveTheClientAsParent(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	opts := &oteltools.Options{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))}
	c := connect(t, newServer(t, newFake(), &mcpserver.Options{
		Tools: func(list []tools.Tool) []tools.Tool { return oteltools.Tools(list, opts) },
	}), nil)
	const traceID, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	params := &mcp.CallToolParams{
		Meta: mcp.Meta{"traceparent": "00-" + traceID + "-" + parent + "-01"},
		Name: "run_code", Arguments: object("language", "python", "code", "print x"),
	}
	if _, err := c.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	got := spans.GetSpans()
	if len(got) != 1 || got[0].Name != "execute_tool run_code" || got[0].Parent.TraceID().String() != traceID || got[0].Parent.SpanID().String() != parent {
		t.Errorf("spans: %+v", got)
	}
}
