//go:build linux

package jupyter_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestBash runs a kernel that is neither Python's nor Deno's.
func TestBash(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(testenv(), "server6", "share", "jupyter", "kernels", "bash")); err != nil {
		_, err := os.Stat(filepath.Join(testenv(), "server6", ".done"))
		missing(t, err == nil, "no bash_kernel: run internal/testenv/jupyter.sh")
	}
	ci, err := open(t.Context(), sharedServer(t, "server6"), jupyter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	if !slices.Contains(ci.Languages(), "bash") {
		t.Fatalf("languages %v", ci.Languages())
	}
	id, err := ci.CreateContext(t.Context(), "sh", &codeinterp.ContextOptions{Cwd: "/usr", Env: map[string]string{"GIVEN": "it's \"é\" $x"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code, stdout string
		status       codeinterp.Status
		exit         int
		lost         bool
	}{
		{"x=1; pwd; echo \"$GIVEN\"", "/usr\nit's \"é\" $x\n", codeinterp.StatusOK, 0, false},
		{"echo $x; printf 'a\\nb' | tr b c", "1\na\nc", codeinterp.StatusOK, 0, false},
		{"(exit 3)", "", codeinterp.StatusError, 3, false},
		{"echo before\nexit 3", "before\nexit\nRestarting Bash", codeinterp.StatusLost, 137, true},
		{"x=2; kill -9 $$", "Restarting Bash", codeinterp.StatusLost, 137, true},
		{"echo \"[$x]\"; pwd; echo \"$GIVEN\"", "[]\n/usr\nit's \"é\" $x\n", codeinterp.StatusOK, 0, false},
	} {
		res, err := ci.RunInContext(t.Context(), id, c.code, nil)
		stdout := strings.ReplaceAll(res.Stdout(), "\r", "")
		if err != nil || res.Status != c.status || res.ExitCode != c.exit || res.StateLost != c.lost || strings.TrimSpace(stdout) != strings.TrimSpace(c.stdout) {
			t.Errorf("%q: %q, %+v, %v", c.code, stdout, res, err)
		}
	}
	if res, err := ci.RunInContext(t.Context(), id, "x", &codeinterp.RunOptions{Stdin: []byte("x")}); err == nil || res.Status != codeinterp.StatusNotRun {
		t.Errorf("standard input: %+v, %v", res, err)
	}
}
