package oteltools_test

import (
	"context"
	"encoding/json"
	"fmt"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/oteltools"
	"github.com/toolcell/toolcell/workspace"
)

// A program gives its own providers, or sets the global ones with the otel
// package and leaves the options out.
func Example() {
	spans := tracetest.NewInMemoryExporter()
	opts := &oteltools.Options{
		TracerProvider: trace.NewTracerProvider(trace.WithSyncer(spans)),
		Workspace:      "demo",
	}
	ci := oteltools.Interpreter(&fake{}, opts) // any provider
	list, err := tools.ForCode("demo", ci, nil)
	if err != nil {
		panic(err)
	}
	set, err := tools.NewSet(oteltools.Tools(list, opts), nil)
	if err != nil {
		panic(err)
	}

	set.Dispatch(context.Background(), "workspace__demo__run_code",
		json.RawMessage(`{"language": "python", "code": "print(1)"}`), nil)

	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name)
	}
	// Output:
	// codeinterp run
	// execute_tool run_code
}

// With a workspace, the set that traces stands in for the workspace's own
// Dispatch.
func Example_workspace() {
	spans := tracetest.NewInMemoryExporter()
	opts := &oteltools.Options{TracerProvider: trace.NewTracerProvider(trace.WithSyncer(spans)), Workspace: "demo"}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: oteltools.Interpreter(&fake{}, opts)}, nil)
	if err != nil {
		panic(err)
	}
	defer ws.Close()
	set, err := tools.NewSet(oteltools.Tools(ws.Tools(), opts), nil)
	if err != nil {
		panic(err)
	}

	set.Dispatch(context.Background(), "workspace__demo__create_code_context", json.RawMessage(`{"language": "js"}`), nil)

	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name)
	}
	// Output:
	// codeinterp create context
	// execute_tool create_code_context
}
