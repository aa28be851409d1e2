package inmemory_test

import (
	"testing"

	"github.com/toolcell/toolcell/internal/scriptfile"
)

// A file runs as node runs it: contract row 20.
func TestScriptFile(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for _, tt := range []struct{ file, code, out, err string }{
		{"a.mjs", "let y = 1; console.log(this, y)", "undefined 1\n", ""},
		{"a.mjs", "misspelt = 5", "", "ReferenceError: 'misspelt' is not defined"},
		{"a.mjs", "import { sep } from 'node:path'; await null; console.log(sep)", "/\n", ""},
		{"a.js", "misspelt = 5; console.log(misspelt)", "5\n", ""},
		{"a.js", "function f() { return arguments.length } console.log(await f(1))", "1\n", ""},
		{"a.mjs", "let = 1", "", "SyntaxError: "},
	} {
		res, err := s.RunCode(scriptfile.With(t.Context(), scriptfile.Script{File: tt.file}), "javascript", tt.code, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if e := res.Error; e != nil {
			got = (e.Name + ": " + e.Message)[:min(len(tt.err), len(e.Name+": "+e.Message))]
		}
		if res.Stdout() != tt.out || got != tt.err {
			t.Errorf("%s: %s: %q, %v; want %q, %s", tt.file, tt.code, res.Stdout(), res.Error, tt.out, tt.err)
		}
	}
}

// The value of a context's last program is in _, unless a program has one of its own.
func TestLastValue(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	id := create(t, s, "javascript")
	for _, tt := range []struct{ code, want string }{
		{"typeof _", "undefined"}, {"[1]", "[ 1 ]"}, {"_.push(2); _", "[ 1, 2 ]"}, {"await Promise.resolve(3)", "3"}, {"undefined", ""}, {"_ + 1", "4"},
		{"_ = 7", "7"}, {"8", "8"}, {"_", "7"}, {"let _ = 9", ""}, {"5", "5"}, {"_", "9"},
	} {
		if res := run(t, s, id, tt.code, nil); res.Text() != tt.want {
			t.Errorf("%s: %s, want %s", tt.code, res.Text(), tt.want)
		}
	}
}
