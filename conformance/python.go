package conformance

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// python returns the programs for Python 3.8 and later, plain or IPython.
func python() Programs {
	return Programs{
		Print: func(s string) string { return fmt.Sprintf("print(%s, end='', flush=True)", literal(s)) },
		PrintErr: func(s string) string {
			return lines("import sys", fmt.Sprintf("print(%s, end='', file=sys.stderr, flush=True)", literal(s)))
		},
		Pause:   func(d time.Duration) string { return lines("import time", fmt.Sprintf("time.sleep(%g)", d.Seconds())) },
		Comment: "# nothing",

		Spin:     "while True: pass",
		Yielding: lines("import time", "try:", "    time.sleep(3600)", "except KeyboardInterrupt:", "    pass"),
		Stubborn: lines("import signal, time", "signal.signal(signal.SIGINT, signal.SIG_IGN)", "while True:", "    try:", "        time.sleep(1)", "    except BaseException:", "        pass"),
		Flood:    "while True: print('tick', flush=True)",
		Recurse:  lines("def recurse(n): return recurse(n + 1) + 1", "recurse(0)"),

		Exit:        func(code int) string { return lines("import sys", fmt.Sprintf("sys.exit(%d)", code)) },
		HardExit:    func(code int) string { return lines("import os", fmt.Sprintf("os._exit(%d)", code)) },
		Fail:        func(msg string) string { return fmt.Sprintf("raise ValueError(%s)", literal(msg)) },
		FailName:    "ValueError",
		FailLong:    func(n int) string { return fmt.Sprintf("raise ValueError('x' * %d)", n) },
		SyntaxError: "def (:",
		Raises: []Raise{
			{"1 / 0", "ZeroDivisionError", "division by zero"},
			{"raise KeyError('k')", "KeyError", "'k'"},
			{"assert False", "AssertionError", ""},
		},
		MissingModule: func(name string) string { return "import " + name },

		Repeat: func(stream codeinterp.Kind, s string, n int) string {
			return lines("import sys", fmt.Sprintf("print(%s * %d, end='', file=sys.%s, flush=True)", literal(s), n, stream))
		},
		Lines: func(n int) string {
			return lines("import sys",
				fmt.Sprintf("for i in range(0, %d, 1000):", n),
				fmt.Sprintf("    _ = sys.stdout.write(''.join('%%07d\\n' %% j for j in range(i, min(i + 1000, %d))))", n),
				"sys.stdout.flush()")
		},
		Bytes: lines("import sys", "_ = sys.stdout.buffer.write(bytes(range(256)))", "sys.stdout.flush()"),

		Set:     func(name, value string) string { return name + " = " + literal(value) },
		Get:     func(name string) string { return fmt.Sprintf("print(%s, flush=True)", name) },
		Partial: func(start string) string { return "ü = [" + start },
		Has: func(name string) string {
			return fmt.Sprintf("print('yes' if '%s' in globals() else 'no', flush=True)", name)
		},

		Values: []Expression{
			{"1 + 1", "2", "2"},
			{"''", `""`, "''"},
			{"\"it's\"", `"it's"`, `"it's"`},
			{"[1, 2.5, None, True, 'é']", `[1,2.5,null,true,"é"]`, "[1, 2.5, None, True, 'é']"},
			{"0", "0", "0"},
			{"1, 2", "[1,2]", "(1, 2)"},
			{"[(), {'a': (1,)}]", `[[],{"a":[1]}]`, "[(), {'a': (1,)}]"},
			{"{'b': 1, 'a': 2 ** 70}", `{"b":1,"a":1180591620717411303424}`, "{'b': 1, 'a': 1180591620717411303424}"},
			{"{1: 2}", "", "{1: 2}"},
			{"-float('inf')", "", "-inf"},
			{"float('nan')", "", "nan"},
			{"{1}", "", "{1}"},
			{"x = 41\nx + 1", "42", "42"},
			{"x = []\nfor _ in range(99): x = [x]\nx", strings.Repeat("[", 100) + strings.Repeat("]", 100), ""},
			{"x = []\nfor _ in range(100): x = [x]\nx", "", ""},
			{"'x' * (1 << 20)", "", ""},
		},
		Text:    literal,
		Number:  strconv.Itoa,
		NoValue: []string{"None", "x = 1", "import os", "for i in range(3): i", ""},

		Show:          pythonShow,
		DisplayUpdate: lines(pythonRich, "handle = display(Rich({'text/plain': 'one'}), display_id=True)", "handle.update(Rich({'text/plain': 'two'}))"),

		ReadAll:  lines("import sys", "print('[' + sys.stdin.read() + ']', flush=True)"),
		ReadLine: "print('[' + input() + ']', flush=True)",
		GetEnv: func(name string) string {
			return lines("import os", fmt.Sprintf("print(os.environ.get(%s, '<unset>'), flush=True)", literal(name)))
		},
		Getwd: lines("import os", "print(os.getcwd(), flush=True)"),

		WriteFile: func(path, text string) string {
			return lines(fmt.Sprintf("with open(%s, 'w') as f: _ = f.write(%s)", literal(path), literal(text)))
		},
		ReadFile: func(path string) string {
			return fmt.Sprintf("print(open(%s).read(), end='', flush=True)", literal(path))
		},
		AppendForever: func(path string) string {
			return lines("import time", "while True:",
				fmt.Sprintf("    with open(%s, 'a') as f: _ = f.write('.')", literal(path)), "    time.sleep(0.01)")
		},

		Connect: func(port int) string {
			return lines("import socket", fmt.Sprintf("socket.create_connection(('127.0.0.1', %d), 5).close()", port))
		},
		Kill: func(pid int) string {
			return lines("import os, signal", fmt.Sprintf("os.kill(%d, signal.SIGKILL)", pid))
		},

		KillSelf: lines("import os, signal", "os.kill(os.getpid(), signal.SIGKILL)"),
		Child: func(seconds string) string {
			return lines("import subprocess", fmt.Sprintf("child = subprocess.Popen(['sleep', '%s'])", seconds))
		},
		Late: func(text string, after time.Duration) string {
			return lines("import threading, time", "def late():",
				fmt.Sprintf("    time.sleep(%g)", after.Seconds()),
				fmt.Sprintf("    print(%s, end='', flush=True)", literal(text)),
				"threading.Thread(target=late, daemon=True).start()")
		},
	}
}

// pythonRich defines an object that shows itself as the bundle it is given.
const pythonRich = `class Rich:
    def __init__(self, bundle): self.bundle = bundle
    def __repr__(self): return 'plain'
    def _repr_mimebundle_(self, include=None, exclude=None): return self.bundle`

// pythonShow shows a bundle with each type's data as programs have it.
func pythonShow(bundle []codeinterp.Representation) string {
	var list []string
	for _, rep := range bundle {
		data := literal(string(rep.Data))
		switch {
		case codeinterp.IsJSON(rep.MIME):
			data = "__import__('json').loads(" + data + ")"
		case !codeinterp.IsText(rep.MIME):
			data = fmt.Sprintf("__import__('base64').b64decode('%s')", base64.StdEncoding.EncodeToString(rep.Data))
		}
		list = append(list, literal(rep.MIME)+": "+data)
	}
	return lines(pythonRich, "display(Rich({"+strings.Join(list, ", ")+"}))")
}
