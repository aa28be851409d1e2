package langchaingo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/workspace"

	toolcell "github.com/toolcell/toolcell/examples/adapters/langchaingo"
)

const picture = `display(\"image/png\", \"iVBORw0KGgoAAAANSUhEUgAAAAMAAAACAQMAAACnuvRZAAAABlBMVEX///8AAABVwtN+AAAAEElEQVR4nGJoYGAABAAA//8BhACBH+IiYAAAAABJRU5ErkJggg==\")`

// TestAnswer answers a model's three calls: for a value with a picture, for a
// program that fails, and with arguments that are wrong.
func TestAnswer(t *testing.T) {
	code, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: code}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	definitions, err := json.Marshal(toolcell.Tools(ws))
	if err != nil || !strings.Contains(string(definitions), `"name":"workspace__demo__run_code"`) || !strings.Contains(string(definitions), `"parameters":{`) {
		t.Errorf("the definitions are %s, %v", definitions, err)
	}
	choice := &llms.ContentChoice{Content: "let me see"}
	for _, args := range []string{`{"language":"javascript","code":"` + picture + `; 6 * 7"}`, `{"language":"javascript","code":"null.x"}`, `{"language":"cobol","code":""}`} {
		choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: "call" + args[len(args)-3:], Type: "function", FunctionCall: &llms.FunctionCall{Name: "workspace__demo__run_code", Arguments: args}})
	}
	messages := toolcell.Answer(t.Context(), ws, choice)
	if len(messages) != 3 || len(messages[0].Parts) != 4 {
		t.Fatalf("%+v", messages)
	}
	for i, want := range []string{"42", "TypeError", "unsupported_language"} {
		if a, ok := messages[1].Parts[i].(llms.ToolCallResponse); !ok || a.ToolCallID != choice.ToolCalls[i].ID || !strings.Contains(a.Content, want) {
			t.Errorf("answer %d is %+v, want %q in it", i, messages[1].Parts[i], want)
		}
	}
	if img, ok := messages[2].Parts[0].(llms.BinaryContent); !ok || img.MIMEType != "image/png" || len(img.Data) == 0 {
		t.Errorf("the picture came as %+v", messages[2])
	}
	if none := toolcell.Answer(t.Context(), ws, &llms.ContentChoice{Content: "done"}); none != nil {
		t.Errorf("without calls: %+v", none)
	}
}
