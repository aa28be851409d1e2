//go:build linux

package jupyter_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// large prints four million bytes, which is more than a server lets through at once.
const large = "for _ in range(40): sys.stdout.write('x' * 99_999 + '\\n')\nsys.stdout.flush()\n"

// spilling is how runs are made whose output is large.
func spilling() *codeinterp.RunOptions {
	return &codeinterp.RunOptions{Timeout: 2 * time.Minute, MaxOutput: 32 << 20}
}

// sizes returns how many bytes of standard output are the run's, how many are late, and
// how many are told to be missing, -1 where something else is.
func sizes(res codeinterp.Result) (own, late, lost int) {
	for _, o := range res.Outputs {
		switch {
		case o.Kind != codeinterp.Stdout:
		case o.Late:
			late += len(o.Data)
		default:
			own += len(o.Data)
		}
	}
	for _, t := range res.Truncated {
		if t.Stream != "stdout" || t.Reason != codeinterp.TruncatedByLimit || t.Kept != int64(own+late) {
			return own, late, -1
		}
		lost = int(t.Bytes - t.Kept)
	}
	return own, late, lost
}

// TestSpillBesideOthers: a program's output comes whole, whatever a thread of an earlier
// run or a child process prints beside it, and that comes too.
func TestSpillBesideOthers(t *testing.T) {
	t.Parallel()
	for i, tt := range []struct{ name, before, code, others, after string }{
		{"a line of a thread", "begin = threading.Event()\ndef print_late(): begin.wait(); print('late', flush=True)\nthread = threading.Thread(target=print_late); thread.start()",
			large + "begin.set(); thread.join()\n" + large, "late\n", ""},
		{"lines of a thread", "over = threading.Event()\ndef print_late():\n  while not over.wait(0.05): print('late', flush=True)\nthread = threading.Thread(target=print_late); thread.start()",
			large + "time.sleep(0.5)\n" + large, "late\n", "over.set(); thread.join()"},
		{"a child", "import subprocess\nchild = subprocess.Popen(['sh', '-c', 'while :; do echo late; sleep 0.05; done'])",
			large + "time.sleep(0.5)\n" + large, "late\n", "child.kill(); _ = child.wait()"},
		{"a thread that threading does not know", "import _thread\nover = threading.Event()\ndef print_late():\n  while not over.wait(0.05): print('late', flush=True)\n_ = _thread.start_new_thread(print_late, ())",
			large + "time.sleep(0.5)\n" + large, "late\n", "over.set()"},
	} {
		if !race.Takes(i, 2) {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			both(t, func(t *testing.T, s *server) {
				c := realSession(t, s, jupyter.Options{Spill: true})
				c.ok("import sys, threading, time\n" + tt.before)
				res, err := c.run(tt.code, spilling())
				own, others := strings.ReplaceAll(res.Stdout(), tt.others, ""), strings.Count(everything(res), tt.others)
				if err != nil || !res.OK() || len(res.Truncated) > 0 || len(own) != 8_000_000 || others == 0 {
					t.Errorf("%s, %d bytes of its own, %d of the others' lines, %+v, %v", res.Status, len(own), others, res.Truncated, err)
				}
				if tt.after == "" {
					return
				}
				// What comes while the output is fetched, and after that, is late.
				time.Sleep(300 * time.Millisecond)
				if res := c.ok(tt.after); lateText(res.Outputs) == "" || len(res.Truncated) > 0 {
					t.Errorf("between two runs: %+v", res)
				}
			})
		})
	}
}

// TestSpillOfEarlierRuns: what a thread of an earlier run prints, beyond what is kept of
// it, is counted to the byte, during a run and between two.
func TestSpillOfEarlierRuns(t *testing.T) {
	t.Parallel()
	const printed = 6_000_000
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{Spill: true})
		begin, end := filepath.Join(t.TempDir(), "begin"), filepath.Join(t.TempDir(), "end")
		thread := fmt.Sprintf("import os, sys, threading, time\ndef flood():\n  while not os.path.exists(%[1]q): time.sleep(0.02)\n"+
			"  for _ in range(60): sys.stdout.write('x' * 99_999 + '\\n')\n  sys.stdout.flush(); os.remove(%[1]q); open(%[2]q, 'w').close()\n"+
			"thread = threading.Thread(target=flood); thread.start()", begin, end)
		check := func(when string, res codeinterp.Result, err error, own int) {
			t.Helper()
			n, late, lost := sizes(res)
			if err != nil || !res.OK() || n != own || late+lost != printed || late < 1<<19 || late > 2<<20 {
				t.Errorf("%s: %s, %d bytes of its own, %d late, %d lost, %+v, %v", when, res.Status, n, late, lost, res.Truncated, err)
			}
		}
		c.ok(thread)
		res, err := c.run(fmt.Sprintf("open(%q, 'w').close(); thread.join()\nprint('own')", begin), spilling())
		check("during a run", res, err, 4)

		c.ok("os.remove(" + strconv.Quote(end) + ")\n" + thread)
		if err := os.WriteFile(begin, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(end); err == nil {
				break
			}
		}
		res, err = c.run("thread.join(); print('own')", spilling())
		check("between two runs", res, err, 4)
		if res := c.ok("print('own')"); res.Stdout() != "own\n" || len(res.Outputs) != 1 || len(res.Truncated) > 0 {
			t.Errorf("after that: %+v", res)
		}

		c.ok(thread)
		res, err = c.run(fmt.Sprintf("open(%q, 'w').close()\n", begin)+large+"thread.join()\n"+large, spilling())
		check("beside a large run", res, err, 8_000_000)
	})
}

// TestSpillThatEndsEarly: what a program had printed when it was stopped comes whole,
// and what may have gone with a kernel that died is told.
func TestSpillThatEndsEarly(t *testing.T) {
	t.Parallel()
	const code = "import sys, time\n" + large + "display('shown'); print('end', flush=True)\n"
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{Spill: true, Grace: 5 * time.Minute})
		manager, _ := codeinterp.Manager(c.ci)
		opts := spilling()
		opts.Timeout = 10 * time.Second
		res, err := c.run(code+"time.sleep(600)", opts)
		if got := sequence(res.Outputs); err != nil || res.Status != codeinterp.StatusTimeout || res.StateLost || len(res.Truncated) > 0 || got != "stdout=4000000 display='shown' stdout=4" {
			t.Errorf("timeout: %s, %s, %+v, %v", res.Status, got, res.Truncated, err)
		}
		// In the middle, as far as the machine lets it: the program says how far it came.
		opts, seen := spilling(), 0
		opts.OnOutput = func(codeinterp.Output) error {
			if seen++; seen == 1 {
				return manager.InterruptContext(t.Context(), c.id)
			}
			return nil
		}
		res, err = c.run("lines = 0\nwhile True:\n  if lines < 60: sys.stdout.write('x' * 99_999 + '\\n'); lines += 1\n  else: time.sleep(0.01)", opts)
		own, _, _ := sizes(res)
		lines, _ := strconv.Atoi(c.ok("lines").Text())
		more := own - 100_000*lines // of the line that was not counted yet
		if err != nil || res.Status != codeinterp.StatusError || len(res.Truncated) > 0 || own == 0 || more != 0 && more != 100_000 {
			t.Errorf("interrupt: %s, %d bytes of %d lines, %+v, %v", res.Status, own, lines, res.Truncated, err)
		}
		res, err = c.run(code+"import os; os.kill(os.getpid(), 9)", spilling())
		if err != nil || res.Status != codeinterp.StatusLost || len(res.Truncated) == 0 {
			t.Errorf("death: %s, %+v, %v", res.Status, res.Truncated, err)
		}
		if res, err := c.run(code, spilling()); err != nil || !res.OK() || len(res.Truncated) > 0 || len(res.Stdout()) != 4_000_004 {
			t.Errorf("after the death: %s, %d bytes, %+v, %v", res.Status, len(res.Stdout()), res.Truncated, err)
		}
	})
}

// TestSpillOfAllKinds: what takes more room in a message than in bytes, both streams in
// turns, and a program that leaves no room on the disk or no file descriptors.
func TestSpillOfAllKinds(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{Spill: true})
		for _, tt := range []struct {
			name, code     string
			stdout, stderr int
			lost           bool
		}{
			{"escapes", "print('\\n' * 2_000_000 + '\\x01' * 1_000_000, flush=True)", 3_000_001, 0, false},
			{"characters of several bytes", "print('\\u20ac' * 2_000_000, flush=True)", 6_000_001, 0, false},
			{"both streams", "for _ in range(40):\n  for f in (sys.stdout, sys.stderr): print('x' * 99_999, file=f, flush=True)", 4_000_000, 4_000_000, false},
			{"no room", "old = resource.getrlimit(resource.RLIMIT_FSIZE)\nresource.setrlimit(resource.RLIMIT_FSIZE, (500_000, old[1]))\n" +
				large + "resource.setrlimit(resource.RLIMIT_FSIZE, old)", 4_000_000, 0, true},
			{"no descriptors", "files = []\ntry:\n  while True: files.append(os.open('/dev/null', 0))\nexcept OSError: pass\n" +
				large + "for f in files: os.close(f)", 4_000_000, 0, true},
			{"after that", large, 4_000_000, 0, false},
		} {
			res, err := c.run("import os, resource, sys\n"+tt.code, spilling())
			own, _, lost := sizes(res)
			if err != nil || !res.OK() || own+lost != tt.stdout || (lost > 0) != tt.lost || len(res.Stderr()) != tt.stderr {
				t.Errorf("%s: %s, %d bytes, %d lost, %d of standard error, %+v, %v", tt.name, res.Status, own, lost, len(res.Stderr()), res.Truncated, err)
			}
		}
	})
}

// TestSpillAndClear: what a program clears is gone, also of what was spooled, and nothing
// else is.
func TestSpillAndClear(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{Spill: true})
		c.ok("import sys\nfrom IPython.display import clear_output")
		for _, tt := range []struct {
			name, code     string
			stdout, others int
		}{
			{"at once", "display('before')\n" + large + "clear_output()\nprint('after')", 6, 0},
			{"at once, with nothing behind", large + "clear_output()", 0, 0},
			{"with a display behind", "display('before')\n" + large + "clear_output(wait=True)\ndisplay('after')", 0, 1},
			{"with text behind", "display('before')\n" + large + "clear_output(wait=True)\nprint('after')", 6, 0},
			{"with much behind", large + "clear_output(wait=True)\n" + large, 4_000_000, 0},
			{"with a value behind", "display('before')\n" + large + "clear_output(wait=True)\n5", 0, 1},
			{"waiting for nothing", "display('before')\n" + large + "clear_output(wait=True)", 4_000_000, 1},
			{"again and again", "for i in range(3):\n  clear_output(wait=True); display(i)\n  print('x' * 3_000_000)", 3_000_001, 1},
		} {
			res, err := c.run(tt.code, spilling())
			others := 0
			for _, o := range res.Outputs {
				if o.Kind != codeinterp.Stdout {
					others++
				}
			}
			if err != nil || !res.OK() || len(res.Truncated) > 0 || len(res.Stdout()) != tt.stdout || others != tt.others {
				t.Errorf("%s: %s, %d bytes, %d displays, %+v, %v", tt.name, res.Status, len(res.Stdout()), others, res.Truncated, err)
			}
		}
	})
}
