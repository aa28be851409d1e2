package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/race"
)

// A naive provider is what somebody writes on the first day: it runs bash, and
// has no idea of children that hold a pipe, nor of callbacks that panic.
type naive struct{}

func (naive) Languages() []string { return []string{"bash"} }

func (naive) Close() error { return nil }

func (naive) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	if opts == nil {
		opts = &codeinterp.RunOptions{}
	}
	if opts.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opts.Timeout)
		defer cancel()
	}
	out := &naiveWriter{kind: codeinterp.Stdout, opts: opts}
	errs := &naiveWriter{kind: codeinterp.Stderr, opts: opts}
	cmd := exec.CommandContext(ctx, "bash", "-c", code)
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	res := codeinterp.Result{Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{
		{Kind: codeinterp.Stdout, Data: out.Bytes()}, {Kind: codeinterp.Stderr, Data: errs.Bytes()}}}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		res.Status, res.ExitCode = codeinterp.StatusError, exit.ExitCode()
		return res, nil
	}
	return res, err
}

type naiveWriter struct {
	bytes.Buffer
	kind codeinterp.Kind
	opts *codeinterp.RunOptions
}

func (w *naiveWriter) Write(b []byte) (int, error) {
	if w.opts.OnOutput != nil {
		_ = w.opts.OnOutput(codeinterp.Output{Kind: w.kind, Data: b})
	}
	return w.Buffer.Write(b)
}

const naiveEnv = "TOOLCELL_TEST_NAIVE"

// TestNaiveProvider wants the author of a naive provider to read what the
// contract says, as it is found, although his runs hang and a panic of his ends
// the process.
func TestNaiveProvider(t *testing.T) {
	if os.Getenv(naiveEnv) != "" {
		conformance.Run(t, conformance.Config{
			New:       func() (codeinterp.CodeInterpreter, error) { return naive{}, nil },
			OnFailure: func(f conformance.Failure) { fmt.Fprintln(os.Stderr, f) },
		})
		return
	}
	if race.Enabled {
		t.Skip("it is the provider of a process of its own that waits: make test runs it without the race detector")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if aparttest.Run(t) {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestNaiveProvider$", "-test.v=true", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), naiveEnv+"=1")
	cmd.WaitDelay = time.Second // as for the sleeps that it leaves behind
	seen := &firstSentence{start: time.Now()}
	cmd.Stdout, cmd.Stderr = seen, seen
	if err := cmd.Run(); err == nil {
		t.Error("the naive provider passes")
	}
	text := seen.text.String()
	if ctx.Err() != nil {
		t.Errorf("the suite did not come to an end:\n%s", text)
	}
	if n := strings.Count(text, "contract: "); n < 10 {
		t.Errorf("%d sentences of the contract:\n%s", n, text)
	}
	for _, want := range []string{"contract: Outputs have the fields of their kind", "did not return", "too many cases before it did not return"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing says %q:\n%s", want, text)
		}
	}
	t.Logf("the first of %d sentences came after %v, the last after %v", strings.Count(text, "contract: "), seen.first, time.Since(seen.start))
}

// A firstSentence notes when the first sentence of the contract came.
type firstSentence struct {
	mu    sync.Mutex
	start time.Time
	first time.Duration
	text  strings.Builder
}

func (s *firstSentence) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == 0 && strings.Contains(string(b), "contract: ") {
		s.first = time.Since(s.start)
	}
	return s.text.Write(b)
}
