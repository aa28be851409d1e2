package genkit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/workspace"

	toolcell "github.com/toolcell/toolcell/examples/adapters/genkit"
)

const picture = `display("image/png", "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACAQMAAACnuvRZAAAABlBMVEX///8AAABVwtN+AAAAEElEQVR4nGJoYGAABAAA//8BhACBH+IiYAAAAABJRU5ErkJggg==")`

// TestFlow lets a scripted model call a tool three times: for a value with a
// picture, for a program that fails, and with arguments that are wrong.
func TestFlow(t *testing.T) {
	code, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: code}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	g := genkit.Init(t.Context())
	calls := []map[string]any{
		{"language": "javascript", "code": picture + "; 6 * 7"},
		{"language": "javascript", "code": "null.x"},
		{"language": "javascript", "code": "a\x00b"},
	}
	var answers []*ai.ToolResponse
	model := genkit.DefineModel(g, "test/scripted", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}},
		func(_ context.Context, req *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
			for _, p := range req.Messages[len(req.Messages)-1].Content {
				if p.IsToolResponse() {
					answers = append(answers, p.ToolResponse)
				}
			}
			if len(answers) == len(calls) {
				return &ai.ModelResponse{Request: req, Message: ai.NewModelTextMessage("done")}, nil
			}
			part := ai.NewToolRequestPart(&ai.ToolRequest{Name: req.Tools[0].Name, Input: calls[len(answers)]})
			return &ai.ModelResponse{Request: req, Message: ai.NewModelMessage(part)}, nil
		})
	resp, err := genkit.Generate(t.Context(), g, ai.WithModel(model), ai.WithTools(toolcell.Tools(ws)...), ai.WithPrompt("go"), ai.WithMaxTurns(5))
	if err != nil || resp.Text() != "done" {
		t.Fatal(resp, err)
	}
	for i, want := range []string{"42", "TypeError", "invalid_arguments"} {
		if text, ok := answers[i].Output.(string); !ok || !strings.Contains(text, want) {
			t.Errorf("answer %d is %v, want %q in it", i, answers[i].Output, want)
		}
	}
	if media := answers[0].Content; len(media) != 1 || media[0].ContentType != "image/png" {
		t.Errorf("the picture came as %v", media)
	}
}
