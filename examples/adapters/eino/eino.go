// Package eino offers Toolcell's tools to agents of CloudWeGo's Eino.
//
//	ws, err := workspace.New("demo", workspace.Capabilities{Code: code}, nil)
//	node, err := compose.NewToolNode(ctx, &compose.ToolsNodeConfig{Tools: toolcell.Tools(ws)})
package eino

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

// Tools returns a workspace's tools, whose results have text and pictures. A
// call that failed is text as well, since the model is to read what to do about
// it.
func Tools(ws *workspace.Workspace) []tool.BaseTool {
	var list []tool.BaseTool
	for _, t := range ws.Tools() {
		list = append(list, &adapter{ws, t})
	}
	return list
}

type adapter struct {
	ws   *workspace.Workspace
	tool tools.Tool
}

var _ tool.EnhancedInvokableTool = (*adapter)(nil)

// Info implements tool.BaseTool.
func (a *adapter) Info(context.Context) (*schema.ToolInfo, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(a.tool.InputSchema, &s); err != nil {
		return nil, err
	}
	return &schema.ToolInfo{Name: a.tool.Name, Desc: a.tool.Description, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(&s)}, nil
}

// InvokableRun implements tool.EnhancedInvokableTool.
func (a *adapter) InvokableRun(ctx context.Context, arg *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	answer := a.ws.Dispatch(ctx, a.tool.Name, json.RawMessage(arg.Text), &tools.DispatchOptions{ID: compose.GetToolCallID(ctx)})
	result := &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: answer.Text}}}
	for _, img := range answer.Images {
		data := base64.StdEncoding.EncodeToString(img.Data)
		result.Parts = append(result.Parts, schema.ToolOutputPart{Type: schema.ToolPartTypeImage,
			Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{MIMEType: img.MIME, Base64Data: &data}}})
	}
	return result, nil
}
