//go:build real && unix

package subprocess_test

import (
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestExitOfEarlierRun: a run that code of an earlier one ends is not ok (contract,
// row 7). Python's context goes on.
func TestExitOfEarlierRun(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{Network: true, Languages: []subprocess.Language{subprocess.Python(), subprocess.JavaScript(), subprocess.TypeScript(), subprocess.Bash()}})
	const (
		jsEnd  = "const end = () => { if (globalThis.go) process.exit(0) }; "
		jsTick = "setInterval(end, 5).unref(); 1"
		jsWait = "globalThis.go = true; await new Promise(r => setTimeout(r, 20000)); console.log('deployed')"
		pyTick = "\nimport signal, sys\nsignal.signal(signal.SIGALRM, end)\n_ = signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)"
		pyWait = "go = True\nimport time\ntime.sleep(20); print('deployed')"
		await  = "go = True\nimport asyncio\nawait asyncio.sleep(20); print('deployed')"
		shWait = "(kill -USR1 $$); "
	)
	for _, tt := range []struct{ language, earlier, code string }{
		{"javascript", jsEnd + jsTick, jsWait},
		{"typescript", jsEnd + jsTick, jsWait},
		{"javascript", "const end = async () => { await 1; if (globalThis.go) process.exit(0) }; " + jsTick, jsWait},
		{"javascript", "process.on('SIGUSR2', () => process.exit(0)); 1", "process.kill(process.pid, 'SIGUSR2'); " + jsWait},
		{"javascript", "process.on('exit', () => process.exit(0)); " + jsEnd + jsTick, jsWait},
		{"javascript", "var s = require('net').createServer(() => process.exit(0)).listen(0, '127.0.0.1'); 1", "require('net').connect(s.address().port, '127.0.0.1'); " + jsWait},
		{"bash", "trap 'exit 0' USR1", shWait + "echo deployed"},
		{"bash", "eval \"tr\"'ap \"ex\"\"it 0\" USR1'", shWait + "exit 3"},
		{"bash", "bye() {\n exit; }\ntrap bye USR1 EXIT", shWait + "cd / || exit 1; echo deployed"},
		{"python", "go = False\ndef end(n, f):\n  if go: sys.exit(0)" + pyTick, pyWait},
		{"python", "go = False\nclass A:\n  def end(self, n, f):\n    if go: sys.exit()\nend = A().end" + pyTick, pyWait},
		{"python", "go = False\nimport asyncio, sys\nasync def end():\n  while not go: await asyncio.sleep(0.01)\n  sys.exit(0)\nt = asyncio.create_task(end()); await asyncio.sleep(0)", await},
		{"python", "import asyncio, sys\nclass Policy(asyncio.DefaultEventLoopPolicy):\n  def new_event_loop(self): 1 / 0 # as uvloop's is another\nasyncio.set_event_loop_policy(Policy())\n" +
			"_ = asyncio.get_running_loop().call_later(0.3, sys.exit, 0); await asyncio.sleep(0)", await},
		{"python", "import asyncio, sys\n_ = asyncio.get_running_loop().call_later(0.3, sys.exit, 0); await asyncio.sleep(0)", await},
	} {
		n := newNotebook(t, ci, tt.language)
		if res := n.run(tt.earlier, nil); res.Status != codeinterp.StatusOK {
			t.Fatalf("%s: got %s", tt.earlier, summary(res))
		}
		res := n.run(tt.code, nil)
		python := tt.language == "python"
		if python && (res.Status != codeinterp.StatusError || res.StateLost || res.Error == nil || res.Error.Name != "SystemExit") ||
			!python && (res.Status != codeinterp.StatusLost || !res.StateLost || res.Cause != codeinterp.CauseExit || res.ExitCode != codeinterp.ExitKilled) || res.Stdout() != "" {
			t.Errorf("%s\n%s\ngot %s, exit %d, cause %q: %+v", tt.earlier, tt.code, summary(res), res.ExitCode, res.Cause, res.Error)
		}
	}
}

// TestExitOfOwnRun: an exit that a run or what it started calls is its own, whatever an
// earlier run defined.
func TestExitOfOwnRun(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{Network: true, Languages: []subprocess.Language{subprocess.Python(), subprocess.JavaScript()}})
	const js = "function end() { process.exit(0) }; const http = require('http'), wait = (ms) => new Promise(r => setTimeout(r, ms)); 1"
	const py = "import asyncio, signal, sys\ndef end(*a): sys.exit(0)\nasync def later(): await asyncio.sleep(0.01); end()"
	for _, tt := range []struct{ language, earlier, code string }{
		{"javascript", js, "end()"},
		{"javascript", js, "setTimeout(process.exit, 10, 0); await wait(2000)"},
		{"javascript", js, "await wait(10); await null; end()"},
		{"javascript", js, "wait(10).then(end); void 0"},
		{"javascript", js, "process.on('SIGTERM', end); process.kill(process.pid, 'SIGTERM'); await wait(2000)"},
		{"javascript", js, "const s = http.createServer((q, r) => r.end('x')).listen(0, '127.0.0.1', () => http.get({ port: s.address().port, host: '127.0.0.1' }, (m) => m.on('data', end))); await wait(2000)"},
		{"javascript", js, "require('child_process').exec('true', end); await wait(2000)"},
		{"javascript", js, "const f = await import('fs/promises'); await f.readFile('/dev/null'); end()"},
		{"javascript", js, "process.on('uncaughtException', end); setTimeout(() => { throw 1 }, 5); await wait(2000)"},
		{"python", py, "end()"},
		{"python", py, "await later()"},
		{"python", py, "t = asyncio.create_task(later()); await asyncio.sleep(2)"},
		{"python", py, "import time\nsignal.signal(signal.SIGALRM, end); signal.setitimer(signal.ITIMER_REAL, 0.1); time.sleep(2)"},
	} {
		n := newNotebook(t, ci, tt.language)
		if res := n.run(tt.earlier, nil); res.Status != codeinterp.StatusOK {
			t.Fatalf("%s: got %s", tt.earlier, summary(res))
		}
		if res := n.run(tt.code, nil); res.Status != codeinterp.StatusOK || res.StateLost != (tt.language != "python") {
			t.Errorf("%s\ngot %s, exit %d, cause %q %q", tt.code, summary(res), res.ExitCode, res.Cause, res.Stderr())
		}
	}
}
