//go:build linux

package jupyter_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// elsewhere has a kernelspec's process be no child of the server's, as that of a
// kernel on another host: one that died is nobody's to bury.
func elsewhere(spec string) string {
	return strings.Replace(spec, `"argv": [`, `"argv": ["sh", "-c", "unset JPY_PARENT_PID; \"$0\" \"$@\" &",`, 1)
}

// TestCluster has a Jupyter Server 2 start kernels by gateway_provisioners, as
// one does whose kernels are on other hosts: its provisioner for several hosts,
// with this one as the only.
func TestCluster(t *testing.T) {
	race.Long(t, "it starts the servers of a cluster")
	t.Parallel()
	spec, err := os.ReadFile(filepath.Join(testenv(), "cluster", "share", "jupyter", "kernels", "cluster", "kernel.json"))
	if err != nil {
		missing(t, true, "no gateway_provisioners: run internal/testenv/jupyter.sh")
	}
	s := ownServer(t, "cluster")
	s.offer(t, map[string]string{"cluster": elsewhere(string(spec))})
	ci, err := open(t.Context(), s, jupyter.Options{Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ci.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if left := s.kernels(t); len(left) > 0 {
			t.Errorf("kernels left on the server: %v", left)
		}
	}()
	if !slices.Contains(ci.Languages(), "python@cluster") {
		t.Fatalf("languages %q", ci.Languages())
	}
	id, err := ci.CreateContext(t.Context(), "python@cluster", nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.log)
	}
	for _, c := range []struct {
		code, stdout string
		timeout      time.Duration
		status       codeinterp.Status
		lost         bool
	}{
		{"x = 6; print('é', 7 * x)", "é 42\n", 0, codeinterp.StatusOK, false},
		{"while True: pass", "", time.Second, codeinterp.StatusTimeout, false},
		{"print(x)", "6\n", 0, codeinterp.StatusOK, false},
		{"1/0", "", 0, codeinterp.StatusError, false},
		{"import os; os.kill(os.getpid(), 9)", "", 0, codeinterp.StatusLost, true},
		{"print('x' in globals())", "False\n", 0, codeinterp.StatusOK, false},
	} {
		res, err := ci.RunInContext(t.Context(), id, c.code, &codeinterp.RunOptions{Timeout: c.timeout})
		if err != nil || res.Status != c.status || res.Stdout() != c.stdout || res.StateLost != c.lost {
			t.Errorf("%q: %+v, %v", c.code, res, err)
		}
	}
}
