package toolcell_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

// Example is the program of the README's first screen.
func Example() {
	ctx := context.Background()
	code, err := inmemory.NewStateful(nil) // or subprocess.NewStateful, jupyter.NewStateful
	if err != nil {
		log.Fatal(err)
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: code}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	definitions, err := tools.OpenAIChat{}.Tools(ws.Tools()) // JSON for the request; or Anthropic, Gemini, MCP, ...
	fmt.Println(len(definitions) > 1000, err)
	reply := ws.Dispatch(ctx, "workspace__demo__run_code", []byte(`{"language":"javascript","code":"6 * 7"}`), nil)
	fmt.Println(reply.Result.Text())
	// Output:
	// true <nil>
	// 42
}

// TestReadmeCompiles keeps the README's program the one that Example runs.
func TestReadmeCompiles(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(readme), "```go\n")
	if !ok {
		t.Fatal("the README has no Go program")
	}
	block, _, _ = strings.Cut(block, "```")
	for line := range strings.Lines(block) {
		if !strings.Contains(string(source), "\t"+strings.TrimRight(line, "\n")) {
			t.Errorf("this line of the README is in no test: %s", line)
		}
	}
}
