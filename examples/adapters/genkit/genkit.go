// Package genkit offers Toolcell's tools to flows of Firebase Genkit.
//
//	ws, err := workspace.New("demo", workspace.Capabilities{Code: code}, nil)
//	resp, err := genkit.Generate(ctx, g, ai.WithTools(toolcell.Tools(ws)...), ai.WithPrompt("..."))
package genkit

import (
	"encoding/base64"
	"encoding/json"

	"github.com/firebase/genkit/go/ai"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

// Tools returns a workspace's tools. Text is a tool's output, and pictures are
// media parts beside it. A call that failed is text as well, since the model is
// to read what to do about it.
func Tools(ws *workspace.Workspace) []ai.ToolRef {
	var refs []ai.ToolRef
	for _, t := range ws.Tools() {
		var schema map[string]any
		if err := json.Unmarshal(t.InputSchema, &schema); err != nil {
			panic(err) // it is our own
		}
		call := func(ctx *ai.ToolContext, in any) (*ai.MultipartToolResponse, error) {
			args, err := json.Marshal(in)
			if err != nil {
				return nil, err
			}
			return response(ws.Dispatch(ctx, t.Name, args, nil)), nil
		}
		refs = append(refs, ai.NewMultipartTool(t.Name, t.Description, call, ai.WithInputSchema(schema)))
	}
	return refs
}

func response(r *tools.Answer) *ai.MultipartToolResponse {
	out := &ai.MultipartToolResponse{Output: r.Text}
	for _, img := range r.Images {
		out.Content = append(out.Content, ai.NewMediaPart(img.MIME, "data:"+img.MIME+";base64,"+base64.StdEncoding.EncodeToString(img.Data)))
	}
	return out
}
