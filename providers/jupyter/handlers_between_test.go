//go:build linux

package jupyter_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// upon has SIGALRM come behind each step-th line that the kernel's main thread executes
// of python code, its own as much as a program's; the handler raises what no other does.
const upon = `
import _thread, functools, signal, sys
raised, lines, step, left = [], 0, 0, 0
class Upon: __del__ = functools.partial(_thread.interrupt_main, signal.SIGALRM)
def fails(*args):
  global left
  left -= 1
  if left > 0: sys.settrace(trace)
  frame, names = args[1], []
  while frame and len(names) < 14: names.append(frame.f_code.co_filename[-20:] + ' ' + frame.f_code.co_name); frame = frame.f_back
  raised.append(error := ValueError("number <%d> upon %s" % (len(raised), names)))
  raise error
def trace(frame, event, arg):
  global lines
  if frame.f_code is fails.__code__: return None
  lines += 1
  if lines % step == 0:
    sys.settrace(None)  # else it came upon this
    upon = Upon()
  return trace
def begin(n):
  global step, left
  step, left = n, 40
  sys.settrace(trace)
def end():
  global left
  left = 0
  sys.settrace(None)
  return len(raised)
signal.signal(signal.SIGALRM, fails)
`

// TestHandlersBetweenRuns: what a handler of a signal raises is told wherever the signal
// finds the kernel, between programs and in what is done for them too, and costs nothing.
func TestHandlersBetweenRuns(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		c.ok(upon)
		number := regexp.MustCompile(`ValueError: number <(\d+)>`)
		told := map[string]bool{}
		note := func(res codeinterp.Result, err error) codeinterp.Result {
			t.Helper()
			if err != nil || res.StateLost || len(res.Truncated) > 0 {
				t.Errorf("%+v, %v", res, err)
				return res
			}
			text := ""
			for _, o := range res.Outputs {
				text += string(o.Data)
			}
			if res.Error != nil {
				text += res.Error.Name + ": " + res.Error.Message
			}
			for _, m := range number.FindAllStringSubmatch(text, -1) {
				told[m[1]] = true
			}
			return res
		}
		for _, step := range []int{1511, 701, 307, 61} {
			note(c.run(fmt.Sprintf("begin(%d)", step), nil))
			for _, code := range []string{"", "", "1", "import asyncio; await asyncio.sleep(0)", ""} {
				note(c.run(code, &codeinterp.RunOptions{Env: map[string]string{"A": "b"}}))
			}
		}
		n := 0
		for range 5 { // it may be hit itself
			if res := note(c.run("end()", nil)); json.Unmarshal([]byte(res.Text()), &n) == nil {
				break
			}
		}
		for end := time.Now().Add(time.Minute); len(told) < n && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			note(c.run("", nil))
		}
		if n < 20 || len(told) != n {
			t.Errorf("%d of %d were told", len(told), n)
		}
	})
}
