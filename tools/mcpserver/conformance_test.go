package mcpserver_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/mcpserver"
)

// conformance names the scenarios of the official suite that are about what
// this server has, by the revision they are run at. Those about resources,
// prompts, sampling, elicitation, logging and extensions are not.
var conformance = map[string][]string{
	"2025-11-25": {
		"server-initialize", "server-session-lifecycle", "ping", "tools-list", "tools-call-simple-text", "tools-call-image",
		"tools-call-error", "tools-call-with-progress", "server-sse-multiple-streams", "dns-rebinding-protection",
	},
	"2026-07-28": {
		"server-stateless", "tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-error",
		"tools-call-with-progress", "server-sse-multiple-streams", "dns-rebinding-protection", "http-header-validation",
		"http-custom-header-server-validation", "json-schema-2020-12", "caching",
	},
}

// beside names the checks of these scenarios that are about what this server
// has not: tools that ask the client back, and lists of other things.
var beside = []string{
	"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
	"sep-2549-prompts-list-caching-hints", "sep-2549-resources-list-caching-hints",
	"sep-2549-resources-templates-list-caching-hints", "sep-2549-resources-read-caching-hints",
}

func TestConformance(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	judges(t)
	url := serve(t, newServer(t, newFake(), &mcpserver.Options{More: conformanceTools()}), nil)
	t.Run("suite", func(t *testing.T) {
		for revision, scenarios := range conformance {
			for _, scenario := range scenarios {
				t.Run(revision+"/"+scenario, func(t *testing.T) {
					t.Parallel()
					conform(t, url, revision, scenario)
				})
			}
		}
	})
}

// conform runs a scenario and reads the report that it writes.
func conform(t *testing.T, url, revision, scenario string) {
	cmd := judge(t, "conformance", "server", "--url", url, "--scenario", scenario, "--spec-version", revision, "-o", "report")
	out, _ := cmd.CombinedOutput()
	reports, _ := filepath.Glob(filepath.Join(cmd.Dir, "report", "*", "checks.json"))
	if len(reports) != 1 {
		t.Fatalf("%d reports\n%s", len(reports), out)
	}
	raw, err := os.ReadFile(reports[0])
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct{ ID, Status, Description, ErrorMessage string }
	if err := json.Unmarshal(raw, &checks); err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, c := range checks {
		switch {
		case c.Status == "SUCCESS":
			passed++
		case c.Status == "FAILURE" && !slices.Contains(beside, c.ID):
			t.Errorf("%s: %s: %s", c.ID, c.Description, c.ErrorMessage)
		case c.Status == "FAILURE":
			t.Logf("beside: %s: %s", c.ID, c.ErrorMessage)
		}
	}
	if passed == 0 {
		t.Errorf("no check passed\n%s", out)
	}
	t.Logf("%d of %d checks passed", passed, len(checks))
}

// conformanceTools are the tools that scenarios call.
func conformanceTools() []tools.Tool {
	schema := json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	plain := func(context.Context, tools.Call) *tools.Reply { return &tools.Reply{Text: "done"} }
	tool := func(name string, call func(context.Context, tools.Call) *tools.Reply) tools.Tool {
		return tools.Tool{Name: name, Description: "For the conformance suite.", InputSchema: schema, Call: call}
	}
	return []tools.Tool{
		tool("test_simple_text", func(context.Context, tools.Call) *tools.Reply {
			return &tools.Reply{Text: "This is a simple text response for testing."}
		}),
		tool("test_image_content", func(context.Context, tools.Call) *tools.Reply {
			return &tools.Reply{Text: "An image.", Images: []tools.Image{{MIME: "image/png", Data: png}}}
		}),
		tool("test_error_handling", func(context.Context, tools.Call) *tools.Reply {
			f := &tools.Failure{Code: tools.CodeInternal, Message: "This tool intentionally returns an error for testing"}
			return &tools.Reply{Text: string(f.JSON()), Failure: f}
		}),
		tool("test_tool_with_progress", func(ctx context.Context, c tools.Call) *tools.Reply {
			for range 3 {
				if c.OnOutput != nil {
					c.OnOutput(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte("a step\n")})
				}
				time.Sleep(300 * time.Millisecond)
			}
			return &tools.Reply{Text: "done"}
		}),
		tool("test_logging_tool", plain),
		tool("test_streaming_elicitation", plain),
		{Name: "test_custom_headers", Description: "For the conformance suite.", InputSchema: headerSchema, Call: plain},
		{Name: "json_schema_2020_12_tool", Description: "For the conformance suite.", InputSchema: richSchema, Call: plain},
	}
}

// headerSchema has an argument that clients repeat in a header.
var headerSchema = json.RawMessage(`{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}`)

// richSchema has the keywords that servers and SDKs tend to lose.
var richSchema = json.RawMessage(`{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"city": {"type": "string"}, "street": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"}, "phone": {"type": "string"}, "email": {"type": "string"},
		"address": {"$ref": "#/$defs/address"}, "contactMethod": {"enum": ["phone", "email"], "type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`)
