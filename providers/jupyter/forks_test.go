//go:build linux

package jupyter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// forks are programs that fork, what they and their children print, in any order,
// and how they end.
var forks = []struct {
	name, code     string
	lines          []string
	value, failure string
	stderr         string
}{
	{name: "exit", code: "import os, sys\nif os.fork() == 0:\n  print('child'); sys.exit(0)\nos.wait(); print('parent'); 1/0",
		lines: []string{"child", "parent"}, failure: "ZeroDivisionError"},
	{name: "exit code", code: "import os\nif os.fork() == 0:\n  print('child'); raise SystemExit(5)\nos.waitstatus_to_exitcode(os.wait()[1])",
		lines: []string{"child"}, value: "5"},
	{name: "message", code: "import os, sys\nif os.fork() == 0:\n  sys.exit('said')\nos.waitstatus_to_exitcode(os.wait()[1])", value: "1", stderr: "said"},
	{name: "end of the cell", code: "import os\npid = os.fork()\nif pid: os.wait()\nprint('parent' if pid else 'child')\npid and 7",
		lines: []string{"child", "parent"}, value: "7"},
	{name: "error", code: "import os\nif os.fork() == 0:\n  raise ValueError('of the child')\nos.waitstatus_to_exitcode(os.wait()[1])", value: "1", stderr: "ValueError: of the child"},
	{name: "printed before", code: "import os\nprint('once')\nif os.fork() == 0:\n  print('child')\nelse:\n  os.wait()", lines: []string{"child", "once"}},
	{name: "handlers and files", code: "import atexit, os\natexit.register(print, 'handler')\nf = open('written', 'w')\nif os.fork() == 0:\n  f.write('x'); raise SystemExit\n" +
		"os.wait(); atexit.unregister(print); print(open('written').read())", lines: []string{"handler", "x"}},
	{name: "task", code: "import asyncio, os\nasync def fork():\n  if os.fork() == 0: print('child'); return\n  os.wait(); print('parent')\nawait asyncio.create_task(fork())",
		lines: []string{"child", "parent"}},
}

// TestForkedChild: what a program forks off ends as a process does, and the program
// alone says how it ended itself.
func TestForkedChild(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		pid := c.ok("import os; os.getpid()").Text()
		for _, tt := range forks {
			opts := &codeinterp.RunOptions{Timeout: time.Minute}
			res, err := c.run(tt.code, opts)
			checkFork(t, tt.name, res, err, tt.lines, tt.value, tt.failure, tt.stderr)
			once, err := c.ci.RunCode(t.Context(), "python", tt.code, opts)
			checkFork(t, tt.name+" in RunCode", once, err, tt.lines, tt.value, tt.failure, tt.stderr)
		}
		const large = "import os\nfor i in range(60): print(50_000 * f'{i:02}', flush=True)\nprint('tail', flush=True)\nif os.fork() == 0: raise SystemExit\nos.wait(); print('end')"
		spilled := realSession(t, s, jupyter.Options{Spill: true})
		opts := &codeinterp.RunOptions{Timeout: time.Minute, MaxOutput: 16 << 20}
		if res, err := spilled.run(large, opts); err != nil || !res.OK() || len(res.Stdout()) != 60*100_001+9 || !strings.HasSuffix(res.Stdout(), "59\ntail\nend\n") || len(res.Truncated) > 0 {
			t.Errorf("spooled: %s, error %+v, %d bytes, %+v, %v", res.Status, res.Error, len(res.Stdout()), res.Truncated, err)
		}
		if res := c.ok("os.getpid()"); res.Text() != pid || len(res.Outputs) != 1 {
			t.Errorf("%+v, want the value %s", res, pid)
		}
	})
}

func checkFork(t *testing.T, name string, res codeinterp.Result, err error, lines []string, value, failure, stderr string) {
	t.Helper()
	failed := ""
	if res.Error != nil {
		failed = res.Error.Name
	}
	said := strings.ReplaceAll(res.Stdout(), "\n", "") // which a child's print writes by itself
	wrong := len(said) != len(strings.Join(lines, ""))
	for _, line := range lines {
		wrong = wrong || !strings.Contains(said, line)
	}
	if err != nil || failed != failure || res.OK() != (failure == "") || res.Text() != value || wrong ||
		!strings.Contains(res.Stderr(), stderr) || stderr == "" && res.Stderr() != "" || len(res.Truncated) > 0 {
		t.Errorf("%s: %+v, error %+v, stdout %q, stderr %q, %v", name, res, res.Error, res.Stdout(), res.Stderr(), err)
	}
}
