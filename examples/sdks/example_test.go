package sdks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/tmc/langchaingo/llms"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/format"
	"github.com/toolcell/toolcell/workspace"
	"google.golang.org/genai"
)

// open returns a workspace on an embedded engine.
func open() *workspace.Workspace {
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		log.Fatal(err)
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: ci}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return ws
}

// into decodes one of our JSON forms into a type of an SDK.
func into[T any](raw json.RawMessage, err error) (v T) {
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func Example_openAIChat() {
	ws := open()
	defer ws.Close()
	params := openai.ChatCompletionNewParams{
		Model: "gpt-5",
		Tools: into[[]openai.ChatCompletionToolUnionParam](format.OpenAIChat{Strict: true}.Tools(ws.Tools())),
	}
	// A call as the model makes it, and its answer.
	call := openai.ChatCompletionMessageFunctionToolCall{ID: "call_1", Function: openai.ChatCompletionMessageFunctionToolCallFunction{
		Name: "workspace__demo__run_code", Arguments: `{"language":"javascript","code":"6 * 7","timeoutMs":null}`,
	}}
	reply := ws.Dispatch(context.Background(), call.Function.Name, json.RawMessage(call.Function.Arguments), &tools.DispatchOptions{ID: call.ID})
	params.Messages = append(params.Messages, into[[]openai.ChatCompletionMessageParamUnion](format.OpenAIChat{}.Results(reply), nil)...)
	fmt.Println(len(params.Tools), params.Messages[0].OfTool.ToolCallID)
	// Output: 4 call_1
}

func Example_openAIResponses() {
	ws := open()
	defer ws.Close()
	params := responses.ResponseNewParams{
		Model: "gpt-5",
		Tools: into[[]responses.ToolUnionParam](format.OpenAIResponses{Strict: true}.Tools(ws.Tools())),
	}
	reply := ws.Dispatch(context.Background(), "workspace__demo__run_code",
		[]byte(`{"language":"javascript","code":"6 * 7","timeoutMs":null}`), &tools.DispatchOptions{ID: "call_1"})
	params.Input.OfInputItemList = append(params.Input.OfInputItemList, into[responses.ResponseInputParam](format.OpenAIResponses{}.Results(reply), nil)...)
	fmt.Println(len(params.Tools), params.Input.OfInputItemList[0].OfFunctionCallOutput.Output.OfString.Value)
	// Output:
	// 4 ok
	// --- result ---
	// 42
}

func Example_anthropic() {
	ws := open()
	defer ws.Close()
	params := anthropic.MessageNewParams{
		Model: "claude-opus-4-5", MaxTokens: 1000,
		Tools: into[[]anthropic.ToolUnionParam](format.Anthropic{}.Tools(ws.Tools())),
	}
	use := anthropic.ToolUseBlock{ID: "toolu_1", Name: "workspace__demo__run_code", Input: []byte(`{"language":"javascript","code":"6 * 7"}`)}
	reply := ws.Dispatch(context.Background(), use.Name, use.Input, &tools.DispatchOptions{ID: use.ID})
	params.Messages = append(params.Messages, into[anthropic.MessageParam](format.Anthropic{}.Results(reply), nil))
	fmt.Println(len(params.Tools), params.Messages[0].Content[0].OfToolResult.ToolUseID)
	// Output: 4 toolu_1
}

func Example_gemini() {
	ws := open()
	defer ws.Close()
	config := genai.GenerateContentConfig{Tools: into[[]*genai.Tool](format.Gemini{}.Tools(ws.Tools()))}
	call := genai.FunctionCall{ID: "1", Name: "workspace__demo__run_code", Args: map[string]any{"language": "javascript", "code": "6 * 7"}}
	args, err := json.Marshal(call.Args)
	if err != nil {
		log.Fatal(err)
	}
	reply := ws.Dispatch(context.Background(), call.Name, args, &tools.DispatchOptions{ID: call.ID})
	content := into[*genai.Content](format.Gemini{}.Results(reply), nil)
	fmt.Printf("%d %q\n", len(config.Tools[0].FunctionDeclarations), content.Parts[0].FunctionResponse.Response["output"])
	// Output: 4 "ok\n--- result ---\n42\n"
}

func Example_langchaingo() {
	ws := open()
	defer ws.Close()
	option := llms.WithTools(into[[]llms.Tool](format.OpenAIChat{}.Tools(ws.Tools())))
	fmt.Println(option != nil)
	// Output: true
}

// With an MCP server of one's own; package mcpserver is a complete one.
func Example_mcp() {
	ws := open()
	defer ws.Close()
	server := mcp.NewServer(&mcp.Implementation{Name: "demo", Version: "1"}, nil)
	for _, tool := range into[[]*mcp.Tool](format.MCP{}.Tools(ws.Tools())) {
		server.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			reply := ws.Dispatch(ctx, req.Params.Name, req.Params.Arguments, nil)
			return into[*mcp.CallToolResult](format.MCP{}.Result(reply), nil), nil
		})
	}
	ctx := context.Background()
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, here, nil); err != nil {
		log.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, there, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	res, err := session.CallTool(ctx, &mcp.CallToolParams{
		Name: "workspace__demo__run_code", Arguments: map[string]any{"language": "javascript", "code": "6 * 7"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Content[0].(*mcp.TextContent).Text)
	// Output:
	// ok
	// --- result ---
	// 42
}
