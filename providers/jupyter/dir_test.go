//go:build linux

package jupyter_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestDir: with Options.Dir all programs start in one directory, in contexts and
// without, in new kernels and in warm ones, and it is still there afterwards.
func TestDir(t *testing.T) {
	t.Parallel()
	s := sharedServer(t, "server6")
	for name, warm := range map[string]map[string]int{"new": nil, "warm": {"python": 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := realSession(t, s, jupyter.Options{Dir: dir, Warm: warm})
			c.ok("open('a', 'w').write('1')")
			res, err := c.ci.RunCode(t.Context(), "python", "import threading, time\n"+
				"def late():\n    time.sleep(0.1)\n    open('b', 'w').write(open('a').read() + '2')\n"+
				"threading.Thread(target=late).start()", &codeinterp.RunOptions{Artifacts: true})
			if err != nil || !res.OK() || len(res.Artifacts) != 1 || string(res.Artifacts[0].Data) != "12" {
				t.Fatalf("%+v, %v", res, err)
			}
			if b, err := fs.ReadFile(c.directory(), "b"); string(b) != "12" || err != nil {
				t.Errorf("%q, %v", b, err)
			}
			if err := c.ci.RestartContext(t.Context(), c.id); err != nil {
				t.Fatal(err)
			}
			if res := c.ok("print(open('b').read())"); strings.TrimSpace(res.Stdout()) != "12" {
				t.Errorf("after a restart: %+v", res)
			}
			if info := codeinterp.Describe(c.ci); info.Workdir != dir {
				t.Errorf("told %q", info.Workdir)
			}
			own, err := c.ci.CreateContext(t.Context(), "python", &codeinterp.ContextOptions{Cwd: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if res, err := c.ci.RunInContext(t.Context(), own, "import os; print(os.listdir())", nil); err != nil || res.Stdout() != "[]\n" {
				t.Errorf("with a directory of its own: %+v, %v", res, err)
			}
			if err := c.ci.Close(); err != nil {
				t.Error(err)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "b")); string(b) != "12" || err != nil {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
}
