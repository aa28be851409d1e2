package conformance

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
)

// oddValue is an environment value that a careless quotation breaks.
const oddValue = `it's "odd" $HOME \n é = 100 %`

func surroundingsChecks() []check {
	reads := func(p *Programs) bool { return p.ReadAll != "" }
	getsEnv := func(p *Programs) bool { return p.GetEnv != nil }
	return []check{
		{
			name: "StdinGiven", scope: everyRun, uses: reads,
			clause: "Stdin is what the program reads from its standard input; so is Input, which is closed after the run, where LanguageInfo.Input says so; elsewhere it is ErrInvalid, as are both Stdin and Input",
			run:    stdinGiven,
		},
		{
			name: "StdinNone", row: 24, scope: everyRun, uses: reads,
			clause: "without Stdin and Input, also where Stdin is lacking, standard input is at its end: a program neither waits nor finds the input of another run, and a function that asks a person fails",
			run: func(e *env) {
				res, err := e.run(e.p.ReadAll, nil)
				if err != nil || res.Status != codeinterp.StatusError && res.Stdout() != "[]\n" {
					failf("reading to the end: %s, error %v; want an empty input", describe(res), err)
				}
				if e.p.ReadLine == "" {
					return
				}
				if res, err = e.run(e.p.ReadLine, nil); err != nil || res.Status != codeinterp.StatusError || res.Stdout() != "" {
					failf("reading a line: %s, error %v; want %q", describe(res), err, codeinterp.StatusError)
				}
			},
		},
		{
			name: "EnvOfRun", scope: everyRun, uses: getsEnv,
			clause: "RunOptions.Env holds for this run only, with any text as a value",
			run: func(e *env) {
				for _, value := range []string{"plain", oddValue, "two\nlines", ""} {
					e.prints("the variable", e.p.GetEnv("TOOLCELL_RUN"), value+"\n", &codeinterp.RunOptions{Env: map[string]string{"TOOLCELL_RUN": value}})
				}
				e.prints("the variable in the next run", e.p.GetEnv("TOOLCELL_RUN"), "<unset>\n", nil)
			},
		},
		{
			name: "EnvOfContext", scope: stateful, uses: getsEnv,
			clause: "ContextOptions.Env holds for all the context's runs, after a restart and a death of its process too; a run's Env replaces it for that run",
			run: func(e *env) {
				env := map[string]string{"TOOLCELL_CTX": oddValue}
				id := e.context(&codeinterp.ContextOptions{Env: env})
				env["TOOLCELL_CTX"] = "changed by the caller afterwards" // options are copied on entry
				look := func() { e.printsIn(id, "the variable", e.p.GetEnv("TOOLCELL_CTX"), oddValue+"\n") }
				look()
				res := e.okIn(id, e.p.GetEnv("TOOLCELL_CTX"), &codeinterp.RunOptions{Env: map[string]string{"TOOLCELL_CTX": "of the run"}})
				wantText("the variable of the run", res.Stdout(), "of the run\n")
				look()
				e.anew(id, look)
			},
		},
		{
			name: "Cwd", scope: stateful, uses: func(p *Programs) bool { return p.Getwd != "" },
			clause: "ContextOptions.Cwd is the directory that the context's runs start in, after a restart and a death of its process too, and ListContexts shows it",
			run:    cwd,
		},
		{
			name: "FilesKept", scope: stateful, uses: files,
			clause: "a file that a run of a context writes is there for the context's next run",
			run: func(e *env) {
				id := e.shared()
				e.okIn(id, e.p.WriteFile("toolcell-file.txt", "content é"), nil)
				e.printsIn(id, "the file", e.p.ReadFile("toolcell-file.txt"), "content é")
			},
		},
	}
}

// anew looks at a context again once it was restarted, and once its process
// died.
func (e *env) anew(id codeinterp.ContextID, look func()) {
	if m, ok := codeinterp.Manager(e.ci); ok {
		must(m.RestartContext(e.ctx, id))
		about("after a restart", look)
	}
	if e.p.KillSelf != "" && !e.lacks(Processes) {
		_, err := e.runIn(id, e.p.KillSelf, nil)
		must(err)
		about("after the death of the process", look)
	}
}

// cwd makes the directory on this machine; a provider that runs elsewhere
// declares that it lacks Cwd, or is tested by other means.
func cwd(e *env) {
	dir, remove := hostDirectory()
	defer remove()
	id := e.context(&codeinterp.ContextOptions{Cwd: dir})
	look := func() {
		wantText("the working directory", strings.TrimSpace(e.stdout(id, e.p.Getwd)), dir)
		if m, ok := codeinterp.Manager(e.ci); ok {
			for _, info := range need(m.ListContexts(e.ctx)) {
				if info.ID == id {
					wantText("the directory in ListContexts", info.Cwd, dir)
				}
			}
		}
	}
	look()
	e.anew(id, look)
}

// hostDirectory makes a directory for the Cwd of contexts.
func hostDirectory() (dir string, remove func()) {
	dir = need(os.MkdirTemp("", "toolcell-conformance-"))
	must(os.Chmod(dir, 0o777)) // programs may run as another user than this process
	// Programs see the real path.
	return need(filepath.EvalSymlinks(dir)), func() { _ = os.RemoveAll(dir) }
}

// A closedReader notes that it was closed.
type closedReader struct {
	io.Reader
	closed atomic.Bool
}

func (r *closedReader) Close() error {
	r.closed.Store(true)
	return nil
}

func stdinGiven(e *env) {
	text := "first\nsecond é " + strings.Repeat("x", 100000)
	e.prints("what the program read of Stdin", e.p.ReadAll, "["+text+"]\n", &codeinterp.RunOptions{Stdin: []byte(text)})
	if e.p.ReadLine != "" {
		e.prints("the line that the program read", e.p.ReadLine, "[first]\n", &codeinterp.RunOptions{Stdin: []byte("first\nsecond\n")})
	}
	e.refused("Stdin and Input", e.p.Print("ran"), &codeinterp.RunOptions{Stdin: []byte("x"), Input: strings.NewReader("x")})
	in := &closedReader{Reader: strings.NewReader(text)}
	opts := &codeinterp.RunOptions{Input: in}
	if !e.info().Input {
		e.refused("Input", e.p.ReadAll, opts)
		return
	}
	e.prints("what the program read of Input", e.p.ReadAll, "["+text+"]\n", opts)
	if !in.closed.Load() {
		failf("Input was not closed when the run had returned")
	}
}
