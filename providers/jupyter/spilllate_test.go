//go:build linux

package jupyter_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// whose is outputs in short, with what is late in brackets.
func whose(outputs []codeinterp.Output) string {
	var groups []string
	for len(outputs) > 0 {
		n := 1
		for n < len(outputs) && outputs[n].Late == outputs[0].Late {
			n++
		}
		group := sequence(outputs[:n])
		if outputs[0].Late {
			group = "[" + group + "]"
		}
		groups, outputs = append(groups, group), outputs[n:]
	}
	return strings.Join(groups, " ")
}

// await waits for a file.
func await(t *testing.T, file string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return
		}
	}
	t.Errorf("nothing has made %s", file)
}

const (
	lateMuch  = "def others():\n  begin.wait(); begin.clear(); print('L' * 599_999); display('late d'); print('late tail', flush=True); done.set()\n"
	lateWords = "[stdout=600000 display='late d' stdout=10]"
)

// TestSpillOrderOfLate: what a thread of an earlier run prints and shows is in its order, and
// among the run's own, beyond the limit too.
func TestSpillOrderOfLate(t *testing.T) {
	t.Parallel()
	const others, own = "begin.set(); done.wait(); done.clear()\n", "print('mine')\ndisplay('m')\n5"
	const ownWords = "stdout=5 display='m' result=5"
	rows := []struct{ name, code, want string }{
		{"before its own", others + own, lateWords + " " + ownWords},
		{"between its own", "print('now', flush=True)\n" + others + own, "stdout=4 " + lateWords + " " + ownWords},
		{"behind much of its own", "print('x' * 2_299_999, flush=True)\n" + others + own, "stdout=2300000 " + lateWords + " " + ownWords},
	}
	both(t, func(t *testing.T, s *server) {
		words, kept := strings.NewReplacer(), " display='late d' stdout=10] stdout=5"
		if s.kind == "server6" { // whose threads show what is the present run's
			words, kept = strings.NewReplacer(" display='late d' ", "] display='late d' ["), "] stdout=5"
		}
		for _, tt := range rows {
			c := realSession(t, s, jupyter.Options{Spill: true})
			c.ok("import threading\nbegin, done = threading.Event(), threading.Event()\n" + lateMuch + "thread = threading.Thread(target=others); thread.start()")
			res, err := c.run(tt.code, spilling())
			if got := whose(res.Outputs); err != nil || !res.OK() || got != words.Replace(tt.want) || len(res.Truncated) > 0 {
				t.Errorf("%s: %s, %s, %+v, %v", tt.name, res.Status, got, res.Truncated, err)
			}
		}
		c := realSession(t, s, jupyter.Options{Spill: true})
		c.ok("import threading\nfrom IPython.display import clear_output\nbegin, done = threading.Event(), threading.Event()\n" + lateMuch + "thread = threading.Thread(target=others); thread.start()")
		res, err := c.run(others+"clear_output()\nprint('mine')", spilling())
		if got := whose(res.Outputs); err != nil || !res.OK() || !strings.HasPrefix(got, "[stdout=3") || !strings.HasSuffix(got, kept) || len(res.Truncated) > 0 {
			t.Errorf("what is not its own to clear: %s, %s, %+v, %v", res.Status, got, res.Truncated, err)
		}
	})
}

// TestSpillBetweenRuns: what comes between two runs is the head of the next one, whose own
// output is shown while it goes on.
func TestSpillBetweenRuns(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{Spill: true})
		c.ok("import os, threading, time\n" + strings.NewReplacer("begin.wait(); begin.clear()", "await_file(begin)", "done.set()", "time.sleep(1); open(done, 'w').close()").Replace(lateMuch) +
			"def await_file(name):\n  while not os.path.exists(name): time.sleep(.02)")
		for _, time := range []string{"once", "again within the time of the limit"} {
			dir := t.TempDir()
			begin, done, seen := filepath.Join(dir, "begin"), filepath.Join(dir, "done"), filepath.Join(dir, "seen")
			c.ok(fmt.Sprintf("begin, done = %q, %q\nthreading.Thread(target=others).start()", begin, done))
			if err := os.WriteFile(begin, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			await(t, done)
			opts := spilling()
			opts.OnOutput = func(o codeinterp.Output) error {
				if string(o.Data) == "mine\n" {
					return os.WriteFile(seen, nil, 0o600)
				}
				return nil
			}
			res, err := c.run(fmt.Sprintf("print('mine', flush=True)\nawait_file(%q)\n5", seen), opts)
			if got := whose(res.Outputs); err != nil || !res.OK() || got != lateWords+" stdout=5 result=5" || len(res.Truncated) > 0 {
				t.Errorf("%s: %s, %s, %+v, %v", time, res.Status, got, res.Truncated, err)
			}
		}
	})
}
