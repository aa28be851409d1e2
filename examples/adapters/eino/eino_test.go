package eino_test

import (
	"strings"
	"testing"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/workspace"

	toolcell "github.com/toolcell/toolcell/examples/adapters/eino"
)

const picture = `display(\"image/png\", \"iVBORw0KGgoAAAANSUhEUgAAAAMAAAACAQMAAACnuvRZAAAABlBMVEX///8AAABVwtN+AAAAEElEQVR4nGJoYGAABAAA//8BhACBH+IiYAAAAABJRU5ErkJggg==\")`

// TestNode sends a model's three calls through a tools node: for a value with a
// picture, for a program that fails, and with arguments that are wrong.
func TestNode(t *testing.T) {
	code, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: code}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	node, err := compose.NewToolNode(t.Context(), &compose.ToolsNodeConfig{Tools: toolcell.Tools(ws)})
	if err != nil {
		t.Fatal(err)
	}
	var calls []schema.ToolCall
	for _, args := range []string{`{"language":"javascript","code":"` + picture + `; 6 * 7"}`, `{"language":"javascript","code":"null.x"}`, `{"language":"cobol","code":""}`} {
		calls = append(calls, schema.ToolCall{ID: "call" + args[len(args)-3:], Function: schema.FunctionCall{Name: "workspace__demo__run_code", Arguments: args}})
	}
	answers, err := node.Invoke(t.Context(), schema.AssistantMessage("", calls))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"42", "TypeError", "unsupported_language"} {
		parts := answers[i].UserInputMultiContent
		if len(parts) == 0 || !strings.Contains(parts[0].Text, want) {
			t.Errorf("answer %d is %+v, want %q in it", i, answers[i], want)
		}
	}
	if parts := answers[0].UserInputMultiContent; len(parts) != 2 || parts[1].Image == nil || parts[1].Image.MIMEType != "image/png" {
		t.Errorf("the picture came as %+v", parts)
	}
}
