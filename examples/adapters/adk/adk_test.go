package adk_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/workspace"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	toolcell "github.com/toolcell/toolcell/examples/adapters/adk"
)

const picture = `display("image/png", "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACAQMAAACnuvRZAAAABlBMVEX///8AAABVwtN+AAAAEElEQVR4nGJoYGAABAAA//8BhACBH+IiYAAAAABJRU5ErkJggg==")`

// A scripted model makes three calls: for a value with a picture, for a program
// that fails, and with arguments that are wrong; then it says that it is done.
type scripted struct{ asked []*model.LLMRequest }

func (*scripted) Name() string { return "scripted" }

func (s *scripted) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	s.asked = append(s.asked, req)
	said := genai.NewContentFromText("done", genai.RoleModel)
	if len(s.asked) == 1 {
		said.Parts = nil
		for _, args := range []map[string]any{{"language": "javascript", "code": picture + "; 6 * 7"}, {"language": "javascript", "code": "null.x"}, {"language": "cobol", "code": ""}} {
			said.Parts = append(said.Parts, genai.NewPartFromFunctionCall("workspace__demo__run_code", args))
		}
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{Content: said, TurnComplete: true}, nil)
	}
}

func TestAgent(t *testing.T) {
	code, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: code}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	llm := &scripted{}
	coder, err := llmagent.New(llmagent.Config{Name: "coder", Model: llm, Tools: toolcell.Tools(ws)})
	if err != nil {
		t.Fatal(err)
	}
	sessions := session.InMemoryService()
	r, err := runner.New(runner.Config{AppName: "test", Agent: coder, SessionService: sessions})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sessions.Create(t.Context(), &session.CreateRequest{AppName: "test", UserID: "u", SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Run(t.Context(), "u", "s", genai.NewContentFromText("go", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(llm.asked) != 2 || len(llm.asked[0].Config.Tools) != 1 {
		t.Fatalf("the model was asked %d times: %+v", len(llm.asked), llm.asked)
	}
	contents := llm.asked[1].Contents
	parts := contents[len(contents)-1].Parts
	if len(parts) != 4 {
		t.Fatalf("%d parts answer the model", len(parts))
	}
	for i, want := range []string{"42", "TypeError", "unsupported_language"} {
		if said, _ := parts[i].FunctionResponse.Response["output"].(string); !strings.Contains(said, want) {
			t.Errorf("answer %d is %+v, want %q in it", i, parts[i].FunctionResponse, want)
		}
	}
	if img := parts[3].InlineData; img == nil || img.MIMEType != "image/png" || len(img.Data) == 0 || parts[0].FunctionResponse.Response["pictures"] != nil {
		t.Errorf("the picture came as %+v", parts[3])
	}
}
