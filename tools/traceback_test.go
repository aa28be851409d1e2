package tools_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestTracebacks: the frames of libraries are left out, whoever printed them.
func TestTracebacks(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   codeinterp.ProgramError
		lines string // traceback, by newlines
		want  string
	}{
		{
			"python", codeinterp.ProgramError{Name: "JSONDecodeError", Message: "Expecting value"},
			`Traceback (most recent call last):
  File "<run 3>", line 2, in <module>
    load()
    ~~~~^^
  File "<run 3>", line 1, in load
    json.loads("")
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/usr/lib/python3.11/json/decoder.py", line 337, in decode
    obj, end = self.raw_decode(s)
JSONDecodeError: Expecting value`,
			`Traceback (most recent call last):
  File "<run 3>", line 2, in <module>
    load()
    ~~~~^^
  File "<run 3>", line 1, in load
    json.loads("")
  [2 library frames left out]
JSONDecodeError: Expecting value`,
		},
		{
			"ipython", codeinterp.ProgramError{Name: "KeyError", Message: "'a'"},
			`---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
Cell In[3], line 2
      1 import pandas
----> 2 df['a']

File /opt/venv/lib/python3.11/site-packages/pandas/core/frame.py:4102, in DataFrame.__getitem__(self, key)
   4101     return self._getitem_multilevel(key)
-> 4102 indexer = self.columns.get_loc(key)

KeyError: 'a'`,
			`---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
Cell In[3], line 2
      1 import pandas
----> 2 df['a']

  [1 library frame left out]

KeyError: 'a'`,
		},
		{
			"node", codeinterp.ProgramError{Name: "TypeError", Message: "x is not a function"},
			`TypeError: x is not a function
    at f (run-1.js:2:3)
    at Array.map (<anonymous>)
    at run-1.js:5:1
    at Script.runInThisContext (node:vm:123:12)
    at Object.<anonymous> (/x/node_modules/y/index.js:1:1)`,
			`TypeError: x is not a function
    at f (run-1.js:2:3)
    at Array.map (<anonymous>)
    at run-1.js:5:1
  [2 library frames left out]`,
		},
		{"own line missing", codeinterp.ProgramError{Name: "E", Message: "m"}, "at f (a.js:1:2)", "at f (a.js:1:2)\nE: m"},
		{"none", codeinterp.ProgramError{Message: "m"}, "", "m"},
		{"terminal", codeinterp.ProgramError{Name: "E", Message: "\x1b[31mm\x1b[0m"}, "", "E: m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := tt.err
			if tt.lines != "" {
				e.Traceback = strings.Split(tt.lines, "\n")
			}
			res := codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 1, Error: &e}
			for _, tb := range [][]string{e.Traceback, {tt.lines}} {
				if e.Traceback != nil {
					e.Traceback = tb
				}
				r := run(t, res, nil)
				if got := section(r.Text, "error"); got != tt.want+"\n" {
					t.Errorf("got\n%s\nwant\n%s", got, tt.want)
				}
				if r.Result.Error != &e && strings.Join(r.Result.Error.Traceback, "\n") != tt.lines {
					t.Error("the caller's traceback is changed")
				}
			}
		})
	}
}

// TestTracebackTwice: a traceback that the runtime printed to stderr as well is
// shown once.
func TestTracebackTwice(t *testing.T) {
	trace := "Traceback (most recent call last):\n  File \"<run>\", line 1, in <module>\nE: m"
	r := run(t, codeinterp.Result{
		Status: codeinterp.StatusError, ExitCode: 1, Outputs: []codeinterp.Output{errOut("before\n" + trace + "\n")},
		Error: &codeinterp.ProgramError{Name: "E", Message: "m", Traceback: strings.Split(trace, "\n")},
	}, nil)
	if want := "error, exit code 1\n--- stderr ---\nbefore\n" + trace + "\n--- error ---\nE: m\n"; r.Text != want {
		t.Errorf("got %q", r.Text)
	}
}
