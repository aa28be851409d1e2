//go:build real

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/leftover"
)

// TestMCPDirectory: over MCP, code, files and commands are in one directory, and
// what runs in the background ends with the server.
func TestMCPDirectory(t *testing.T) {
	if !works(t, "subprocess") {
		t.Skip("no subprocess provider") // in CI works has failed
	}
	dir := leftover.Dir(t)
	c, hangUp := serveMCP(t, "--files", "--shell", "--background", "--stateless", "--dir", dir, "--languages", "bash")
	const want = "command_input command_output edit_file glob grep list_commands list_files read_file remove_file run_code run_command start_command stop_command write_file"
	if got := toolNames(t, c); got != want {
		t.Errorf("tools: %s", got)
	}
	callTool(t, c, "write_file", "path", "a/b", "content", "file\n")
	callTool(t, c, "run_code", "language", "bash", "code", "echo code >>a/b")
	if text, _ := callTool(t, c, "run_command", "command", "pwd; cat b", "cwd", "a"); !strings.Contains(text, filepath.Join(dir, "a")+"\nfile\ncode\n") {
		t.Errorf("run_command: %s", text)
	}
	_, started := callTool(t, c, "start_command", "command", "trap '' TERM HUP; echo $$ >pid; sleep 300 & sleep 300")
	id, _ := started["commandId"].(string)
	if text, _ := callTool(t, c, "list_commands"); !strings.Contains(text, id) || id == "" {
		t.Errorf("list_commands: %s", text)
	}
	if code := hangUp(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
