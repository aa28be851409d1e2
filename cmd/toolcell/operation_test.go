package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Tokens are read from a file, one on each line.
func TestTokenFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(name, []byte("# ours\none\n\n  two # of somebody\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := (&operationFlags{tokenFile: name}).tokens("")
	if err != nil || !slices.Equal(list, []string{"one", "two"}) {
		t.Errorf("%q, %v", list, err)
	}
	os.WriteFile(name, []byte("#\n"), 0o600)
	if _, err := (&operationFlags{tokenFile: name}).tokens("other"); err == nil {
		t.Error("a file without tokens is accepted")
	}
}
