//go:build unix

package subprocess_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestSlowReader has an OnOutput that is slower than the time that a stream may
// stay open behind its process: it still gets all.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{})
	for language, code := range map[string]string{
		"python": "import time\nfor c in 'abc':\n    print(c, flush=True); time.sleep(.05)\n42",
		"bash":   "for c in a b c; do echo $c; sleep .05; done",
	} {
		var got string
		res := run(t, ci, language, code, &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
			if o.Kind == codeinterp.Stdout {
				got += string(o.Data)
			}
			time.Sleep(1200 * time.Millisecond)
			return nil
		}})
		if got != "a\nb\nc\n" || res.CallbackErr != nil || !res.OK() {
			t.Errorf("%s: OnOutput got %q, %v, status %s", language, got, res.CallbackErr, res.Status)
		}
	}
}

// TestBytesOnTheChannel writes to the driver's own descriptor what is no frame:
// how the program ended is not known then, even if it ends well.
func TestBytesOnTheChannel(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{})
	for language, code := range map[string]string{
		"python":     "import os; os.write(3, b'zzzzzzzzz'); print('hi'); 5",
		"javascript": "require('fs').writeSync(3, 'zzzzzzzzzz'); console.log('hi'); 5",
	} {
		if res := run(t, ci, language, code, nil); res.Status != codeinterp.StatusLost || res.Error == nil || res.Error.Name != "ProtocolError" {
			t.Errorf("%s: status %s, error %v", language, res.Status, res.Error)
		}
	}
}

// TestNodeExits ends programs by process.exit in places where the program itself
// has ended, and with handlers that change the code.
func TestNodeExits(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{})
	for _, tt := range []struct {
		code string
		exit int
	}{
		{"setTimeout(() => process.exit(5), 10)", 5},
		{"setImmediate(() => process.exit(6)); 0", 6},
		{"process.on('exit', () => { process.exitCode = 5 }); await 1; process.exit(0)", 5},
		{"process.on('exit', () => { process.exit(3) }); process.exit(2)", 3},
		{"process.on('exit', () => { console.log('bye') })", 0},
		{"process.on('unhandledRejection', () => process.exit(3)); async function main() { await null; throw 1 }; main()", 3},
		{"process.on('exit', () => process.exit(4)); null.x", 4},
		{"process.exitCode = 4; process.exit()", 4},
		{"process.exit('x' in {} ? 2 : null)", 0},
		{"const major = Number(process.versions.node.split('.')[0]); major < 20 ? process.exit(1) : process.exit('x')", 1}, // which node refuses since 20
		{"if (require.main === module) process.exit(7)", 7},
	} {
		if res := run(t, ci, "javascript", tt.code, nil); res.ExitCode != tt.exit || res.OK() != (tt.exit == 0) {
			t.Errorf("%s: status %s, exit %d, want %d", tt.code, res.Status, res.ExitCode, tt.exit)
		}
	}
}

// TestNoStdin: without standard input reading fails, on the first run and after
// one that had some; empty input is at its end.
func TestNoStdin(t *testing.T) {
	ci := open(t, subprocess.Options{})
	for language, code := range map[string]string{
		"python":     "import sys\nprint('[' + sys.stdin.read() + ']')",
		"javascript": `console.log("[" + require("fs").readFileSync(0, "utf8") + "]")`,
		"bash":       `text=$(cat) && echo "[$text]"`,
	} {
		n := newNotebook(t, ci, language)
		for i, stdin := range [][]byte{nil, []byte("in"), nil, {}} {
			res := n.run(code, &codeinterp.RunOptions{Stdin: stdin, Timeout: time.Minute})
			once := run(t, ci, language, code, &codeinterp.RunOptions{Stdin: stdin, Timeout: time.Minute})
			for _, res := range []codeinterp.Result{res, once} {
				if stdin == nil && (res.OK() || res.Stdout() != "") || stdin != nil && res.Stdout() != "["+string(stdin)+"]\n" {
					t.Errorf("%s, run %d with %q: %s", language, i+1, stdin, summary(res))
				}
			}
		}
	}
}

// TestStdinThatWasClosed: a program may close its standard input, as open(0) does;
// the next ones have theirs.
func TestStdinThatWasClosed(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{python(t)}}), "python")
	for _, code := range []string{"print(open(0).read())", "import sys; print(sys.stdin.read())", "import subprocess; subprocess.run('cat')"} {
		if res := n.run(code, &codeinterp.RunOptions{Stdin: []byte("given"), Timeout: time.Minute}); strings.TrimSpace(res.Stdout()) != "given" {
			t.Errorf("%s: %s", code, summary(res))
		}
	}
	if res := n.run("print(open(0).read() == '')", nil); res.Stdout() != "True\n" {
		t.Error(summary(res))
	}
	if res := n.run("print(input())", &codeinterp.RunOptions{Stdin: []byte("after"), Timeout: time.Minute}); res.Stdout() != "after\n" {
		t.Error(summary(res))
	}
}

// TestOwnStdin: sys.__stdin__ is what the run was given, and what a program makes its
// sys.stdin stays for the next runs, except those that are given some.
func TestOwnStdin(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{python(t)}})
	const own, none, ended = "import io, sys; sys.stdin = io.StringIO('a\\nb\\nc\\n')", "EOFError: there is no standard input: this run was given none", "EOFError: EOF when reading a line"
	for name, runs := range map[string][]struct{ code, stdin, want string }{
		"put back":                    {{own + "; input(); sys.stdin = sys.__stdin__; input()", "x", "'x'"}, {"input()", "", none}, {"sys.__stdin__.readline()", "y", "'y'"}},
		"kept":                        {{own + "; input()", "", "'a'"}, {"input()", "", "'b'"}, {"input()", "", "'c'"}, {"input()", "", ended}},
		"aside":                       {{own, "", ""}, {"input()", "x", "'x'"}, {"input()", "y", "'y'"}, {"input()", "", "'a'"}, {"input()", "", "'b'"}},
		"aside, then back":            {{own, "", ""}, {"input()", "x", "'x'"}, {"input(); sys.stdin = sys.__stdin__", "", ""}, {"input()", "", none}},
		"kept of a run that has some": {{own, "x", ""}, {"input()", "", "'a'"}, {"sys.__stdin__.read()", "", none}},
		"wrapped":                     {{"import io, sys; sys.stdin = io.TextIOWrapper(sys.stdin.buffer); input()", "x", "'x'"}, {"input()", "", none}, {"input()", "y", "'y'"}},
		"wrapped by another":          {{"import codecs, sys; sys.stdin = codecs.getreader('utf-8')(sys.stdin.buffer); input()", "x", "'x'"}, {"input()", "", none}, {"input()", "y", "'y'"}},
		"exits":                       {{"import io, sys\nclass S(io.StringIO):\n    def fileno(self): raise SystemExit(3)\nsys.stdin = S('a\\n')", "", ""}, {"sys.stdin.readline()", "", `'a\n'`}, {"input()", "y", "'y'"}},
		"interrupts":                  {{"import io, sys\nclass S(io.StringIO):\n    def fileno(self): raise KeyboardInterrupt\nsys.stdin = S('a\\n')", "", ""}, {"sys.stdin.readline()", "", `'a\n'`}},
		"waits":                       {{"import io, sys, time\nclass S(io.StringIO):\n    __class__ = property(lambda self: time.sleep(600))\n    def fileno(self): time.sleep(600)\nsys.stdin = S('a\\n')", "", ""}, {"sys.stdin.readline()", "", `'a\n'`}},
		"closed":                      {{"import sys; sys.stdin.close()", "x", ""}, {"input()", "", none}, {"sys.stdin.close()", "", ""}, {"input()", "y", "'y'"}},
		"gone":                        {{"import sys; sys.stdin = None", "", ""}, {"input()", "", "RuntimeError: input(): lost sys.stdin"}, {"input()", "y", "'y'"}},
		"deleted":                     {{"import sys; del sys.stdin", "", ""}, {"input()", "", none}},
	} {
		n := newNotebook(t, ci, "python")
		for i, r := range runs {
			opts := &codeinterp.RunOptions{Timeout: time.Minute}
			if r.stdin != "" {
				opts.Stdin = []byte(r.stdin)
			}
			res := n.run(r.code, opts)
			got := res.Text()
			if res.Error != nil {
				got = res.Error.Name + ": " + res.Error.Message
			}
			if got != r.want {
				t.Errorf("%s, run %d, %s: %q, want %q", name, i+1, r.code, got, r.want)
			}
		}
	}
}
