//go:build linux

package jupyter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestAdopt runs code in a kernel that another client works in, and leaves that
// in peace.
func TestAdopt(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		owner := realSession(t, s, jupyter.Options{Tag: "owner"})
		owner.ok("precious = 42")
		ci, err := open(t.Context(), s, jupyter.Options{Grace: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer ci.Close()
		list, err := ci.Kernels(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(k jupyter.KernelInfo) bool {
			return k.Language == "python" && k.Connections > 0 && len(k.Path) > 15 && k.Path[:15] == "toolcell/owner/"
		})
		if i < 0 {
			t.Fatalf("%+v", list)
		}
		id, err := ci.Adopt(t.Context(), list[i].Path)
		if err != nil {
			t.Fatal(err)
		}
		if short, err := ci.Adopt(t.Context(), list[i].ID[:8]); err != nil {
			t.Errorf("by the beginning of its id: %v", err)
		} else if err := ci.DeleteContext(t.Context(), short); err != nil {
			t.Error(err)
		}
		if _, err := ci.Adopt(t.Context(), list[i].ID[:3]); !errors.Is(err, codeinterp.ErrContext) {
			t.Errorf("by too little of it: %v", err)
		}
		foreign := &session{t, ci, id}
		if res := foreign.ok("print(precious)\nmine = 1"); res.Stdout() != "42\n" || res.StateLost {
			t.Errorf("%+v", res)
		}
		if res := owner.ok("print(mine)"); res.Stdout() != "1\n" || res.StateLost {
			t.Errorf("the owner: %+v", res)
		}
		begun, busy := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := owner.run("import time; print('owner', flush=True); time.sleep(2); done = True",
				&codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error { close(begun); return nil }})
			busy <- err
		}()
		<-begun
		if res := foreign.ok("print(done)"); res.Stdout() != "True\n" || len(res.Outputs) != 1 {
			t.Errorf("beside the owner: %+v", res)
		}
		if err := <-busy; err != nil {
			t.Error(err)
		}
		res, err := foreign.run("import time\nwhile True:\n  try:\n    time.sleep(10)\n  except KeyboardInterrupt: time.sleep(6); break", &codeinterp.RunOptions{Timeout: time.Second})
		if res.Status != codeinterp.StatusTimeout || res.StateLost || err != nil && !errors.Is(err, codeinterp.ErrUnavailable) {
			t.Errorf("stubborn: %+v, %v", res, err)
		}
		for name, o := range map[string]*codeinterp.RunOptions{"files": {Files: fstest.MapFS{"a": {}}}, "artifacts": {Artifacts: true}, "environment": {Env: map[string]string{"A": "1"}}} {
			if res, err := foreign.run("1", o); !errors.Is(err, codeinterp.ErrInvalid) || !strings.Contains(err.Error(), "the kernel was adopted, and is left as it is") || res.Status != codeinterp.StatusNotRun {
				t.Errorf("%s: %+v, %v", name, res, err)
			}
		}
		if res, err := foreign.run("print(input())", &codeinterp.RunOptions{Stdin: []byte("line")}); err != nil || res.Stdout() != "line\n" {
			t.Errorf("standard input: %+v, %v", res, err)
		}
		if err := ci.RestartContext(t.Context(), id); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("restart: %v", err)
		}
		if res := foreign.ok("print(precious)"); res.Stdout() != "42\n" {
			t.Errorf("afterwards: %+v", res)
		}
		if err := ci.Close(); err != nil {
			t.Error(err)
		}
		if res := owner.ok("print(precious)"); res.Stdout() != "42\n" || res.StateLost {
			t.Errorf("the owner, afterwards: %+v", res)
		}
	})
}
