package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// oddValue is an environment value that a careless quotation breaks.
const oddValue = `it's "odd" $HOME \n é = 100 %`

func surroundingsChecks() []check {
	return []check{
		{
			name: "StdinGiven", scope: everyRun, needs: []Feature{Stdin}, proves: Stdin, uses: func(p *Programs) bool { return p.ReadAll != "" },
			clause: "Stdin is what the program reads from its standard input",
			run: func(ctx context.Context, e *env) error {
				text := "first\nsecond é " + strings.Repeat("x", 100000)
				out := need(e.stdout(ctx, e.p.ReadAll, &codeinterp.RunOptions{Stdin: []byte(text), Timeout: time.Minute}))
				must(wantText("what the program read", out, "["+text+"]\n"))
				if e.p.ReadLine == "" {
					return nil
				}
				out = need(e.stdout(ctx, e.p.ReadLine, &codeinterp.RunOptions{Stdin: []byte("first\nsecond\n"), Timeout: time.Minute}))
				return wantText("the line that the program read", out, "[first]\n")
			},
		},
		{
			name: "StdinNone", row: 24, scope: everyRun, uses: func(p *Programs) bool { return p.ReadAll != "" },
			clause: "without Stdin and Input, also where Stdin is lacking, standard input is at its end: a program neither waits nor finds the input of another run, and a function that asks a person fails",
			run:    stdinNone,
		},
		{
			name: "InputStreams", scope: everyRun, needs: []Feature{Describer}, uses: func(p *Programs) bool { return p.ReadAll != "" },
			clause: "the program reads Input, and that is closed after the run, where LanguageInfo.Input says so; elsewhere it is ErrInvalid, as are both Stdin and Input",
			run:    inputStreams,
		},
		{
			name: "EnvOfRun", scope: everyRun, needs: []Feature{Env}, proves: Env, uses: func(p *Programs) bool { return p.GetEnv != nil },
			clause: "RunOptions.Env holds for this run only, with any text as a value",
			run: func(ctx context.Context, e *env) error {
				for _, value := range []string{"plain", oddValue, "two\nlines", ""} {
					out := need(e.stdout(ctx, e.p.GetEnv("TOOLCELL_RUN"), &codeinterp.RunOptions{Env: map[string]string{"TOOLCELL_RUN": value}}))
					must(wantText("the variable", out, value+"\n"))
				}
				out := need(e.stdout(ctx, e.p.GetEnv("TOOLCELL_RUN"), nil))
				return wantText("the variable in the next run", out, "<unset>\n")
			},
		},
		{
			name: "EnvOfContext", scope: stateful, needs: []Feature{Env}, uses: func(p *Programs) bool { return p.GetEnv != nil },
			clause: "ContextOptions.Env holds for all the context's runs, after a restart and a death of its process too; a run's Env replaces it for that run",
			run:    envOfContext,
		},
		{
			name: "Cwd", scope: stateful, needs: []Feature{Cwd}, proves: Cwd, uses: func(p *Programs) bool { return p.Getwd != "" },
			clause: "ContextOptions.Cwd is the directory that the context's runs start in, after a restart and a death of its process too, and ListContexts tells it",
			run:    cwd,
		},
		{
			name: "FilesKept", scope: stateful, needs: []Feature{Files}, proves: Files, uses: func(p *Programs) bool { return p.WriteFile != nil && p.ReadFile != nil },
			clause: "a file that a run of a context writes is there for the context's next run",
			run: func(ctx context.Context, e *env) error {
				id := need(e.shared(ctx))
				const path = "toolcell-file.txt"
				must(e.do(ctx, id, e.p.WriteFile(path, "content é")))
				out := need(e.stdoutIn(ctx, id, e.p.ReadFile(path)))
				return wantText("the file", out, "content é")
			},
		},
	}
}

func stdinNone(ctx context.Context, e *env) error {
	res, err := e.run(ctx, e.p.ReadAll, &codeinterp.RunOptions{Timeout: time.Minute})
	if err != nil || res.Status != codeinterp.StatusError && res.Stdout() != "[]\n" {
		return fmt.Errorf("reading to the end: %s, error %v; want an empty input", describe(res), err)
	}
	if e.p.ReadLine == "" {
		return nil
	}
	res, err = e.run(ctx, e.p.ReadLine, &codeinterp.RunOptions{Timeout: time.Minute})
	if err != nil || res.Status != codeinterp.StatusError || res.Stdout() != "" {
		return fmt.Errorf("reading a line: %s, error %v; want %q", describe(res), err, codeinterp.StatusError)
	}
	return nil
}

func envOfContext(ctx context.Context, e *env) error {
	env := map[string]string{"TOOLCELL_CTX": oddValue}
	id := need(e.context(ctx, &codeinterp.ContextOptions{Env: env}))
	env["TOOLCELL_CTX"] = "changed by the caller afterwards" // options are copied on entry
	for _, override := range []string{"", "overridden", ""} {
		var opts *codeinterp.RunOptions
		value := oddValue
		if override != "" {
			opts = &codeinterp.RunOptions{Env: map[string]string{"TOOLCELL_CTX": override}}
			value = override
		}
		res, err := e.runIn(ctx, id, e.p.GetEnv("TOOLCELL_CTX"), opts)
		must(wantOK(res, err))
		must(wantText("the variable", res.Stdout(), value+"\n"))
	}
	return e.anew(ctx, id, func() error {
		out := need(e.stdoutIn(ctx, id, e.p.GetEnv("TOOLCELL_CTX")))
		return wantText("the variable", out, oddValue+"\n")
	})
}

// anew looks at a context again once it was restarted, and once its process
// died.
func (e *env) anew(ctx context.Context, id codeinterp.ContextID, look func() error) error {
	if m, ok := codeinterp.Manager(e.ci); ok {
		must(about("RestartContext", m.RestartContext(ctx, id)))
		must(about("after a restart", look()))
	}
	if e.p.KillSelf == "" || e.s.cfg.lacks(Processes, e.language) {
		return nil
	}
	if _, err := e.runIn(ctx, id, e.p.KillSelf, nil); err != nil {
		return fmt.Errorf("running %s: %w", quote(e.p.KillSelf), err)
	}
	must(about("after the death of the process", look()))
	return nil
}

// cwd makes the directory on this machine; a provider that runs elsewhere
// declares that it lacks Cwd, or is tested by other means.
func cwd(ctx context.Context, e *env) error {
	dir := need(hostDirectory())
	defer os.RemoveAll(dir)
	id := need(e.context(ctx, &codeinterp.ContextOptions{Cwd: dir}))
	look := func() error {
		out, err := e.stdoutIn(ctx, id, e.p.Getwd)
		if err := errors.Join(err, wantText("the working directory", strings.TrimSpace(out), dir)); err != nil || !hasManager(e.ci) {
			return err
		}
		list, err := e.manager().ListContexts(ctx)
		for _, info := range list {
			if err == nil && info.ID == id {
				err = wantText("the directory that ListContexts tells", info.Cwd, dir)
			}
		}
		return err
	}
	must(look())
	return e.anew(ctx, id, look)
}

// hostDirectory makes a directory for the Cwd of contexts.
func hostDirectory() (string, error) {
	dir, err := os.MkdirTemp("", "toolcell-conformance-")
	if err != nil {
		return "", err
	}
	// Programs may run as another user than this process.
	if err := os.Chmod(dir, 0o777); err != nil {
		return dir, err
	}
	// Programs see the real path.
	return filepath.EvalSymlinks(dir)
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

func inputStreams(ctx context.Context, e *env) error {
	has := slices.ContainsFunc(codeinterp.Describe(e.ci).Languages, func(l codeinterp.LanguageInfo) bool { return l.Name == e.language && l.Input })
	text := "first\nsecond é " + strings.Repeat("x", 10000)
	both := codeinterp.RunOptions{Stdin: []byte("x"), Input: strings.NewReader("x")}
	must(about("with Stdin and Input", e.refused(ctx, e.p.Print("ran"), &both)))
	in := &closedReader{Reader: strings.NewReader(text)}
	opts := &codeinterp.RunOptions{Input: in, Timeout: time.Minute}
	if !has {
		return e.refused(ctx, e.p.ReadAll, opts)
	}
	out, err := e.stdout(ctx, e.p.ReadAll, opts)
	must(errors.Join(err, wantText("what the program read", out, "["+text+"]\n")))
	if !in.closed.Load() {
		return errors.New("Input was not closed when the run had returned")
	}
	return nil
}
