package toolcell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme compiles and runs the README's program exactly as it is shown,
// which prints what the README says.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, rest := fenced(t, string(readme), "```go\n")
	want, _ := fenced(t, rest, "```\n")
	main := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(main, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), "go", "run", "-ldflags=-s -w", main)
	cmd.Stderr = &stderr
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if string(got) != want {
		t.Errorf("it prints\n%s\nand the README says\n%s", got, want)
	}
}

// TestFunctionsGuide compiles and runs the lines of the guide to functions.
func TestFunctionsGuide(t *testing.T) {
	guide, err := os.ReadFile("docs/functions.md")
	if err != nil {
		t.Fatal(err)
	}
	lines, _ := fenced(t, string(guide), "```go\n")
	main := filepath.Join(t.TempDir(), "main.go")
	program := `package main

import (
	"context"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
)

func main() {
	ctx := context.Background()
	code, err := inmemory.New(nil)
	if err != nil {
		panic(err)
	}
	` + lines + `
	fmt.Println(res.Text(), err)
}
`
	if err := os.WriteFile(main, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := exec.CommandContext(t.Context(), "go", "run", "-ldflags=-s -w", main).CombinedOutput(); err != nil || string(got) != "30 <nil>\n" {
		t.Errorf("%v\n%s", err, got)
	}
}

// fenced returns the first block of text that opens with the fence, and what
// comes after it.
func fenced(t *testing.T, text, fence string) (block, rest string) {
	t.Helper()
	_, text, ok := strings.Cut(text, fence)
	if ok {
		block, rest, ok = strings.Cut(text, "```\n")
	}
	if !ok {
		t.Fatalf("there is no block of %q", fence)
	}
	return block, rest
}
