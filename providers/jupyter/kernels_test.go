//go:build linux

package jupyter_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/jupytertest"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// A foreign is a kernel and, in its language, the programs that show what can be
// done with it; an empty one is for what the language does not have.
type foreign struct {
	name     string // in the package doc
	language string
	must     bool // installed from the registry of Python's packages
	spec     string
	grace    time.Duration // for an interrupt, where it does something

	value, json, stderr, fail, exit, read, env, cwd, spin, set, get, die string
}

// dead is the grace for kernels that an interrupt does nothing to.
const dead = 500 * time.Millisecond

func foreigns() []foreign {
	python := foreign{value: "6 * 7", json: "{'a': [1]}", stderr: "import sys; print('e', file=sys.stderr)",
		fail: "\nraise ValueError('boom')", exit: "import sys; sys.exit(3)", read: "print(input())",
		env: "import os; print(os.environ.get('GIVEN'))", cwd: "import os; print(os.getcwd())",
		spin: "while True: pass", set: "x = 5", get: "print(x)", die: "import os; os.kill(os.getpid(), 9)"}
	r := foreign{value: "6 * 7", json: "list(a = 1)", stderr: "message('e')", fail: "\nstop('boom')",
		exit: "quit(status = 3)", read: "cat(readline())", env: "cat(Sys.getenv('GIVEN'))", cwd: "cat(getwd())",
		spin: "while (TRUE) Sys.sleep(0.01)", set: "x <- 5", get: "cat(x)", die: "tools::pskill(Sys.getpid(), 9)"}
	bash := foreign{stderr: "echo e >&2", fail: "no-such-boom", exit: "(exit 3)", read: "read x; echo $x",
		env: "echo $GIVEN", cwd: "pwd", spin: "while :; do :; done", set: "x=5", get: "echo $x", die: "kill -9 $$"}
	deno := foreign{value: "6 * 7", json: "({a: [1]})", stderr: "console.error('e')", fail: "\nthrow new Error('boom')",
		exit: "Deno.exit(3)", read: "console.log(prompt())", env: "console.log(Deno.env.get('GIVEN'))", cwd: "console.log(Deno.cwd())",
		spin: "for (;;);", set: "globalThis.x = 5", get: "console.log(x)", die: "Deno.kill(Deno.pid, 'SIGKILL')"}
	name := func(f foreign, name, language, spec string, must bool, grace time.Duration) foreign {
		f.name, f.language, f.spec, f.must, f.grace = name, language, spec, must, grace
		return f
	}
	calysto := name(bash, "calysto_bash", "bash@calysto_bash", `{"argv": ["BIN/python", "-m", "calysto_bash", "-f", "{connection_file}"], "display_name": "C", "language": "bash"}`, true, 0)
	const xpython = `{"argv": ["BIN/python", "-m", "xpython_launcher", "-f", "{connection_file}"FLAG], "display_name": "X", "language": "python"}`
	return []foreign{
		name(python, "ipykernel", "python", "", true, 0),
		name(python, "xpython", "python@xpython", strings.Replace(xpython, "FLAG", "", 1), true, dead),
		name(python, "xpython-raw", "python@xpython-raw", strings.Replace(xpython, "FLAG", `, "--raw"`, 1), true, dead),
		name(r, "IRkernel", "r", "", false, 0),
		name(deno, "Deno", "javascript", "", false, dead),
		name(bash, "bash_kernel", "bash", "", true, 0),
		calysto,
	}
}

// kernelServer is a server that offers the specs.
func kernelServer(t *testing.T, specs map[string]string) *server {
	s := ownServer(t, "server6")
	s.offer(t, specs)
	return s
}

// offer adds kernelspecs to those that the server has.
func (s *server) offer(t *testing.T, specs map[string]string) {
	t.Helper()
	for name, spec := range specs {
		dir := filepath.Join(jupytertest.Path(s.dir), "kernels", name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		spec = strings.ReplaceAll(spec, "BIN", filepath.Dir(s.cmd.Path))
		if err := os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(spec), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKernels tries on each kernel what can be done with it. The table in the
// package doc is what it found.
func TestKernels(t *testing.T) {
	race.Long(t, "it starts every kernel there is")
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	specs := map[string]string{}
	for _, f := range foreigns() {
		if _, name, ok := strings.Cut(f.language, "@"); ok {
			specs[name] = f.spec
		}
	}
	s := kernelServer(t, specs)
	for _, f := range foreigns() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			row := f.try(t, s)
			if line := "//\t" + row + "\n"; !strings.Contains(string(doc), line) {
				t.Errorf("not in the package doc:\n%s\n%s", abilities, line)
			}
		})
	}
}

const abilities = "              value  json  stderr  error  line  exit  stdin  env  cwd  interrupt"

// try returns the kernel's row of the table.
func (f *foreign) try(t *testing.T, s *server) string {
	ci, err := open(t.Context(), s, jupyter.Options{Grace: cmp.Or(f.grace, time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	if !slices.Contains(ci.Languages(), f.language) {
		missing(t, f.must, "no %s: run internal/testenv/jupyter.sh", f.language)
	}
	v := &trial{t: t, ci: ci, f: f}
	if v.id, err = ci.CreateContext(t.Context(), f.language, nil); err != nil && f.name == "xpython" || f.must && err != nil {
		t.Fatal(err)
	} else if err != nil {
		missing(t, false, "%v", err)
	}
	row := []bool{
		v.shows(func(res *codeinterp.Result) bool { return displayed(res, "42") }, f.value, nil),
		v.shows(func(res *codeinterp.Result) bool {
			o, _ := res.Value()
			return strings.Contains(string(o.Value), `"a"`)
		}, f.json, nil),
		v.shows(func(res *codeinterp.Result) bool { return strings.TrimSpace(res.Stderr()) == "e" }, f.stderr, nil),
		v.shows(func(res *codeinterp.Result) bool {
			return res.Error != nil && strings.Contains(res.Error.Error(), "boom")
		}, f.fail, nil),
		v.shows(func(res *codeinterp.Result) bool { return res.Error != nil && res.Error.Line == 2 }, f.fail, nil),
		v.shows(func(res *codeinterp.Result) bool { return res.ExitCode == 3 && !res.StateLost }, f.exit, nil),
		v.shows(func(res *codeinterp.Result) bool { return strings.TrimSpace(res.Stdout()) == "ada" }, f.read, &codeinterp.RunOptions{Stdin: []byte("ada\n")}),
		v.shows(func(res *codeinterp.Result) bool { return strings.TrimSpace(res.Stdout()) == "it's é" }, f.env, &codeinterp.RunOptions{Env: map[string]string{"GIVEN": "it's é"}}),
		v.startsIn("/usr"),
		v.survives(),
	}
	v.dies()
	line := fmt.Sprintf("%-14s", f.name)
	for i, word := range strings.Fields(abilities) {
		line += fmt.Sprintf("%-*s", len(word)+2, map[bool]string{true: "yes", false: "-"}[row[i]])
	}
	return strings.TrimRight(line, " ")
}

// displayed reports whether a value or a display has the text.
func displayed(res *codeinterp.Result, text string) bool {
	return slices.ContainsFunc(res.Displays(), func(o codeinterp.Output) bool { return strings.Contains(o.Text(), text) })
}

// A trial is a context of a kernel that is tried.
type trial struct {
	t  *testing.T
	ci *jupyter.Stateful
	id codeinterp.ContextID
	f  *foreign
}

func (v *trial) run(code string, opts *codeinterp.RunOptions) codeinterp.Result {
	res, err := v.ci.RunInContext(v.t.Context(), v.id, code, opts)
	v.t.Logf("%q: %s, exit %d, error %v, stdout %q, stderr %q, state lost %t, %v", code, res.Status, res.ExitCode, res.Error, res.Stdout(), res.Stderr(), res.StateLost, err)
	return res
}

// shows reports whether a program's Result is as it should be.
func (v *trial) shows(ok func(*codeinterp.Result) bool, code string, opts *codeinterp.RunOptions) bool {
	if code == "" {
		return false
	}
	res := v.run(code, opts)
	return ok(&res)
}

func (v *trial) startsIn(dir string) bool {
	id, err := v.ci.CreateContext(v.t.Context(), v.f.language, &codeinterp.ContextOptions{Cwd: dir})
	if err != nil {
		return false
	}
	defer func() { _ = v.ci.DeleteContext(v.t.Context(), id) }()
	in := *v // some shells echo what they are given
	in.id = id
	return in.shows(func(res *codeinterp.Result) bool { return strings.HasSuffix(strings.TrimSpace(res.Stdout()), dir) }, v.f.cwd, nil)
}

// survives reports whether a timeout leaves the variables as they are, and wants
// their loss to be told if not.
func (v *trial) survives() bool {
	v.run(v.f.set, nil)
	res := v.run(v.f.spin, &codeinterp.RunOptions{Timeout: time.Second})
	if res.Status != codeinterp.StatusTimeout {
		v.t.Errorf("timeout: %+v", res)
	}
	after := v.run(v.f.get, &codeinterp.RunOptions{Timeout: time.Minute})
	kept := strings.TrimSpace(after.Stdout()) == "5"
	if kept == (res.StateLost || after.StateLost) {
		v.t.Errorf("variables kept: %t, loss told with the timeout: %t, then: %t", kept, res.StateLost, after.StateLost)
	}
	return kept && !res.StateLost
}

// dies wants the death of the kernel's process to be told, and the context to
// work on.
func (v *trial) dies() {
	v.run(v.f.set, nil)
	res := v.run(v.f.die, nil)
	after := v.run(v.f.get, nil)
	if strings.Contains(after.Stdout(), "5") || !res.StateLost && !after.StateLost {
		v.t.Errorf("death untold: %+v, then %+v", res, after)
	}
	if res := v.run(v.f.set, nil); res.Status != codeinterp.StatusOK || res.StateLost {
		v.t.Errorf("after its death: %+v", res)
	}
}

// TestAskingKernel: whoever asks for input gets the next line, or the end of the
// program at once where there is none, whatever the kernel was told.
func TestAskingKernel(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("testdata/asking.py")
	if err != nil {
		t.Fatal(err)
	}
	s := kernelServer(t, map[string]string{"asking": fmt.Sprintf(`{"argv": ["BIN/python", %q, "-f", "{connection_file}"], "display_name": "A", "language": "asking"}`, script)})
	ci, err := open(t.Context(), s, jupyter.Options{Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	id, err := ci.CreateContext(t.Context(), "asking", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := ci.RunInContext(t.Context(), id, "ask", nil)
	if err != nil || res.Status != codeinterp.StatusError || res.Error == nil || res.Error.Name != "EOFError" || res.StateLost {
		t.Errorf("without input: %+v, %v", res, err)
	}
	res, err = ci.RunInContext(t.Context(), id, "ask", &codeinterp.RunOptions{Stdin: []byte("ada\nbo\n")})
	if err != nil || !res.OK() || res.Stdout() != "ada\n" {
		t.Errorf("with input: %+v, %v", res, err)
	}
}

// TestInterruptByMessage has a kernel interrupted that wants a message for it,
// whose answer the next program waits for; the state is kept.
func TestInterruptByMessage(t *testing.T) {
	t.Parallel()
	s := kernelServer(t, map[string]string{"message": `{"argv": ["BIN/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "M", "language": "python", "interrupt_mode": "message"}`})
	ci, err := open(t.Context(), s, jupyter.Options{Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	id, err := ci.CreateContext(t.Context(), "python@message", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		res, err := ci.RunInContext(t.Context(), id, "x = 5\nwhile True: pass", &codeinterp.RunOptions{Timeout: 200 * time.Millisecond})
		if err != nil || res.Status != codeinterp.StatusTimeout || res.StateLost {
			t.Errorf("%+v, %v", res, err)
		}
		if res, err = ci.RunInContext(t.Context(), id, "print(x)", nil); err != nil || res.Stdout() != "5\n" || res.StateLost {
			t.Errorf("afterwards: %+v, %v", res, err)
		}
	}
}
