package main

import (
	"strings"
	"testing"
)

// TestReplOfAPipe: without a terminal the lines are taken as if they were typed,
// and only programs' output is shown.
func TestReplOfAPipe(t *testing.T) {
	for _, tt := range []struct {
		name, stdin    string
		args           []string
		code           int
		stdout, stderr string // stderr: a part of it
	}{
		{"variables stay", "let a = 5\na * 2\n", nil, 0, "10\n", ""},
		{"the last value", "6 * 7\nfunction f() {}\n_ + 1\n", nil, 0, "42\n43\n", ""},
		{"several lines", "function f(x) {\n\n  return x + 1 // }\n}\nf(1)", nil, 0, "2\n", ""},
		{"a program that is not whole ends with two empty lines", "f(1\n\n\n3\n", nil, 0, "3\n", "SyntaxError"},
		{"a program that is not whole at the end", "1 + (\n2)", nil, 0, "3\n", ""},
		{"restart", "let a = 5\n:restart\ntypeof a\n", nil, 0, "undefined\n", ""},
		{"a failing program is not the end", "null.x\n1\n", nil, 0, "1\n", "TypeError"},
		{"output without a newline", "process.stdout.write('a'); undefined\n2\n", nil, 0, "a\n2\n", ""},
		{"timeout", "let a = 1\nfor (;;);\na\n", []string{"--timeout", "1s"}, 0, "1\n", "timed out after"},
		{"exit code", "process.exit(2)\n1\n", nil, 0, "1\n", "toolcell: exit code 2"},
		{"quit", ":quit\n1\n", nil, 0, "", ""},
		{"environment", "process.env.A\n", []string{"--env", "A=b"}, 0, "b\n", ""},
		{"operand", "", []string{"x"}, 2, "", `repl takes no "x"`},
		{"bad timeout", "1\n", []string{"--timeout", "-1s"}, 2, "", "negative timeout"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := toolcell(t.Context(), tt.stdin, append([]string{"repl"}, tt.args...)...)
			if code != tt.code || stdout != tt.stdout || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d, stdout %q, stderr %q; want %d, %q, ...%q...", code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

// TestTab: Tab completes commands, and indents at the beginning of a line.
func TestTab(t *testing.T) {
	r := &repl{}
	for _, tt := range []struct {
		text       string
		pos, start int
		want       string
	}{
		{":re", 3, 1, "restart"},
		{"if x:\n  ", 8, 8, "    "},
		{"total", 5, 0, ""},
		{"x.", 2, 2, ""},
		{"x.to", 4, 2, ""},
	} {
		if start, list := r.complete(tt.text, tt.pos); start != tt.start || strings.Join(list, " ") != tt.want {
			t.Errorf("%q: %d, %q", tt.text, start, list)
		}
	}
}

// TestPipedBlocks: what follows a blank line in a function that comes by a pipe does not
// run at the top level.
func TestPipedBlocks(t *testing.T) {
	var stderr strings.Builder
	r := &repl{app: &app{stderr: &stderr}, language: "python", lines: &plainLines{language: "python"}}
	if r.stray("x = 1\n") || !r.stray("    print('ran')\n") || !strings.Contains(stderr.String(), "unexpected indent") {
		t.Errorf("%q", &stderr)
	}
	for text, want := range map[string]int{"exit()": 0, "quit": 0, "exit(3)": 3, " exit ( 4 ) ;": 4} {
		if code, ok := exitIn("python", text); !ok || code != want {
			t.Errorf("%q: %d, %v", text, code, ok)
		}
	}
	for _, text := range []string{"exit2", "exit(x)", "print(exit())"} {
		if _, ok := exitIn("python", text); ok {
			t.Errorf("%q ends", text)
		}
	}
}
