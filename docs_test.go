package toolcell_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/tier"
)

var updateGuides = flag.Bool("update-guides", false, "write what the guides' programs print into them")

// TestGuides compiles and runs each guide's program exactly as it is shown,
// which prints what the guide says.
func TestGuides(t *testing.T) {
	python, err := filepath.Abs(".testenv/python")
	if err != nil {
		t.Fatal(err)
	}
	guides, err := filepath.Glob("docs/*.md")
	if err != nil || len(guides) == 0 {
		t.Fatalf("%q, %v", guides, err)
	}
	for _, file := range guides {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "```go\npackage main") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			needs := strings.Contains(string(text), "providers/subprocess") || strings.Contains(string(text), "workspace/local")
			if needs && !tier.Real {
				t.Skip("starts interpreters: tag real")
			}
			t.Parallel()
			guide(t, file, string(text), python)
		})
	}
}

func guide(t *testing.T, file, text, python string) {
	program, rest := fenced(t, text, "```go\n")
	want, _ := fenced(t, rest, "It prints:\n\n```\n")
	main := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(main, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if formatted, err := exec.CommandContext(t.Context(), "gofmt", "-l", main).CombinedOutput(); err != nil || len(formatted) > 0 {
		t.Errorf("gofmt wants to change the program: %s", formatted)
	}
	var stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), "go", "run", "-ldflags=-s -w", main)
	cmd.Env = append(os.Environ(), "VIRTUAL_ENV="+python)
	cmd.Stderr = &stderr
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if *updateGuides {
		text = strings.Replace(text, "It prints:\n\n```\n"+want+"```", "It prints:\n\n```\n"+string(got)+"```", 1)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(got) != want {
		t.Errorf("it prints\n%s\nand the guide says\n%s", got, want)
	}
}

// TestEditorGuide: the configuration is JSON, and its flags are those of the
// command.
func TestEditorGuide(t *testing.T) {
	text, err := os.ReadFile("docs/editor.md")
	if err != nil {
		t.Fatal(err)
	}
	block, _ := fenced(t, string(text), "```json\n")
	var config struct {
		MCPServers map[string]struct{ Args []string }
	}
	if err := json.Unmarshal([]byte(block), &config); err != nil {
		t.Fatal(err)
	}
	flagsOfMCP(t, append(config.MCPServers["toolcell"].Args, "--with", "--env-name", "--python", "--read", "--write", "--allow-unsandboxed"))
}

// TestContainerGuide: what the image starts, and what the guide adds, are flags
// of the command. The image itself is not built here.
func TestContainerGuide(t *testing.T) {
	file, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, entry, ok := strings.Cut(string(file), "\nENTRYPOINT ")
	var words []string
	if err := json.Unmarshal([]byte(entry), &words); !ok || err != nil || words[0] != "toolcell" || words[1] != "mcp" {
		t.Fatalf("%q, %v", entry, err)
	}
	flagsOfMCP(t, append(words, "--max-contexts", "--read", "--http-host", "--allow-unsandboxed"))
}

// TestOperateGuide: the flags are those of the command.
func TestOperateGuide(t *testing.T) {
	text, err := os.ReadFile("docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	flagsOfMCP(t, regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(string(text), -1))
}

// flagsOfMCP checks that the flags among the words are those of toolcell mcp.
func flagsOfMCP(t *testing.T, words []string) {
	t.Helper()
	help, err := exec.CommandContext(t.Context(), "go", "run", "./cmd/toolcell", "mcp", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range words {
		if name, ok := strings.CutPrefix(word, "--"); ok && !strings.Contains(string(help), "      --"+name+" ") {
			t.Errorf("there is no flag %s", word)
		}
	}
}
