// Package langchaingo offers Toolcell's tools to models of langchaingo.
//
//	ws, err := workspace.New("demo", workspace.Capabilities{Code: code}, nil)
//	resp, err := model.GenerateContent(ctx, messages, llms.WithTools(toolcell.Tools(ws)))
//	messages = append(messages, toolcell.Answer(ctx, ws, resp.Choices[0])...)
package langchaingo

import (
	"context"
	"encoding/json"

	"github.com/tmc/langchaingo/llms"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

// Tools returns the definitions of a workspace's tools.
func Tools(ws *workspace.Workspace) []llms.Tool {
	var list []llms.Tool
	for _, t := range ws.Tools() {
		list = append(list, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.InputSchema,
		}})
	}
	return list
}

// Answer makes the calls of a model's choice and returns the messages that follow
// it: the choice itself, an answer to each call, and the pictures, if any, in a
// message of their own, since answers have only text here. A call that failed is
// text as well, since the model is to read what to do about it. Nil is for a choice
// without calls.
func Answer(ctx context.Context, ws *workspace.Workspace, choice *llms.ContentChoice) []llms.MessageContent {
	if len(choice.ToolCalls) == 0 {
		return nil
	}
	said := llms.MessageContent{Role: llms.ChatMessageTypeAI}
	if choice.Content != "" {
		said.Parts = append(said.Parts, llms.TextPart(choice.Content))
	}
	answers := llms.MessageContent{Role: llms.ChatMessageTypeTool}
	pictures := llms.MessageContent{Role: llms.ChatMessageTypeHuman}
	for _, call := range choice.ToolCalls {
		said.Parts = append(said.Parts, call)
		a := ws.Dispatch(ctx, call.FunctionCall.Name, json.RawMessage(call.FunctionCall.Arguments), &tools.DispatchOptions{ID: call.ID})
		answers.Parts = append(answers.Parts, llms.ToolCallResponse{ToolCallID: call.ID, Name: call.FunctionCall.Name, Content: a.Text})
		for _, img := range a.Images {
			pictures.Parts = append(pictures.Parts, llms.BinaryPart(img.MIME, img.Data))
		}
	}
	messages := []llms.MessageContent{said, answers}
	if len(pictures.Parts) > 0 {
		messages = append(messages, pictures)
	}
	return messages
}
