//go:build real && unix

package subprocess_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestBytesOnTheChannel writes to the driver's own descriptor what is no frame:
// how the program ended is not known then, even if it ends well.
func TestBytesOnTheChannel(t *testing.T) {
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
	ci := open(t, subprocess.Options{})
	for _, tt := range []struct {
		code string
		exit int
	}{
		{"setTimeout(() => process.exit(5), 10)", 5},
		{"process.on('exit', () => { process.exitCode = 5 }); await 1; process.exit(0)", 5},
		{"process.on('unhandledRejection', () => process.exit(3)); async function main() { await null; throw 1 }; main()", 3},
		{"process.on('exit', () => process.exit(4)); null.x", 4},
		{"process.exitCode = 4; process.exit()", 4},
		{"if (require.main === module) process.exit(7)", 7},
	} {
		if res := run(t, ci, "javascript", tt.code, nil); res.ExitCode != tt.exit || res.OK() != (tt.exit == 0) {
			t.Errorf("%s: status %s, exit %d, want %d", tt.code, res.Status, res.ExitCode, tt.exit)
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
