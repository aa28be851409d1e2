//go:build linux

package jupyter_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// leaving are programs that end, or fail, in a way that IPython tells as another.
var leaving = []struct {
	name, code string
	exit       int
	err        string // name, empty for an exit
	message    string
	stdout     string
	left       string // what is told of the exits of an earlier run's tasks: their last lines
}{
	{name: "subclass", code: "class SE(SystemExit): pass\nraise SE(7)", exit: 7},
	{name: "subclass of none", code: "class SE(SystemExit): pass\nprint(1); raise SE", exit: 0, stdout: "1\n"},
	{name: "task beside", exit: 4, stdout: "ended\n",
		code: "import asyncio, sys\nasync def leave(code): await asyncio.sleep(0.01); sys.exit(code)\nt = asyncio.create_task(leave(4))\ntry:\n  await asyncio.sleep(60)\nfinally:\n  print('ended')\nprint('never')"},
	{name: "task that is awaited", code: "await asyncio.create_task(leave(5))", exit: 5},
	{name: "another task is awaited", code: "t = asyncio.create_task(leave(6)); await asyncio.create_task(asyncio.sleep(60))", exit: 6},
	{name: "gather", code: "await asyncio.gather(asyncio.sleep(60), leave(8))", exit: 8},
	{name: "group", code: "async def all():\n  async with asyncio.TaskGroup() as g:\n    g.create_task(leave(9)); await asyncio.sleep(60)\nawait all()", exit: 9},
	{name: "callback", code: "asyncio.get_running_loop().call_soon(sys.exit, 10); await asyncio.Event().wait()", exit: 10},
	{name: "loop of its own", code: "asyncio.run(leave(11))", exit: 11},
	{name: "handled", exit: 1, stdout: "canceled\non\n",
		code: "t = asyncio.create_task(leave(1))\ntry:\n  await t\nexcept asyncio.CancelledError:\n  print('canceled')\nawait asyncio.sleep(0.02); print('on'); 5"},
	{name: "handled by what is awaited", exit: 3, stdout: "7\non\n",
		code: "async def inner():\n  try: await asyncio.sleep(60)\n  except asyncio.CancelledError: return 7\nt = asyncio.create_task(leave(3)); print(await asyncio.create_task(inner())); print('on')"},
	{name: "two", exit: 12, stdout: "ended\n",
		code: "a, b = asyncio.create_task(leave(12)), asyncio.create_task(leave(13))\ntry:\n  await asyncio.sleep(60)\nfinally:\n  await asyncio.sleep(0.05); print('ended')"},
	{name: "an error on the way", exit: 2, code: "t = asyncio.create_task(leave(2))\ntry:\n  await asyncio.sleep(60)\nfinally:\n  1/0"},
	{name: "interrupt", exit: 1, err: "KeyboardInterrupt", message: "mine", stdout: "ended\n",
		code: "async def stop(): raise KeyboardInterrupt('mine')\nt = asyncio.create_task(stop())\ntry:\n  await asyncio.sleep(60)\nfinally:\n  print('ended')"},
	{name: "none is left", code: "await asyncio.sleep(0.02); print('on')", stdout: "on\n"},
	{name: "after the cell", code: "now = asyncio.Event()\nasync def waits(code): await now.wait(); sys.exit(code)\nt = asyncio.create_task(waits(3)); await asyncio.sleep(0); print('end')", stdout: "end\n"},
	{name: "the next", code: "now.set(); await asyncio.wait([t]); print(1)", stdout: "1\n", left: "SystemExit: 3"},
	{name: "of which another run is", code: "now.clear(); t = asyncio.create_task(waits(14)); await asyncio.sleep(0)"},
	{name: "and ends by it", code: "now.set(); await t", exit: 14, left: "SystemExit: 14"},
	{name: "a stop", exit: 1, err: "RuntimeError", message: "Event loop stopped before Future completed.", stdout: "ended\n",
		code: "loop = asyncio.get_event_loop(); loop.call_later(0.01, loop.stop)\ntry:\n  await asyncio.sleep(60)\nfinally:\n  print('ended')"},
	{name: "its idiom", exit: 1, err: "RuntimeError", message: "This event loop is already running", code: "kept = 8; loop.call_later(0.1, loop.stop); loop.run_forever()"},
	{name: "after that", code: "await asyncio.sleep(0.3); print(kept)", stdout: "8\n"},
	{name: "a stop that nothing awaits", code: "loop.stop(); loop.call_soon(loop.stop); print(kept)", stdout: "8\n"},
	{name: "after that", code: "await asyncio.sleep(0.1); print(kept)", stdout: "8\n"},
	{name: "no message", code: "class BE(Exception):\n  def __str__(self): raise ValueError('nostr')\nraise BE()", exit: 1, err: "BE", message: "<the error has no readable message>"},
	{name: "its cause", code: "try:\n  raise BE()\nexcept BE as e:\n  raise KeyError(2) from e", exit: 1, err: "KeyError", message: "2"},
}

// lastLate is the last line that came late.
func lastLate(res codeinterp.Result) string {
	var late strings.Builder
	for _, o := range res.Outputs {
		if o.Late {
			late.Write(o.Data)
		}
	}
	lines := strings.Split(strings.TrimSpace(late.String()), "\n")
	return lines[len(lines)-1]
}

// TestLeaving: an exit is one wherever it is raised, and the kernel lives on.
func TestLeaving(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for _, tt := range leaving {
			check := func(res codeinterp.Result, err error) {
				t.Helper()
				name, message := "", ""
				if res.Error != nil {
					name, message = res.Error.Name, res.Error.Message
				}
				if err != nil || res.StateLost || res.ExitCode != tt.exit || name != tt.err || message != tt.message || res.Stdout() != tt.stdout || res.Stderr() != "" || lastLate(res) != tt.left {
					t.Errorf("%s: %+v, error %q %q, stdout %q, stderr %q, late %q, %v", tt.name, res, name, message, res.Stdout(), res.Stderr(), lastLate(res), err)
				}
			}
			check(c.run(tt.code, nil))
		}
		once, err := c.ci.RunCode(t.Context(), "python", leaving[2].code, nil)
		if err != nil || once.ExitCode != 4 || once.Error != nil || once.Stdout() != "ended\n" {
			t.Errorf("RunCode: %+v, %v", once, err)
		}
	})
}

// TestOwnStdin: input() and getpass read from what a program made its standard input, as
// python's own do.
func TestOwnStdin(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for _, tt := range []struct{ code, stdin, stdout, err string }{
			{"import io, sys; sys.stdin = io.StringIO('3 4\\n5'); print(input('? '), input())", "", "? 3 4 5\n", ""},
			{"input()", "", "", "EOFError"},
			{"sys.stdin = sys.__stdin__; input()", "", "", "EOFError"},
			{"import unittest.mock\nwith unittest.mock.patch('sys.stdin', io.StringIO('of a mock\\n')): print(input())\ninput()", "", "of a mock\n", "EOFError"},
			{"import getpass; sys.stdin = io.StringIO('secret'); print(getpass.getpass())", "", "secret\n", ""},
			{"print(input()); sys.stdin = io.StringIO('own'); print(input()); sys.stdin = sys.__stdin__; print(input())", "a\nb\n", "a\nown\nb\n", ""},
			{"print(input()); sys.stdin = None; input()", "a", "a\n", "RuntimeError"},
			{"sys.stdin = sys.__stdin__; input()", "", "", "EOFError"},
		} {
			opts := &codeinterp.RunOptions{}
			if tt.stdin != "" {
				opts.Stdin = []byte(tt.stdin)
			}
			res, err := c.run(tt.code, opts)
			name := ""
			if res.Error != nil {
				name = res.Error.Name
			}
			if err != nil || res.Stdout() != tt.stdout || name != tt.err {
				t.Errorf("%s: %+v, stdout %q, %v", tt.code, res, res.Stdout(), err)
			}
		}
	})
}
