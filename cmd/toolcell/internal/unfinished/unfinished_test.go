package unfinished

import (
	"strings"
	"testing"
)

// TestProgram: the prompt asks for another line exactly where a program needs one.
func TestProgram(t *testing.T) {
	for _, tt := range []struct {
		language, text string
		want           bool
	}{
		{"python", "x = 1\n", false},
		{"python", "if x:\n", true},
		{"python", "if x: # note\n", true},
		{"python", "if x:\n  y\n", true},
		{"python", "if x:\n  y\n\n", false},
		{"python", "if x:\n  y\nelse: z\n", true},
		{"python", "f(1,\n", true},
		{"python", "f(1,\n\n\n", false},
		{"python", "f(1,\n2)\n", false},
		{"python", "s = '''a\n", true},
		{"python", "s = '(' # (\n", false},
		{"python", `s = 'it\'s ('` + "\n", false},
		{"python", "x = 1 + \\\n", true},
		{"python", "@property\n", true},
		{"javascript", "function f() {\n", true},
		{"javascript", "`a\n", true},
		{"javascript", "/* a\n", true},
		{"javascript", "'(' // (\n", false},
		{"javascript", "if (x) { y() }\n", false},
		{"bash", "echo a \\\n", true},
		{"bash", "while read x; do\necho $x\n", true},
		{"bash", "while read x; do\necho $x\ndone\n", false},
		{"bash", "echo ${a#b} if do\n", false},
		{"bash", "echo 'a\n", true},
		{"bash", "case x in\nx) echo;;\nesac\n", false},
		{"bash", "true |\n", true},
		{"bash", "cat <<E\ntouch x\n\n\n", true},
		{"bash", "cat <<E\nit's (\nE\n", false},
		{"bash", "cat <<-'E F' >x\na\n\tE F\n", false},
		{"bash", "cat <<<E\n", false},
		{"bash", "echo $((1<<2)) '<<E'\n", false},
	} {
		if got := Program(tt.language, tt.text); got != tt.want {
			t.Errorf("%s %q: %v", tt.language, tt.text, got)
		}
	}
}

func FuzzProgram(f *testing.F) {
	f.Add("python", "if x:\n '''")
	f.Add("bash", "for i in \\")
	f.Add("javascript", "/* `\\")
	f.Fuzz(func(t *testing.T, language, text string) {
		if !strings.Contains(text, "<<") && Program(language, text+"\n\n\n") {
			t.Error("two empty lines do not end it")
		}
		Program(language, text+"\n")
	})
}
