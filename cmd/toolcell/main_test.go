package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// toolcell runs the command in this process.
func toolcell(ctx context.Context, stdin string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	a := &app{stdin: strings.NewReader(stdin), stdout: &out, stderr: &err, getenv: environment}
	code = a.main(ctx, args)
	return code, out.String(), err.String()
}

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prog.ts")
	if err := os.WriteFile(file, []byte("const n: number = 20; console.log(n + 1)"), 0o600); err != nil {
		t.Fatal(err)
	}
	other, script := filepath.Join(t.TempDir(), "a.rb"), filepath.Join(t.TempDir(), "script")
	args, fails, quiet := filepath.Join(t.TempDir(), "args"), filepath.Join(t.TempDir(), "fails.js"), filepath.Join(t.TempDir(), "quiet.js")
	for path, code := range map[string]string{quiet: "console.log('a'); ({ b: 1 })", args: "#!/usr/bin/env node\nconsole.log(process.argv.slice(1).join('|'))", fails: "\n\nnull.x", other: "puts 1", script: "#!/usr/bin/env -S node --harmony\nconsole.log(6 * 7)\n5"} {
		if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name           string
		stdin          string
		args           []string
		code           int
		stdout, stderr string // stderr: a part of it
	}{
		{"value", "", []string{"-e", "6 * 7"}, 0, "42\n", ""},
		{"output and value", "", []string{"-e", "console.log('a'); process.stdout.write('b'); 1"}, 0, "a\nb\n1\n", ""},
		{"file", "", []string{file}, 0, "21\n", ""},
		{"standard input", "3 + 4", []string{"-"}, 0, "7\n", ""},
		{"what follows the file is the program's", "", []string{file, "--timeout", "10s"}, 0, "21\n", ""},
		{"arguments", "", []string{args, "a'b \"c\"", "-x", "--"}, 0, args + "|a'b \"c\"|-x|--\n", ""},
		{"arguments of -e", "", []string{"-e", "process.argv.slice(1).join('|')", "a", "b"}, 0, "-|a|b\n", ""},
		{"arguments of standard input", "process.argv[2]", []string{"-", "a"}, 0, "a\n", ""},
		{"the file's name in errors", "", []string{fails, "a"}, 1, "", fails + ":3:"},
		{"no duration", "", []string{"--timeout", "5", "-e", "1"}, 2, "", "missing unit"},
		{"arguments of a kernel", "", []string{"--url", "http://127.0.0.1:1", "-e", "1", "a"}, 2, "", "a kernel takes no arguments"},
		{"program's stdin", "abc", []string{"--stdin", "-e", "require('fs').readFileSync(0, 'utf8').length"}, 0, "3\n", ""},
		{"exit code", "", []string{"-e", "process.exit(7)"}, 7, "", ""},
		{"exception", "", []string{"-e", "null.x"}, 1, "", "TypeError"},
		{"Python without --language", "", []string{"-e", "import os"}, 1, "", "toolcell: this ran as JavaScript; --language python runs Python"},
		{"no network", "", []string{"-e", "await fetch('http://example.com')"}, 1, "", "toolcell: programs have no network; --allow HOST lets fetch"},
		{"timeout", "", []string{"--timeout", "1s", "-e", "console.log('hi'); for(;;);"}, 124, "hi\n", "toolcell: timed out after"},
		{"display", "", []string{"-e", "display('text/plain', 'shown'); undefined"}, 0, "shown\n", ""},
		{"environment", "", []string{"--env", "A=b=c", "--env", "NONE", "-e", "process.env.A + process.env.NONE"}, 0, "b=c\n", ""},
		{"bad environment", "", []string{"--env", "=x", "-e", ""}, 2, "", "NAME=VALUE"},
		{"unknown extension", "", []string{other}, 2, "", "does not show the language; choose with --language"},
		{"shebang", "", []string{script}, 0, "42\n", ""},
		{"no program", "", nil, 2, "", "no program"},
		{"stdin twice", "1", []string{"--stdin", "-"}, 2, "", "standard input is the program"},
		{"bad provider", "", []string{"--provider", "x", "-e", ""}, 2, "", "unknown provider"},
		{"jupyter without url", "", []string{"--provider", "jupyter", "-e", ""}, 2, "", "--url"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := toolcell(t.Context(), tt.stdin, append([]string{"run"}, tt.args...)...)
			if code != tt.code || stdout != tt.stdout || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d, stdout %q, stderr %q; want %d, %q, ...%q...", code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
			}
			if tt.code == 2 && strings.Count(stderr, "\n") != 1 {
				t.Errorf("bad usage takes more than a line:\n%s", stderr)
			}
		})
	}
}

func TestRunJSON(t *testing.T) {
	code, stdout, stderr := toolcell(t.Context(), "", "run", "--json", "-e", "console.log('x'.repeat(9e6)); throw new Error('e')")
	var res codeinterp.Result
	if err := json.Unmarshal([]byte(stdout), &res); err != nil || stderr != "" {
		t.Fatalf("%v, stderr %q", err, stderr)
	}
	if code != 1 || res.Status != codeinterp.StatusError || len(res.Stdout()) != 9e6+1 || res.Error.Message != "e" {
		t.Errorf("code %d, status %s, %d bytes, error %v", code, res.Status, len(res.Stdout()), res.Error)
	}
}

func TestRunIsStoppedByCtrlC(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	code, _, stderr := toolcell(ctx, "", "run", "-e", "for(;;);")
	if code != 130 || !strings.Contains(stderr, "stopped") {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}

// A stoppedInterpreter is an interpreter whose run is ended while OnOutput is busy.
type stoppedInterpreter struct{ codeinterp.CodeInterpreter }

func (stoppedInterpreter) RunCode(_ context.Context, _, _ string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
	out := func(k codeinterp.Kind, text string) codeinterp.Output {
		if k == codeinterp.Display {
			return codeinterp.Output{Kind: k, Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte(text)}}}
		}
		return codeinterp.Output{Kind: k, Data: []byte(text)}
	}
	for _, live := range []codeinterp.Output{out(codeinterp.Stdout, "one "), out(codeinterp.Display, "first"), out(codeinterp.Stderr, "a"), out(codeinterp.Stdout, "tw")} {
		if err := o.OnOutput(live); err != nil {
			return codeinterp.Result{CallbackErr: err}, nil
		}
	}
	return codeinterp.Result{
		Status: codeinterp.StatusTimeout, ExitCode: codeinterp.ExitTimeout, CallbackErr: errors.New("outputs came too late"),
		Outputs: []codeinterp.Output{
			out(codeinterp.Stdout, "one "), out(codeinterp.Display, "first"), out(codeinterp.Stderr, "ab"),
			out(codeinterp.Stdout, "two"), out(codeinterp.Display, "second"),
		},
	}, nil
}

// TestLateOutputIsShown: what OnOutput did not see is shown from the Result,
// and the exit code stays the program's.
func TestLateOutputIsShown(t *testing.T) {
	var stdout, stderr bytes.Buffer
	a := &app{stdout: &stdout, stderr: &stderr}
	code := a.runLive(t.Context(), stoppedInterpreter{}, "x", "", &programFlags{}, &codeinterp.RunOptions{}, &runFiles{}, newScreen(a, imageShower{none: true}))
	if want := "one \nfirst\ntwo\nsecond\n"; code != codeinterp.ExitTimeout || stdout.String() != want || !strings.HasPrefix(stderr.String(), "abtoolcell: timed out") {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}

// A moduleMisser is an interpreter whose programs miss a module.
type moduleMisser struct{ stoppedInterpreter }

func (moduleMisser) Describe() codeinterp.Info {
	return codeinterp.Info{Languages: []codeinterp.LanguageInfo{
		{Name: "python", Runtime: "CPython 3.11.7", Path: "/usr/bin/python3", PassedOver: []string{"/srv/python3 (closed)"}},
	}}
}

func (moduleMisser) RunCode(context.Context, string, string, *codeinterp.RunOptions) (codeinterp.Result, error) {
	return codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 1, Error: &codeinterp.ProgramError{
		Name: "ModuleNotFoundError", Message: "No module named 'pandas'", MissingModule: "pandas"}}, nil
}

// TestMissingModule: the first error of a newcomer says which python it was.
func TestMissingModule(t *testing.T) {
	var stderr bytes.Buffer
	a := &app{stdout: io.Discard, stderr: &stderr}
	code := a.runLive(t.Context(), moduleMisser{}, "python", "", &programFlags{}, &codeinterp.RunOptions{}, &runFiles{}, newScreen(a, imageShower{none: true}))
	want := `ModuleNotFoundError: No module named 'pandas'
toolcell: this was CPython 3.11.7, /usr/bin/python3; --python PATH takes another
toolcell: --with pandas installs it
`
	if code != 1 || stderr.String() != want {
		t.Errorf("code %d, stderr\n%s\nwant\n%s", code, stderr.String(), want)
	}
	stderr.Reset()
	printLanguage(&stderr, &codeinterp.LanguageInfo{Path: "/v/bin/python3", Prefix: "/v", Packages: []string{"six 1"},
		Roots: []string{"/v/lib"}, PassedOver: []string{"/srv/python3 (closed)"}})
	for _, want := range []string{"is /v/bin/python3", "below /v", "has six 1", "opens /v/lib", "not /srv/python3 (closed)"} {
		if !strings.Contains(stderr.String(), want+"\n") {
			t.Errorf("doctor does not say %q:\n%s", want, stderr.String())
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestOutputThatCannotBeShown(t *testing.T) {
	var stderr bytes.Buffer
	a := &app{stdout: brokenWriter{}, stderr: &stderr}
	if code := a.runLive(t.Context(), stoppedInterpreter{}, "x", "", &programFlags{}, &codeinterp.RunOptions{}, &runFiles{}, newScreen(a, imageShower{none: true})); code != exitFailure || !strings.Contains(stderr.String(), "showing the output: no room") {
		t.Errorf("code %d, stderr %q", code, stderr.String())
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
	}{{nil, 2}, {[]string{"help"}, 0}, {[]string{"--help"}, 0}, {[]string{"help", "run"}, 0}, {[]string{"man"}, 0}, {[]string{"nope"}, 2}, {[]string{"run", "--help"}, 0}, {[]string{"doctor", "x"}, 2},
		{[]string{"keep", "--help"}, 0}, {[]string{"keep", "list", "--help"}, 0}, {[]string{"version", "-h"}, 0}, {[]string{"version", "x"}, 2}} {
		if code, stdout, stderr := toolcell(t.Context(), "", tt.args...); code != tt.code || stdout+stderr == "" {
			t.Errorf("%q: code %d, %q, %q", tt.args, code, stdout, stderr)
		}
	}
}

func TestSecretsAreNotInTheHelp(t *testing.T) {
	var out bytes.Buffer
	a := &app{stdout: &out, stderr: &out, getenv: func(string) string { return "s3cret" }}
	a.main(t.Context(), []string{"run", "--help"})
	if strings.Contains(out.String(), "s3cret") {
		t.Errorf("the help shows the environment:\n%s", out.String())
	}
}

func TestRunStoppedBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"run", "-e", "1"}, {"run", "--json", "-e", "1"}, {"run", "--provider", "jupyter", "--url", silent(t), "-e", "1"}, {"doctor"}} {
		if code, _, stderr := toolcell(ctx, "", args...); code != 130 || !strings.Contains(stderr, "stopped") {
			t.Errorf("%q: code %d, stderr %q", args, code, stderr)
		}
	}
}

// A failWriter takes nothing.
type failWriter struct{}

func (failWriter) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestRunEndsWithItsReader(t *testing.T) {
	var stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: failWriter{}, stderr: &stderr, getenv: func(string) string { return "" }}
	code := a.main(t.Context(), []string{"run", "-e", "for (;;) console.log('x')"})
	if code != 141 || stderr.Len() > 0 {
		t.Errorf("code %d, stderr %q", code, stderr.String())
	}
}

// silent returns the URL of a server that takes requests and never answers.
func silent(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return "http://" + ln.Addr().String()
}

func TestStoppedWhileTheProviderOpens(t *testing.T) {
	url := silent(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		args   []string
		code   int
		stderr string
	}{
		{"timeout", t.Context(), []string{"run", "--timeout", "50ms", "--url", url, "-e", "1"}, 124, "toolcell: timed out after 50ms, before the program began\n"},
		{"timeout in JSON", t.Context(), []string{"run", "--json", "--timeout", "50ms", "--url", url, "-e", "1"}, 124, "before the program began"},
		{"Ctrl-C", ctx, []string{"run", "--url", url, "-e", "1"}, 130, "toolcell: stopped\n"},
		{"Ctrl-C and timeout", ctx, []string{"run", "--timeout", "1m", "--url", url, "-e", "1"}, 130, "toolcell: stopped\n"},
		{"end of the server", ctx, []string{"mcp", "--url", url}, 0, ""},
		{"examination", ctx, []string{"doctor", "--provider", "jupyter", "--url", url}, 130, "stopped"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if code, stdout, stderr := toolcell(tt.ctx, "", tt.args...); code != tt.code || !strings.Contains(stderr, tt.stderr) || strings.Contains(stdout, "{") {
				t.Errorf("code %d, stdout %q, stderr %q; want %d and %q", code, stdout, stderr, tt.code, tt.stderr)
			}
		})
	}
}

func TestStoppedWhileReadingStandardInput(t *testing.T) {
	for _, args := range [][]string{{"run", "-"}, {"run", "--stdin", "-e", "1"}} {
		in, w := io.Pipe()
		defer w.Close()
		var stderr bytes.Buffer
		a := &app{stdin: in, stdout: io.Discard, stderr: &stderr, getenv: func(string) string { return "" }}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		if code := a.main(ctx, args); code != 130 || stderr.String() != "toolcell: stopped\n" {
			t.Errorf("%q: code %d, stderr %q", args, code, stderr.String())
		}
	}
}

// TestDoctorTellsWhatIsMissing looks for interpreters where there are none.
func TestDoctorTellsWhatIsMissing(t *testing.T) {
	var out bytes.Buffer
	none := providerFlags{subprocessFlags: subprocessFlags{unsandboxed: true}}
	languages := ownLanguages()
	for i := range languages {
		languages[i].Commands = []string{"/nonexistent/" + languages[i].Name}
	}
	printMissing(&out, none, languages, nil)
	for _, want := range []string{"python       missing: ", "apt install python3", "apt install nodejs", "install bash"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}

// contents reads all files below dir, by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		path, _ = filepath.Rel(dir, path)
		all[filepath.ToSlash(path)] = string(b)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}
