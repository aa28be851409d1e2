//go:build real && linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcell/toolcell/internal/leftover"
)

// TestShell: a person types at a terminal where programs run: Ctrl-C is a program's, the
// directory is there, and the size is this terminal's.
func TestShell(t *testing.T) {
	dir := leftover.Dir(t)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("in the file\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	typeAt(t, []string{"shell", "--dir", dir, "--env", "SAID=some"},
		[2]string{"$ ", "cat a.txt; stty size; echo $SAID\r"}, [2]string{"in the file\r\n24 80\r\nsome", "(echo be''gin; exec sleep 1000)\r"},
		[2]string{"begin\r\n", "\x03"}, [2]string{"$ ", "exit 0\r"})
	template := filepath.Join(dir, "t.json")
	if err := os.WriteFile(template, []byte(`{"files": {"b.txt": "of the template\n"}, "env": {"SAID": "some"}, "limits": {"timeout": "10ms"}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	typeAt(t, []string{"shell", "--template", template}, [2]string{"$ ", "cat b.txt; echo $SAID\r"}, [2]string{"of the template\r\nsome", "exit 0\r"})
	typeAt(t, []string{"shell", "--dir", dir, "python3", "-q"}, [2]string{">>> ", "6 * 7\r"}, [2]string{"42", ""}, [2]string{">>> ", "\x04"})
}
