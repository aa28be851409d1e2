package conformance_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/conformance"
)

// interpreters run a program the plain way, as no provider does, to see that
// the suite's programs do what their comments say.
var interpreters = map[string]func(code string) *exec.Cmd{
	"python": func(code string) *exec.Cmd { return exec.Command("python3", "-I", "-c", code) },
	"bash":   func(code string) *exec.Cmd { return exec.Command("bash", "-c", code) },
	"javascript": func(code string) *exec.Cmd {
		const prelude = "import { createRequire } from 'node:module'; const require = createRequire('file:///x.js');\n"
		return exec.Command("node", "--input-type=module", "-e", prelude+code)
	},
}

func TestPrograms(t *testing.T) {
	for language, command := range interpreters {
		t.Run(language, func(t *testing.T) {
			if path := command("").Path; !strings.HasPrefix(path, "/") {
				if os.Getenv("CI") != "" {
					t.Fatalf("%s is not installed", path)
				}
				t.Skipf("%s is not installed", path)
			}
			p, _ := conformance.ProgramsFor(language)
			testPrograms(t, p, func(code, stdin string) (string, string, int) {
				return execute(t, command(code), stdin)
			})
		})
	}
}

// execute returns what a command printed, and its exit code.
func execute(t *testing.T, cmd *exec.Cmd, stdin string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.TempDir(), strings.NewReader(stdin), &out, &errs
	cmd.Env = append(os.Environ(), "TOOLCELL_TEST=it's $HOME")
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), errs.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), 0
}

func testPrograms(t *testing.T, p conformance.Programs, run func(code, stdin string) (string, string, int)) {
	odd := "a\x00é\n\x1b[1m'\"\\$x `id` %d\r\n日🙂"
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	var numbers strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&numbers, "%07d\n", i)
	}
	for _, tt := range []struct {
		name, code, stdin string
		stdout, stderr    string
		exit              int
	}{
		{name: "Print", code: p.Print(odd), stdout: odd},
		{name: "PrintErr", code: p.PrintErr(odd), stderr: odd},
		{name: "joined", code: p.Print("a") + "\n" + p.Pause(10*time.Millisecond) + "\n" + p.PrintErr("b") + "\n" + p.Print("c"), stdout: "ac", stderr: "b"},
		{name: "Comment", code: p.Comment},
		{name: "Lines", code: p.Lines(2500), stdout: numbers.String()},
		{name: "Bytes", code: p.Bytes, stdout: string(all)},
		{name: "Split", code: p.Split, stdout: conformance.SplitText},
		{name: "Set and Get", code: p.Set("v", "it's é") + "\n" + p.Get("v"), stdout: "it's é\n"},
		{name: "Has", code: p.Has("v") + "\n" + p.Set("v", "") + "\n" + p.Has("v"), stdout: "no\nyes\n"},
		{name: "Exit", code: p.Exit(7) + "\n" + p.Print("after"), exit: 7},
		{name: "ReadAll", code: p.ReadAll, stdin: "one\ntwo", stdout: "[one\ntwo]\n"},
		{name: "GetEnv", code: p.GetEnv("TOOLCELL_TEST"), stdout: "it's $HOME\n"},
		{name: "GetEnv unset", code: p.GetEnv("TOOLCELL_NONE"), stdout: "<unset>\n"},
		{name: "files", code: p.WriteFile("f.txt", "é'\n") + "\n" + p.ReadFile("f.txt"), stdout: "é'\n"},
		{name: "KillSelf", code: p.KillSelf, exit: -1},
		{name: "Late", code: p.Late("late", 50*time.Millisecond) + "\n" + p.Print("own") + "\n" + p.Pause(400*time.Millisecond), stdout: "ownlate"},
		{name: "Child", code: p.Child("0.01") + "\n" + p.Print("own"), stdout: "own"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, exit := run(tt.code, tt.stdin)
			if stdout != tt.stdout || stderr != tt.stderr || exit != tt.exit {
				t.Errorf("got %q, stderr %q, exit %d\nwant %q, stderr %q, exit %d\ncode %s", stdout, stderr, exit, tt.stdout, tt.stderr, tt.exit, tt.code)
			}
		})
	}
}
