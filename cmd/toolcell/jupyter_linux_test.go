//go:build real

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/jupytertest"
)

// TestJupyterAddresses runs a program on a real server, by addresses that it and
// browsers show.
func TestJupyterAddresses(t *testing.T) {
	t.Parallel()
	plain := fmt.Sprint("http://127.0.0.1:", jupytertest.Start(t, nil).Port)
	for _, args := range [][]string{
		{"--url", plain + "/lab/tree/a/x.ipynb?token=" + jupytertest.Token},
		{"--url", plain, "--token", jupytertest.Token, "--kernel", "python3"},
	} {
		code, stdout, stderr := toolcell(t.Context(), "", append([]string{"run", "-e", "print(6*7)"}, args...)...)
		if code != 0 || stdout != "42\n" || stderr != "" && !strings.Contains(stderr, "waiting for") {
			t.Errorf("%q: code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}
