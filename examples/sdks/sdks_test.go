package sdks_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/tmc/langchaingo/llms"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/format"
	"google.golang.org/genai"
)

// newSet makes the tools of an embedded engine.
func newSet(t *testing.T) *tools.Set {
	t.Helper()
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	list, err := tools.ForCode("demo", ci, &tools.Options{ManageContexts: true, ReadOutput: true})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// turn is a model's turn with three calls: one shows an image, the program of
// one fails, and one is malformed.
func turn(t *testing.T) []*tools.Answer {
	t.Helper()
	set := newSet(t)
	call := func(id, code string) *tools.Answer {
		args, err := json.Marshal(map[string]string{"language": "javascript", "code": code})
		if err != nil {
			t.Fatal(err)
		}
		return set.Dispatch(t.Context(), "workspace__demo__run_code", args, &tools.DispatchOptions{ID: id})
	}
	const png = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACAQMAAACnuvRZAAAABlBMVEX///8AAABVwtN+AAAAEElEQVR4nGJoYGAABAAA//8BhACBH+IiYAAAAABJRU5ErkJggg=="
	replies := []*tools.Answer{
		call("call_1", "console.log('<see>'); display('image/png', Uint8Array.from(atob('"+png+"'), (c) => c.charCodeAt(0)))"),
		call("call_2", "throw new RangeError('too far')"),
		set.Dispatch(t.Context(), "workspace__demo__run_code", []byte(`{"code":`), &tools.DispatchOptions{ID: "call_3"}),
	}
	if len(replies[0].Images) != 1 || replies[1].Result.Status != codeinterp.StatusError || replies[2].Failure == nil {
		t.Fatalf("%s\n%s\n%s", replies[0].Text, replies[1].Text, replies[2].Text)
	}
	return replies
}

// roundTrip decodes raw into an SDK's type and compares what that type encodes
// with raw, so that nothing is lost on the way to the API.
func roundTrip[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	again, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(again, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%T: got\n%s\nwant\n%s", v, again, raw)
	}
	return v
}

func must(t *testing.T) func(json.RawMessage, error) json.RawMessage {
	return func(raw json.RawMessage, err error) json.RawMessage {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
}

func TestOpenAIChat(t *testing.T) {
	list, replies := newSet(t).Tools(), turn(t)
	for _, strict := range []bool{false, true} {
		defs := roundTrip[[]openai.ChatCompletionToolUnionParam](t, must(t)(format.OpenAIChat{Strict: strict}.Tools(list)))
		if len(defs) != len(list) || defs[0].OfFunction == nil || defs[0].OfFunction.Function.Name != list[0].Name {
			t.Errorf("got %+v", defs)
		}
	}
	messages := roundTrip[[]openai.ChatCompletionMessageParamUnion](t, format.OpenAIChat{}.Results(replies...))
	if len(messages) != 4 || messages[0].OfTool == nil || messages[2].OfTool == nil || messages[3].OfUser == nil {
		t.Fatalf("got %+v", messages)
	}
	parts := messages[3].OfUser.Content.OfArrayOfContentParts
	if len(parts) != 2 || parts[1].OfImageURL == nil {
		t.Errorf("got %+v", parts)
	}
}

func TestOpenAIResponses(t *testing.T) {
	list, replies := newSet(t).Tools(), turn(t)
	for _, strict := range []bool{false, true} {
		defs := roundTrip[[]responses.ToolUnionParam](t, must(t)(format.OpenAIResponses{Strict: strict}.Tools(list)))
		if len(defs) != len(list) || defs[0].OfFunction == nil {
			t.Errorf("got %+v", defs)
		}
	}
	items := roundTrip[responses.ResponseInputParam](t, format.OpenAIResponses{}.Results(replies...))
	if len(items) != 3 || items[0].OfFunctionCallOutput == nil || items[0].OfFunctionCallOutput.CallID.Value != "call_1" {
		t.Errorf("got %+v", items)
	}
}

func TestAnthropic(t *testing.T) {
	list, replies := newSet(t).Tools(), turn(t)
	defs := roundTrip[[]anthropic.ToolUnionParam](t, must(t)(format.Anthropic{}.Tools(list)))
	if len(defs) != len(list) || defs[0].OfTool == nil || defs[0].OfTool.Name != list[0].Name {
		t.Errorf("got %+v", defs)
	}
	message := roundTrip[anthropic.MessageParam](t, format.Anthropic{}.Results(replies...))
	if message.Role != anthropic.MessageParamRoleUser || len(message.Content) != 3 {
		t.Fatalf("got %+v", message)
	}
	first, last := message.Content[0].OfToolResult, message.Content[2].OfToolResult
	if first == nil || len(first.Content) != 2 || first.Content[1].OfImage == nil || first.IsError.Value || !last.IsError.Value {
		t.Errorf("got %+v", message.Content)
	}
}

func TestGemini(t *testing.T) {
	list, replies := newSet(t).Tools(), turn(t)
	defs := roundTrip[[]*genai.Tool](t, must(t)(format.Gemini{}.Tools(list)))
	if len(defs) != 1 || len(defs[0].FunctionDeclarations) != len(list) || defs[0].FunctionDeclarations[0].ParametersJsonSchema == nil {
		t.Errorf("got %+v", defs)
	}
	content := roundTrip[*genai.Content](t, format.Gemini{}.Results(replies...))
	if len(content.Parts) != 3 {
		t.Fatalf("got %+v", content)
	}
	first, last := content.Parts[0].FunctionResponse, content.Parts[2].FunctionResponse
	if first.Response["output"] == nil || len(first.Parts) != 1 || !bytes.HasPrefix(first.Parts[0].InlineData.Data, []byte("\x89PNG")) || last.Response["error"] == nil {
		t.Errorf("got %+v, %+v", first, last)
	}
}

func TestMCP(t *testing.T) {
	list := newSet(t).Tools()
	defs := roundTrip[[]*mcp.Tool](t, must(t)(format.MCP{}.Tools(list)))
	if len(defs) != len(list) || defs[0].Annotations.DestructiveHint == nil {
		t.Errorf("got %+v", defs)
	}
	for _, r := range turn(t) {
		res := roundTrip[*mcp.CallToolResult](t, format.MCP{}.Result(r))
		if _, ok := res.Content[0].(*mcp.TextContent); !ok || res.IsError != (r.Failure != nil) || (res.StructuredContent == nil) != res.IsError {
			t.Errorf("got %+v", res)
		}
		if len(res.Content) != 1+len(r.Images) {
			t.Errorf("%d blocks", len(res.Content))
		}
	}
}

// TestLangchain: the definitions are those of OpenAI.
func TestLangchain(t *testing.T) {
	list := newSet(t).Tools()
	defs := roundTrip[[]llms.Tool](t, must(t)(format.OpenAIChat{Strict: true}.Tools(list)))
	if len(defs) != len(list) || defs[0].Function.Name != list[0].Name {
		t.Errorf("got %+v", defs)
	}
}
