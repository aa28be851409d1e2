package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnfed: a file that reads what is piped into the command is told how it gets that.
func TestUnfed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.js")
	if err := os.WriteFile(file, []byte("require('fs').readFileSync(0)"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		hint bool
	}{
		{[]string{"run", file}, true},
		{[]string{"run", "--stdin", file}, false},
		{[]string{"run", "-"}, false},
	} {
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		w.WriteString("require('fs').readFileSync(0)")
		w.Close()
		var out, says bytes.Buffer
		a := &app{stdin: in, stdout: &out, stderr: &says, getenv: func(string) string { return "" }}
		a.main(t.Context(), tt.args)
		in.Close()
		if strings.Contains(says.String(), "--stdin gives it") != tt.hint {
			t.Errorf("%s: %s", tt.args, &says)
		}
	}
}
