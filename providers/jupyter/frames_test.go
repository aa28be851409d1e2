//go:build linux

package jupyter_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// frameLine is how IPython names a frame.
var frameLine = regexp.MustCompile(`^[\s|]*(?:File "?([^"\s]+?)(?::|", line )\d+|Cell In\[\d+\], line (\d+))`)

// framesOf returns the frames of an error, in short: a line of the program as its
// number, and a file of python's library as its name. All else stands as it is.
func framesOf(e *codeinterp.ProgramError) []string {
	if e == nil {
		return nil
	}
	var frames []string
	for _, line := range e.Traceback {
		m := frameLine.FindStringSubmatch(line)
		switch {
		case m == nil && (strings.Contains(line, "<toolcell>") || strings.Contains(line, "Could not get source")):
			frames = append(frames, line)
		case m == nil:
		case m[2] != "":
			frames = append(frames, m[2])
		case strings.Contains(m[1], "/lib/python3.") && !strings.Contains(m[1], "-packages/"):
			frames = append(frames, path.Base(m[1]))
		default:
			frames = append(frames, m[1])
		}
	}
	return frames
}

// TestFramesOfErrors wants errors to have the program's frames and python's, and none
// of what stands between a program and its kernel.
func TestFramesOfErrors(t *testing.T) {
	t.Parallel()
	// IPython tells the line where such a frame ended.
	const chained = "try:\n  input()\nexcept EOFError as e:\n  raise ValueError('x')"
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for code, want := range map[string]string{
			"input()":                           "1",
			"import getpass\ngetpass.getpass()": "2",
			"import sys\nsys.stdin.read()":      "2",
			"import sys\ndef each():\n  for line in sys.stdin: pass\neach()": "4 3",
			"import sys\nsys.stdout.write(5)":                                "2",
			"import sys\nsys.stdout.writelines([5])":                         "2",
			"import sys\nsys.stdout.buffer.write('x')":                       "2",
			"print('\\ud800')":                                               "1",
			chained:                                                          "4 4",
			chained + " from e":                                              "4 4",
			"tools.echo(1)":                                                  "1",
			"tools.none":                                                     "1",
			"tools.echo(v={1})":                                              "1 encoder.py encoder.py encoder.py",
			"await tools.aio.echo(1)":                                        "1",
			"import asyncio\nasync def f():\n  1/0\nasyncio.run(f())":                        "4 runners.py runners.py base_events.py 3",
			"import concurrent.futures as f\nf.ThreadPoolExecutor(1).submit(input).result()": "2 _base.py _base.py thread.py",
			"class A:\n  def __repr__(self): raise KeyboardInterrupt\ndisplay(A())":          "3 2",
			"class A:\n  def __repr__(self): raise KeyboardInterrupt\nA()":                   "3 2",
			"eval('(')": "1 <string>",
			// Interrupted where the kernel sends, by code that is Cython's.
			"import ipykernel.iostream as i, sys\nexec(compile('def send():\\n  raise KeyboardInterrupt\\n  yield', 'zmq/backend/cython/_zmq.py', 'exec'))\ni.OutStream.writelines(sys.stdout, send())": "3",
			"def f(n): return print(n, file=F()) or f(n)\nclass F:\n  def write(self, s): input()\nf(0)":                                                                                                "4 1 3",
		} {
			res, err := c.run(code, &codeinterp.RunOptions{Functions: callstest.Functions(t), Timeout: 2 * time.Minute})
			got := strings.Join(framesOf(res.Error), " ")
			if err != nil || res.Error == nil || got != want || fmt.Sprint(res.Error.Line) != lastLine(want) {
				t.Errorf("%s: frames %q, want %q: %+v, %v", code, got, want, res.Error, err)
			}
		}
	})
}

// TestTracebacksOfGroups wants a group of errors to have its own traceback, with those of
// the errors that it holds, and not that of a run before.
func TestTracebacksOfGroups(t *testing.T) {
	t.Parallel()
	const group = "async def g():\n  raise ExceptionGroup('both', [ValueError('v'), OSError('o')])\nawait asyncio.sleep(0)\n"
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for _, tt := range []struct {
			code, error string
			frames      string
			lines       []string
		}{
			{"import asyncio\nasync def f():\n  await asyncio.sleep(0)\n  raise OSError('of run 1')\nawait f()", "OSError: of run 1", "5 4", []string{"OSError: of run 1"}},
			{group + "await g()", "ExceptionGroup: both (2 sub-exceptions)", "4 2", []string{"ExceptionGroup: both (2 sub-exceptions)", "ValueError: v", "OSError: o"}},
			{"1/0", "ZeroDivisionError: division by zero", "1", []string{"ZeroDivisionError: division by zero"}},
			{"async def h():\n  raise KeyError('k')\nasync with asyncio.TaskGroup() as tg:\n  _ = tg.create_task(h())", "ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)", "3 taskgroups.py 2", []string{"KeyError: 'k'"}},
			{"try:\n  await g()\nexcept ExceptionGroup:\n  1/0", "ZeroDivisionError: division by zero", "2 2 4", []string{"ValueError: v", "ZeroDivisionError: division by zero"}},
		} {
			res, err := c.run(tt.code, nil)
			if err != nil || res.Error == nil || res.Error.Error() != tt.error || strings.Join(framesOf(res.Error), " ") != tt.frames || res.Stderr() != "" {
				t.Errorf("%s: frames %q, want %q: %+v, %v", tt.code, framesOf(res.Error), tt.frames, res, err)
				continue
			}
			for _, want := range tt.lines {
				if !slices.ContainsFunc(res.Error.Traceback, func(line string) bool { return strings.HasSuffix(line, want) }) {
					t.Errorf("%s: no line %q in %q", tt.code, want, res.Error.Traceback)
				}
			}
		}
	})
}

// lastLine returns the last number of some frames.
func lastLine(frames string) string {
	all := regexp.MustCompile(`\b\d+\b`).FindAllString(frames, -1)
	return all[len(all)-1]
}

// stopAt interrupts a statement as it enters the n-th of the functions that it calls
// whose names match.
const stopAt = `import re, sys, asyncio, threading
def stop(frame, event, arg):
  global n
  if event == 'call' and re.match(r'%s', frame.f_code.co_name) and frame.f_globals is not globals():
    n -= 1
    if n < 0: raise KeyboardInterrupt
  return stop
def main():
  sys.settrace(stop)
  %s
  sys.settrace(None)
n = %d
main()`

// TestFramesOfStoppedRuns interrupts programs at each step that what they call takes.
func TestFramesOfStoppedRuns(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for _, tt := range []struct {
			code, at string
			steps    int
		}{
			{"print('x')", "", 6},
			{"print('x', flush=True)", "flush|wait", 2},
			{"display(1)", "display|format|publish|send", 4},
			{"threading.Thread(target=len, args=['']).start()", "", 8},
			{"asyncio.run(asyncio.sleep(0))", "run|_run_once|sleep", 4},
			{"tools.echo(v=1)", "", 8},
			{"input()", "", 1},
		} {
			for n := range tt.steps {
				code := fmt.Sprintf(stopAt, tt.at, tt.code, n)
				res, err := c.run(code, &codeinterp.RunOptions{Functions: callstest.Functions(t), Timeout: 2 * time.Minute})
				frames := framesOf(res.Error)
				ours := slices.ContainsFunc(frames, func(f string) bool { return !regexp.MustCompile(`^(\d+|[a-z_]+\.py)$`).MatchString(f) })
				if err != nil || res.Error == nil || res.Error.Name != "KeyboardInterrupt" || ours || frames[len(frames)-1] != "6" || !slices.Contains(frames, "10") {
					t.Errorf("%s at %d: frames %q: %+v, %v", tt.code, n, frames, res.Error, err)
				}
			}
		}
		res, err := c.run("import asyncio\nprint('go')\nasyncio.run(asyncio.sleep(500))", &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
			return c.ci.InterruptContext(t.Context(), c.id)
		}})
		frames := strings.Join(framesOf(res.Error), " ")
		if err != nil || res.Cause != codeinterp.CauseInterrupt || !regexp.MustCompile(`^([a-z_]+\.py )*[23]( [a-z_]+\.py)*$`).MatchString(frames) {
			t.Errorf("frames %s: %+v, %v", frames, res, err)
		}
	})
}
