package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/goldentest"
)

// TestFlags: all commands and flags, as the help, the man page and the shells
// have them.
func TestFlags(t *testing.T) {
	var help strings.Builder
	for _, c := range subcommands() {
		if c.flags != nil {
			code, stdout, stderr := toolcell(t.Context(), "", c.name, "--help")
			if code != 0 || stderr != "" {
				t.Errorf("%s --help: code %d, %q", c.name, code, stderr)
			}
			help.WriteString(stdout + "\n")
		}
	}
	goldentest.Check(t, "flags.txt", []byte(help.String()))
	for name, args := range map[string][]string{
		"help.txt": {"help"}, "toolcell.1": {"man"},
		"completion.bash": {"completion", "bash"}, "completion.zsh": {"completion", "zsh"}, "completion.fish": {"completion", "fish"},
	} {
		code, stdout, stderr := toolcell(t.Context(), "", args...)
		if code != 0 || stderr != "" {
			t.Errorf("%q: code %d, %q", args, code, stderr)
		}
		goldentest.Check(t, name, []byte(stdout))
	}
}

// TestMessages: what people read who have asked for something in a wrong way.
func TestMessages(t *testing.T) {
	var all strings.Builder
	for _, line := range []string{
		"", "nope", "runn", "help dcotor", "run", "run --nope", "run --provder subprocess", "run nope.js", "run -e 1 --timeout", "run --timeout soon -e 1", "run --provider x -e 1", "run --provider subproces -e 1", "run --provider subprocess --python ./no -e 1",
		"run --language cobol -e 1", "run --language python -e 1", "run --provider jupyter -e 1", "run --url http://h --kernel k --header x -e 1",
		"run --url http://h --ca /no/such.pem -e 1", "run --url http://h -e 1 argument", "run --dir . -e 1", "run --provider subprocess --dir /no/such -e 1", "run --stdin -", "run --env =x -e 1",
		"run --memory much -e 1", "run --isolation maybe -e 1", "run --out x.ipynb -e 1", "run --json x.ipynb", "run x.ipynb argument", "run x.ipynb",
		"run --env-name a --with b -e 1", "run --with git+ssh://x -e 1",
		"repl x", "repl --timeout -1s", "repl --language cobol", "mcp x", "mcp --http-token x", "mcp --workspace -", "mcp --languages cobol", "mcp --http 0.0.0.0:0",
		"env", "env create", "env create .. six", "env create x", "env create x --requirements /no/such", "env create x six --python /no/such", "env remove ..", "env remove no-such", "env lock no-such", "run --env-name no-such -e 1", "env create x six --lock x", "doctor x", "doctor --provider x",
		"sweep", "sweep --url http://h x", "completion", "completion tcsh", "man x", "keep --help", "help version", "version x", "run --stdin FILE -e 1", "run --stdin - -e 1",
	} {
		code, stdout, stderr := toolcell(t.Context(), "", strings.Fields(line)...)
		fmt.Fprintf(&all, "$ toolcell %s\n%s%s[%d]\n", line, stdout, stderr, code)
	}
	goldentest.Check(t, "messages.txt", []byte(all.String()))
}

// TestCompletion asks bash, and the man page's reader.
func TestCompletion(t *testing.T) {
	needs(t, "bash")
	_, source, _ := toolcell(t.Context(), "", "completion", "bash")
	for line, want := range map[string]string{
		"re":              "repl",
		"run --prov":      "--provider",
		"run --provider ": "inmemory jupyter subprocess",
		"run --timeout ":  "",
		"run command_t":   "command_test.go",
		"run --read comm": "command.go command_test.go",
		"env ":            "create list lock remove sweep",
		"completion z":    "zsh",
		"run --env-name ": "data tools",
	} {
		words := append([]string{"toolcell"}, strings.Split(line, " ")...)
		script := source + "\ntoolcell() { printf 'data  pandas==2 six\\ntools  is gone\\n'; }" + "\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _toolcell; printf '%s\\n' \"${COMPREPLY[@]}\""
		out, err := exec.CommandContext(t.Context(), "bash", append([]string{"-c", script, "bash"}, words...)...).Output()
		list := strings.Fields(string(out))
		slices.Sort(list)
		if got := strings.Join(list, " "); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", line, got, err, want)
		}
	}
}

// TestManPageIsOne: the reader has nothing to complain about.
func TestManPageIsOne(t *testing.T) {
	needs(t, "groff")
	_, page, _ := toolcell(t.Context(), "", "man")
	cmd := exec.CommandContext(t.Context(), "groff", "-man", "-ww", "-Tascii", "-z")
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
