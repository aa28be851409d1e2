// Package adk offers Toolcell's tools to agents of Google's Agent Development Kit.
//
//	ws, err := workspace.New("demo", workspace.Capabilities{Code: code}, nil)
//	a, err := llmagent.New(llmagent.Config{Name: "coder", Model: model, Tools: toolcell.Tools(ws)})
package adk

import (
	"encoding/base64"
	"encoding/json"

	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolutils"
	"google.golang.org/genai"
)

// Tools returns a workspace's tools. Text is a tool's output. A call that failed
// is text as well, since the model is to read what to do about it. Pictures lie
// beside the text in the session, and are shown to the model as pictures.
func Tools(ws *workspace.Workspace) []tool.Tool {
	var list []tool.Tool
	for _, t := range ws.Tools() {
		list = append(list, &adapter{ws, t})
	}
	return list
}

type adapter struct {
	ws   *workspace.Workspace
	tool tools.Tool
}

// Name implements tool.Tool.
func (a *adapter) Name() string { return a.tool.Name }

// Description implements tool.Tool.
func (a *adapter) Description() string { return a.tool.Description }

// IsLongRunning implements tool.Tool: the answer is the whole of it.
func (a *adapter) IsLongRunning() bool { return false }

// Declaration is the tool's definition.
func (a *adapter) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: a.tool.Name, Description: a.tool.Description, ParametersJsonSchema: a.tool.InputSchema}
}

// Run makes a call.
func (a *adapter) Run(ctx agent.Context, args any) (map[string]any, error) {
	given, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	answer := a.ws.Dispatch(ctx, a.tool.Name, given, &tools.DispatchOptions{ID: ctx.FunctionCallID()})
	out := map[string]any{"output": answer.Text}
	var pictures []any // as a session that is kept as JSON gives them back
	for _, img := range answer.Images {
		pictures = append(pictures, map[string]any{"mime": img.MIME, "data": base64.StdEncoding.EncodeToString(img.Data)})
	}
	if len(pictures) > 0 {
		out["pictures"] = pictures
	}
	return out, nil
}

// ProcessRequest tells the model of the tool, and shows it the pictures of earlier
// answers in place of their text.
func (a *adapter) ProcessRequest(_ agent.Context, req *model.LLMRequest) error {
	for i, c := range req.Contents {
		var parts, shown []*genai.Part
		for _, p := range c.Parts {
			bare, pictures := a.split(p)
			parts, shown = append(parts, bare), append(shown, pictures...)
		}
		if len(shown) > 0 { // in a copy: the session keeps its own
			req.Contents[i] = &genai.Content{Role: c.Role, Parts: append(parts, shown...)}
		}
	}
	return toolutils.PackTool(req, a)
}

// split takes the pictures out of an answer of the tool's.
func (a *adapter) split(p *genai.Part) (bare *genai.Part, pictures []*genai.Part) {
	if p.FunctionResponse == nil || p.FunctionResponse.Name != a.tool.Name {
		return p, nil
	}
	list, _ := p.FunctionResponse.Response["pictures"].([]any)
	for _, one := range list {
		img, _ := one.(map[string]any)
		mime, _ := img["mime"].(string)
		text, _ := img["data"].(string)
		if data, err := base64.StdEncoding.DecodeString(text); err == nil {
			pictures = append(pictures, genai.NewPartFromBytes(data, mime))
		}
	}
	if len(pictures) == 0 {
		return p, nil
	}
	part, answer := *p, *p.FunctionResponse
	answer.Response = map[string]any{"output": answer.Response["output"]}
	part.FunctionResponse = &answer
	return &part, pictures
}
