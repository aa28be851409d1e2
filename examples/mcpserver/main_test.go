package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const asExample = "TOOLCELL_TEST_AS_EXAMPLE"

func TestMain(m *testing.M) {
	if os.Getenv(asExample) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestExample(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), asExample+"=1")
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ tool, code, want string }{
		{"run_code", "6 * 7", "42"},
		{"run_code", "eval('1')", "eval is not allowed"},
		{"current_time", "", "T"},
	} {
		args := map[string]any{}
		if tt.code != "" {
			args = map[string]any{"language": "javascript", "code": tt.code}
		}
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		if text := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, tt.want) {
			t.Errorf("%s %q: %s", tt.tool, tt.code, text)
		}
	}
	if err := c.Close(); err != nil {
		t.Errorf("the example ended with %v", err)
	}
}
