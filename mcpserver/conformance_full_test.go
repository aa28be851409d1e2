//go:build full

package mcpserver_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// notOurs matches the scenarios of the official suite about what this server
// does not have: files that change, prompts, completion, logging, questions to the client, audio, and
// answers that are fetched again.
var notOurs = regexp.MustCompile(`^(resources-(subscribe|unsubscribe|read-|templates-read)|prompts-|completion-|logging-|elicitation-|input-required-|server-sse-polling$|` +
	`tools-call-(audio|embedded-resource|mixed-content|with-logging|sampling|elicitation)$)`)

// beside are checks of missing features in other scenarios.
var beside = []string{
	"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
	"sep-2549-prompts-list-caching-hints",
}

// TestConformance runs all of the suite for each revision.
func TestConformance(t *testing.T) {
	judges(t)
	s := newServer(t, newFake(), further(conformanceTools()...))
	url := serve(t, s, nil)
	for revision, atLeast := range map[string]int{"2025-11-25": 12, "2026-07-28": 14} {
		t.Run(revision, func(t *testing.T) {
			cmd := judge(t, "conformance", "server", "--url", url, "--suite", "all", "--spec-version", revision, "-o", "report")
			out, _ := cmd.CombinedOutput()
			reports, _ := filepath.Glob(filepath.Join(cmd.Dir, "report", "*", "checks.json"))
			var passed []string
			for _, report := range reports {
				name := scenario(report)
				if !notOurs.MatchString(name) && conforms(t, name, report) {
					passed = append(passed, name)
				}
			}
			if len(passed) < atLeast {
				t.Errorf("only %d scenarios passed\n%s", len(passed), out)
			}
			t.Logf("passed: %s", strings.Join(passed, ", "))
		})
	}
}

// scenario takes the name out of .../server-NAME-TIME/checks.json.
func scenario(report string) string {
	name := strings.TrimPrefix(filepath.Base(filepath.Dir(report)), "server-")
	return regexp.MustCompile(`-\d{4}-\d\d-\d\dT.*$`).ReplaceAllString(name, "")
}

// conforms reads the report of a scenario.
func conforms(t *testing.T, name, report string) bool {
	raw, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct{ ID, Status, Description, ErrorMessage string }
	if err := json.Unmarshal(raw, &checks); err != nil {
		t.Fatal(err)
	}
	passed, ok := 0, true
	for _, c := range checks {
		switch {
		case c.Status == "SUCCESS":
			passed++
		case c.Status == "FAILURE" && slices.Contains(beside, c.ID):
			t.Logf("%s: beside: %s", name, c.ID)
		case c.Status == "FAILURE":
			t.Errorf("%s: %s: %s: %s", name, c.ID, c.Description, c.ErrorMessage)
			ok = false
		}
	}
	t.Logf("%s: %d of %d checks passed", name, passed, len(checks))
	return ok && passed > 0
}

// conformanceTools are the tools that scenarios call.
func conformanceTools() []tools.Tool {
	schema := json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	plain := func(context.Context, tools.Invocation) *tools.Answer { return &tools.Answer{Text: "done"} }
	tool := func(name string, call func(context.Context, tools.Invocation) *tools.Answer) tools.Tool {
		return tools.Tool{Name: name, Description: "For the conformance suite.", InputSchema: schema, Invoke: call}
	}
	return []tools.Tool{
		tool("test_simple_text", func(context.Context, tools.Invocation) *tools.Answer {
			return &tools.Answer{Text: "This is a simple text response for testing."}
		}),
		tool("test_image_content", func(context.Context, tools.Invocation) *tools.Answer {
			return &tools.Answer{Text: "An image.", Images: []tools.Image{{MIME: "image/png", Data: png}}}
		}),
		tool("test_error_handling", func(context.Context, tools.Invocation) *tools.Answer {
			f := &tools.Failure{Code: tools.CodeInternal, Message: "This tool intentionally returns an error for testing"}
			return &tools.Answer{Text: string(f.JSON()), Failure: f}
		}),
		tool("test_tool_with_progress", func(ctx context.Context, c tools.Invocation) *tools.Answer {
			for range 3 {
				if c.OnOutput != nil {
					c.OnOutput(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte("a step\n")})
				}
				time.Sleep(300 * time.Millisecond)
			}
			return &tools.Answer{Text: "done"}
		}),
		tool("test_logging_tool", plain),
		tool("test_streaming_elicitation", plain),
		{Name: "test_custom_headers", Description: "For the conformance suite.", InputSchema: headerSchema, Invoke: plain},
		{Name: "json_schema_2020_12_tool", Description: "For the conformance suite.", InputSchema: richSchema, Invoke: plain},
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

// judges returns where the official judges are.
func judges(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../.testenv/mcp")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, ".done")); err != nil {
		t.Fatal("the MCP judges are not installed: run make testenv-full")
	}
	return root
}

// judge returns a command that runs one of the official judges.
func judge(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	root := judges(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	script := filepath.Join(root, "node_modules/.bin", name)
	cmd := exec.CommandContext(ctx, filepath.Join(root, "node"), append([]string{script}, args...)...)
	cmd.Dir, cmd.WaitDelay = t.TempDir(), 10*time.Second
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "NO_COLOR=1")
	return cmd
}
