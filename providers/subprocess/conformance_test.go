//go:build real && unix

package subprocess_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// busyTimeout and busyPatience are how long a case, and a stop, may take on a busy machine.
const busyTimeout, busyPatience = 2 * time.Minute, 30 * time.Second

// eachMode runs a test in Landlock mode, and every night in the other modes too.
func eachMode(t *testing.T, f func(t *testing.T, o subprocess.Options)) {
	modes := []subprocess.Mode{subprocess.Landlock}
	if tier.Full {
		modes = append(modes, subprocess.Bwrap, subprocess.None)
	}
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) { f(t, inMode(mode)) })
	}
}

// inMode returns the options of a mode.
func inMode(mode subprocess.Mode) subprocess.Options {
	return subprocess.Options{ProbeCache: probes, Sandbox: subprocess.Sandbox{Mode: mode, AllowNone: mode == subprocess.None}}
}

// oneStream says in which languages what an earlier run left behind writes to the
// very pipe of the next.
var oneStream = []conformance.Feature{conformance.LateApart.In("bash"), conformance.LateApart.In("javascript"), conformance.LateApart.In("typescript")}

// TestConformance is the whole contract, in contexts of python and in Landlock mode.
func TestConformance(t *testing.T) {
	o := inMode(subprocess.Landlock)
	o.Forks = true
	conform(t, o, subprocess.Python())
}

// conform tries the contract with contexts of some languages.
func conform(t *testing.T, o subprocess.Options, languages ...subprocess.Language) {
	o.Languages = languages
	conformance.Run(t, conformance.Config{
		New:      func() (codeinterp.CodeInterpreter, error) { return subprocess.NewStateful(&o) },
		Stateful: true, Timeout: busyTimeout, Patience: busyPatience, Lacks: oneStream,
	})
}

// smoke are programs of one mode: what each mode has to hold, and what stops.
var smoke = []struct{ name, language, code, want string }{
	{"value", "python", "6 * 7", "ok value=42"},
	{"streams", "python", "import os, sys\nprint('a', flush=True); _ = os.system('echo b'); print('c', file=sys.stderr)", "ok out=a\nb\n"},
	{"exit code", "python", "raise SystemExit(3)", "error"},
	{"loopback", "python", "import socket, threading\ns = socket.create_server(('127.0.0.1', 0))\nthreading.Thread(target=lambda: s.accept()[0].send(b'x')).start()\nsocket.create_connection(s.getsockname()).recv(1)", "ok value=b'x'"},
	{"localhost", "python", "import socket, threading\ns = socket.create_server(('localhost', 0))\nthreading.Thread(target=lambda: s.accept()[0].send(b'x')).start()\nsocket.create_connection(('localhost', s.getsockname()[1])).recv(1)", "ok value=b'x'"},
	{"user", "python", "import getpass, os, pwd\npwd.getpwuid(os.getuid()).pw_name, getpass.getuser()", "ok value=('user', 'user')"},
	{"network", "python", "import socket\nsocket.create_connection(('1.1.1.1', 53), 5)", "error error=OSError"},
	{"files", "python", "open('HOME/secret').read()", "error error=FileNotFoundError"},
	{"signals", "python", "import os, signal\nos.kill(HOST, 0)", "error error=ProcessLookupError"},
	{"environment", "bash", "echo \"[$TOOLCELL_SECRET]\"", "ok out=[]\n"},
	{"survivors", "bash", "setsid sleep SECONDS >/dev/null 2>&1 & echo left", "ok out=left\n"},
	{"timeout", "bash", "while :; do :; done", "timeout"},
	{"javascript", "javascript", "await Promise.resolve(6) * 7", "ok value=42"},
	{"node's files", "javascript", "require('fs').readFileSync('HOME/secret')", "error"},
	{"node's timeout", "javascript", "for (;;);", "timeout"},
	{"multiprocessing", "python", "import multiprocessing as m\nq = m.get_context('fork').Queue(); q.put(5); q.get()", "ok value=5"},
}

// TestSmoke protects what bubblewrap mode promises, in contexts and in processes of
// their own, and Landlock mode for what TestConformance does not run.
func TestSmoke(t *testing.T) {
	for _, mode := range []subprocess.Mode{subprocess.Bwrap, subprocess.Landlock} {
		t.Run(mode.String(), func(t *testing.T) { smokeTest(t, mode) })
	}
}

func smokeTest(t *testing.T, mode subprocess.Mode) {
	t.Setenv("TOOLCELL_SECRET", "x")
	home := t.TempDir()
	if err := os.WriteFile(home+"/secret", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ci := open(t, inMode(mode))
	seconds := fmt.Sprintf("3600.%d", rand.Int32())
	notebooks := map[string]*notebook{}
	for _, tt := range smoke {
		if mode == subprocess.Landlock && tt.language == "python" {
			continue
		}
		if notebooks[tt.language] == nil {
			notebooks[tt.language] = newNotebook(t, ci, tt.language)
		}
		code := strings.NewReplacer("HOME", home, "HOST", "999999", "SECONDS", seconds).Replace(tt.code)
		o := &codeinterp.RunOptions{Timeout: time.Minute}
		if tt.want == "timeout" {
			o.Timeout = 300 * time.Millisecond
		}
		for _, res := range []codeinterp.Result{notebooks[tt.language].run(code, o), run(t, ci, tt.language, code, o)} {
			if got := summary(res); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
			}
		}
	}
	for _, n := range notebooks {
		if err := ci.DeleteContext(t.Context(), n.id); err != nil {
			t.Error(err)
		}
	}
	if left := leftover.Running("sleep\x00" + seconds); len(left) > 0 {
		t.Errorf("processes %v live on", left)
	}
}
