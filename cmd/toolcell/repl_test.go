package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
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
		{"several lines", "function f(x) {\n\n  return x + 1 // }\n}\nf(1)", nil, 0, "2\n", ""},
		{"a program that is not whole ends with two empty lines", "f(1\n\n\n3\n", nil, 0, "3\n", "SyntaxError"},
		{"a program that is not whole at the end", "1 + (\n2)", nil, 0, "3\n", ""},
		{"restart", "let a = 5\n:restart\ntypeof a\n", nil, 0, "undefined\n", ""},
		{"a failing program is not the end", "null.x\n1\n", nil, 0, "1\n", "TypeError"},
		{"output without a newline", "process.stdout.write('a'); undefined\n2\n", nil, 0, "a\n2\n", ""},
		{"timeout", "let a = 1\nfor (;;);\na\n", []string{"--timeout", "50ms"}, 0, "1\n", "timed out after"},
		{"exit code", "process.exit(2)\n1\n", nil, 0, "1\n", "toolcell: exit code 2"},
		{"quit", ":quit\n1\n", nil, 0, "", ""},
		{"save without a name", ":save\n", nil, 0, "", "such as work.ipynb"},
		{"save nowhere", ":save /no/such/x.ipynb\n1\n", nil, 0, "1\n", "/no/such"},
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

const helpText = `:help      say this
:paste     take lines as they are, blank ones too, up to a line with :end
:restart   forget all variables
:save      write FILE.ipynb: what was typed, and what came of it
:quit      end, as Ctrl-D does
Ctrl-C interrupts a program. An empty line ends one of several lines, two end any.
Programs have no standard input: input() and the like fail.
`

// TestReplSaves: what was saved is a notebook that runs as it was typed.
func TestReplSaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "work.ipynb")
	code, stdout, stderr := toolcell(t.Context(), "let a = 20\nconsole.log(a + 1); a + 2\nnull.x\n:save "+file+"\n", "repl")
	if code != 0 || !strings.Contains(stderr, "TypeError") {
		t.Fatalf("code %d, %q", code, stderr)
	}
	nb, err := readNotebook(file)
	if err != nil || len(nb.Cells) != 3 || nb.Language() != "javascript" {
		t.Fatalf("%+v, %v", nb, err)
	}
	if c := nb.Cells[1]; c.Source != "console.log(a + 1); a + 2" || len(c.Outputs) != 2 || c.ExecutionCount != 2 {
		t.Errorf("%+v", c)
	}
	if _, again, _ := toolcell(t.Context(), "", "run", "--allow-errors", file); again != stdout {
		t.Errorf("typed: %q, run: %q", stdout, again)
	}
}

// TestRecordIsBounded: of too much output the oldest goes, and programs stay.
func TestRecordIsBounded(t *testing.T) {
	var r record
	for range 3 {
		r.add("1", &codeinterp.Result{Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{{Kind: codeinterp.Stdout, Data: make([]byte, maxRecord/2)}}})
	}
	if len(r.cells) != 3 || r.emptied != 1 || len(r.cells[0].Outputs) != 0 || len(r.cells[1].Outputs) != 1 || r.size > maxRecord {
		t.Errorf("%d cells, %d of them emptied, %d bytes", len(r.cells), r.emptied, r.size)
	}
}

func TestWantsMore(t *testing.T) {
	for _, tt := range []struct {
		language, text string
		want           bool
	}{
		{"python", "x = 1\n", false},
		{"python", "if x:\n", true},
		{"python", "if x: # note\n", true},
		{"python", "x = ':'\n", false},
		{"python", "if x:\n  y\n", true},
		{"python", "if x:\n  y\n\n", false},
		{"python", "if x:\n  y\nelse: z\n", true},
		{"python", "f(1,\n", true},
		{"python", "f(1,\n\n", true},
		{"python", "f(1,\n\n\n", false},
		{"python", "f(1,\n2)\n", false},
		{"python", "s = '''a\n", true},
		{"python", "s = '''a\nb'''\n", false},
		{"python", "s = '(' # (\n", false},
		{"python", `s = 'it\'s ('` + "\n", false},
		{"python", "x = 1 + \\\n", true},
		{"python", "class A: pass\n", false},
		{"python", "@property\n", true},
		{"python", "\n", false},
		{"javascript", "function f() {\n", true},
		{"javascript", "`a\n", true},
		{"javascript", "/* a\n", true},
		{"javascript", "/* ' */ 1\n", false},
		{"javascript", "'(' // (\n", false},
		{"javascript", "if (x) { y() }\n", false},
		{"javascript", ")\n", false},
		{"bash", "echo a \\\n", true},
		{"bash", "if true; then\n", true},
		{"bash", "if true; then echo; fi\n", false},
		{"bash", "while read x; do\necho $x\n", true},
		{"bash", "while read x; do\necho $x\ndone\n", false},
		{"bash", "f() {\n", true},
		{"bash", "f() { echo; }\n", false},
		{"bash", "echo ${a#b} if do\n", false},
		{"bash", "echo 'a\n", true},
		{"bash", "case x in\nx) echo;;\nesac\n", false},
		{"bash", "true |\n", true},
		{"bash", "cat <<E\n", true},
		{"bash", "cat <<E\ntouch x\n\n\n", true},
		{"bash", "cat <<E\nit's (\nE\n", false},
		{"bash", "cat <<-'E F' >x\na\n\tE F\n", false},
		{"bash", "cat <<A <<B\nA\n", true},
		{"bash", "cat <<A <<B\nA\nB\n", false},
		{"bash", "cat <<E |\nE\n", true},
		{"bash", "cat <<<E\n", false},
		{"bash", "echo $((1<<2)) '<<E'\n", false},
	} {
		if got := wantsMore(tt.language, tt.text); got != tt.want {
			t.Errorf("%s %q: %v", tt.language, tt.text, got)
		}
	}
}

func FuzzWantsMore(f *testing.F) {
	f.Add("python", "if x:\n '''")
	f.Add("bash", "for i in \\")
	f.Add("javascript", "/* `\\")
	f.Fuzz(func(t *testing.T, language, text string) {
		if !strings.Contains(text, "<<") && wantsMore(language, text+"\n\n\n") {
			t.Error("two empty lines do not end it")
		}
		wantsMore(language, text+"\n")
	})
}

// TestCompleteWords: Tab offers what was typed if the runtime cannot be asked.
func TestCompleteWords(t *testing.T) {
	r := &repl{}
	r.words.add("total = price_of(total) + x1; é_long")
	for _, tt := range []struct {
		text       string
		pos, start int
		want       string
	}{
		{"to", 2, 0, "total"},
		{"f(pr)", 4, 2, "price_of"},
		{"if x:\n    to", 12, 10, "total"},
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
