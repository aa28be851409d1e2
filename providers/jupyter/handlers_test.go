//go:build linux

package jupyter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestHandlersThatRaise: what a handler of a signal raises is the run's error, or its
// exit, also where the program awaits, and costs no state.
func TestHandlersThatRaise(t *testing.T) {
	t.Parallel()
	const await, sleep = "await asyncio.sleep(60)", "time.sleep(60)"
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		c.ok(`import asyncio, os, signal, time
def fails(*args): raise ValueError('in handler')
def leaves(*args): raise SystemExit(7)
def alarm(handler):
  signal.signal(signal.SIGALRM, handler); signal.setitimer(signal.ITIMER_REAL, 0.1)
async def waits():
  try: await asyncio.sleep(60)
  finally: print('ended')`)
		for _, tt := range []struct {
			name, code, err string
			exit            int
			stdout          string
		}{
			{"awaiting", "alarm(fails)\n" + await, "ValueError", 1, ""},
			{"computing", "alarm(fails)\n" + sleep, "ValueError", 1, ""},
			{"computing behind an await", "await asyncio.sleep(0); alarm(fails)\n" + sleep, "ValueError", 1, ""},
			{"caught", "await asyncio.sleep(0); alarm(fails)\ntry: " + sleep + "\nexcept ValueError: print('caught')\nalarm(signal.SIG_IGN)", "", 0, "caught\n"},
			{"in a task", "alarm(fails)\nawait asyncio.gather(waits(), waits())", "ValueError", 1, "ended\nended\n"},
			{"in a loop of its own", "alarm(fails)\nasyncio.run(waits())", "ValueError", 1, "ended\n"},
			{"in one beside", "await asyncio.sleep(0); alarm(fails)\nasyncio.run(waits())", "ValueError", 1, "ended\n"},
			{"an exit", "alarm(leaves)\n" + await, "", 7, ""},
			{"an interrupt", "signal.signal(signal.SIGALRM, signal.default_int_handler); signal.setitimer(signal.ITIMER_REAL, 0.1)\n" + await, "KeyboardInterrupt", 1, ""},
			{"one that is called by the loop", "signal.signal(signal.SIGUSR1, signal.default_int_handler); asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), signal.SIGUSR1)\n" + await, "KeyboardInterrupt", 1, ""},
			{"what there is", "signal.signal(signal.SIGALRM, fails) is signal.default_int_handler, signal.getsignal(signal.SIGALRM) is fails, signal.getsignal(signal.SIGINT) is signal.default_int_handler, await asyncio.sleep(0)", "", 0, ""},
			{"by names", "signal.signal(signalnum=signal.SIGALRM, handler=fails); await asyncio.sleep(0); signal.getsignal(signalnum=signal.SIGALRM) is fails or 1/0", "", 0, ""},
			{"one of interrupts", "signal.signal(signal.SIGINT, fails); signal.getsignal(signal.SIGINT) is fails or 1/0", "", 0, ""},
			{"which ends with its run", "(signal.getsignal(signal.SIGINT) is signal.default_int_handler and signal.getsignal(signal.SIGALRM) is fails) or 1/0", "", 0, ""},
		} {
			res, err := c.run(tt.code, nil)
			name := ""
			if res.Error != nil {
				name = res.Error.Name
			}
			if err != nil || res.StateLost || res.ExitCode != tt.exit || name != tt.err || res.Stdout() != tt.stdout {
				t.Errorf("%s: %+v, error %+v, stdout %q, %v", tt.name, res, res.Error, res.Stdout(), err)
			}
			told := ""
			if res.Error != nil {
				told = strings.Join(res.Error.Traceback, "\n")
			}
			if strings.Contains(told, "<toolcell>") || name == "ValueError" && !strings.Contains(told, "in fails") {
				t.Errorf("%s: %s", tt.name, res.Error.Traceback)
			}
			if tt.name == "what there is" && res.Text() != "(True, True, True, None)" {
				t.Errorf("%s: %s", tt.name, res.Text())
			}
		}
		c.ok("alarm(fails)")
		late := ""
		for end := time.Now().Add(time.Minute); !strings.Contains(late, "ValueError: in handler") && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			for _, o := range c.ok("").Outputs {
				late += string(o.Data)
			}
		}
		if !strings.Contains(late, "ValueError: in handler") {
			t.Errorf("between two runs: %q", late)
		}
	})
}
