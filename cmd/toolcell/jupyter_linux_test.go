//go:build real

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/jupytertest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestJupyterAddresses runs a program on a real server, by addresses that it and
// browsers show.
func TestJupyterAddresses(t *testing.T) {
	t.Parallel()
	plain := fmt.Sprint("http://127.0.0.1:", jupytertest.ServerWith(t))
	for _, args := range [][]string{
		{"--url", plain + "/lab/tree/a/x.ipynb?token=T"},
		{"--url", plain, "--token", "T", "--header", "X-A: b", "--kernel", "python3"},
	} {
		code, stdout, stderr := toolcell(t.Context(), "", append([]string{"run", "-e", "print(6*7)"}, args...)...)
		if code != 0 || stdout != "42\n" || stderr != "" && !strings.Contains(stderr, "waiting for") {
			t.Errorf("%q: code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// TestJupyterSweep leaves kernels behind, as killed commands do: sweep deletes those with
// the tag that are idle.
func TestJupyterSweep(t *testing.T) {
	t.Parallel()
	address := jupytertest.Server(t)
	sweep := func(want string, args ...string) {
		t.Helper()
		code, stdout, stderr := toolcell(t.Context(), "", append([]string{"sweep", "--url", address}, args...)...)
		if code != 0 || stdout != want || stderr != "" {
			t.Errorf("%q: code %d, %q, %q", args, code, stdout, stderr)
		}
	}
	other, err := jupyter.NewStateful(t.Context(), &jupyter.Options{URL: address, Tag: "other"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	sweep("no kernel was left behind that has been idle for 10m0s; --idle says for how long\n")
	leaveBehind(t, other, address, "other")
	leaveBehind(t, other, address, jupyter.DefaultTag)
	sweep("no kernel was left behind that has been idle for 10m0s; --idle says for how long\n") // it was active a moment ago
	sweep("deleted 1 kernel that was left behind\n", "--idle", "0s")
}

// leaveBehind starts a kernel and leaves it, and returns when the server has
// noticed.
func leaveBehind(t *testing.T, see *jupyter.Stateful, address, tag string) {
	t.Helper()
	ci, err := jupyter.NewStateful(t.Context(), &jupyter.Options{URL: address, Tag: tag})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	id, err := ci.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ci.Detach(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		list, err := see.Kernels(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		connected := 0
		for _, k := range list {
			connected += k.Connections
		}
		if connected == 0 {
			return
		}
	}
	t.Fatal("the server counts a client that has left")
}
