package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func inputChecks() []check {
	return []check{
		{
			name:   "InvalidCode",
			clause: "code with NUL bytes, invalid UTF-8 or more than MaxCode bytes is ErrInvalid, and nothing is run",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				p := e.p.Print("ran")
				for what, code := range map[string]string{
					"a NUL byte":         p + "\n\x00",
					"a NUL byte first":   "\x00" + p,
					"invalid UTF-8":      p + "\n" + e.p.Comment + "\xff",
					"a cut UTF-8 letter": p + "\n" + e.p.Comment + "\xc3",
					"a surrogate":        p + "\n" + e.p.Comment + "\xed\xa0\x80",
					"MaxCode + 1 bytes":  p + "\n" + strings.Repeat(" ", codeinterp.MaxCode-len(p)),
				} {
					if err := e.refused(ctx, code, nil); err != nil {
						return fmt.Errorf("code with %s: %w", what, err)
					}
				}
				return nil
			},
		},
		{
			name:   "InvalidTimeout",
			clause: "a negative or overlong Timeout is ErrInvalid, and nothing is run",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				for _, d := range []time.Duration{-1, -time.Hour, codeinterp.MaxTimeout + 1} {
					if err := e.refused(ctx, e.p.Print("ran"), &codeinterp.RunOptions{Timeout: d}); err != nil {
						return fmt.Errorf("timeout %v: %w", d, err)
					}
				}
				return nil
			},
		},
		{
			name:   "InvalidMaxOutput",
			clause: "a MaxOutput below -1 is ErrInvalid, and nothing is run",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				return e.refused(ctx, e.p.Print("ran"), &codeinterp.RunOptions{MaxOutput: -2})
			},
		},
		{
			name:   "InvalidEnv",
			clause: "environment names that are empty or contain = or NUL, and values that contain NUL, are ErrInvalid, and nothing is run",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				for _, env := range badEnvs() {
					if err := e.refused(ctx, e.p.Print("ran"), &codeinterp.RunOptions{Env: env}); err != nil {
						return fmt.Errorf("env %q: %w", env, err)
					}
				}
				return nil
			},
		},
		{
			name:   "InvalidContext",
			clause: "context options with a NUL byte in Cwd or with bad environment names are ErrInvalid",
			scope:  stateful,
			run: func(ctx context.Context, e *env) error {
				list := []codeinterp.ContextOptions{{Cwd: "/tmp/\x00"}}
				for _, env := range badEnvs() {
					list = append(list, codeinterp.ContextOptions{Env: env})
				}
				for _, opts := range list {
					id, err := e.stateful().CreateContext(ctx, e.language, &opts)
					if wrong := wantContextError(id, err, codeinterp.ErrInvalid); wrong != nil {
						return fmt.Errorf("CreateContext(%+v): %w", opts, wrong)
					}
				}
				return nil
			},
		},
		{
			name:   "OptionsUntouched",
			clause: "options are copied on entry: the caller's stay as they were",
			scope:  everyRun,
			run:    optionsUntouched,
		},
		{
			name:   "NothingToRun",
			clause: "code that is empty, blank or a comment ends normally without output",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				for _, code := range []string{"", " ", "\n\n", e.p.Comment, e.p.Comment + "\n"} {
					res, err := e.run(ctx, code, nil)
					if err := wantOK(res, err); err != nil {
						return fmt.Errorf("code %q: %w", code, err)
					}
					if len(res.Outputs) > 0 {
						return fmt.Errorf("code %q: output %s, want none", code, outputLine(res.Outputs[0]))
					}
				}
				return nil
			},
		},
		{
			name:   "LongCode",
			clause: "code of up to MaxCode bytes runs",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Comment != "" },
			run: func(ctx context.Context, e *env) error {
				line, end := e.p.Comment+strings.Repeat(" long", 200)+"\n", e.p.Print("end")
				code := strings.Repeat(line, (codeinterp.MaxCode-len(end))/len(line)) + end
				out, err := e.stdout(ctx, code, nil)
				if err != nil {
					return err
				}
				return wantText(fmt.Sprintf("%d bytes of code", len(code)), out, "end")
			},
		},
	}
}

func badEnvs() []map[string]string {
	return []map[string]string{{"": "x"}, {"A=B": "x"}, {"A\x00": "x"}, {"A": "x\x00y"}}
}

// refused wants a run that is ErrInvalid without a sign of life from the
// program.
func (e *env) refused(ctx context.Context, code string, opts *codeinterp.RunOptions) error {
	o := codeinterp.RunOptions{}
	if opts != nil {
		o = *opts
	}
	ran := false
	o.OnOutput = func(codeinterp.Output) error { ran = true; return nil }
	res, err := e.run(ctx, code, &o)
	if err := wantNotRun(res, err, codeinterp.ErrInvalid); err != nil {
		return err
	}
	if ran {
		return errors.New("the program ran")
	}
	return nil
}

func optionsUntouched(ctx context.Context, e *env) error {
	opts := codeinterp.RunOptions{Timeout: time.Minute}
	if !e.s.cfg.lacks(Env, e.language) {
		opts.Env = map[string]string{"TOOLCELL_A": "1"}
	}
	if !e.s.cfg.lacks(Stdin, e.language) {
		opts.Stdin = []byte("input")
	}
	before := opts
	before.Env, before.Stdin = maps.Clone(opts.Env), slices.Clone(opts.Stdin)
	// Not e.run, which passes a copy of the options on.
	run := func(o *codeinterp.RunOptions) (codeinterp.Result, error) {
		return e.ci.RunCode(ctx, e.language, e.p.Print("x"), o)
	}
	if e.way == inContextWay {
		id, err := e.shared(ctx)
		if err != nil {
			return err
		}
		run = func(o *codeinterp.RunOptions) (codeinterp.Result, error) {
			return e.stateful().RunInContext(ctx, id, e.p.Print("x"), o)
		}
	}
	if err := wantOK(run(&opts)); err != nil {
		return err
	}
	if opts.Timeout != before.Timeout || opts.MaxOutput != 0 || opts.OnOutput != nil ||
		!maps.Equal(opts.Env, before.Env) || !slices.Equal(opts.Stdin, before.Stdin) {
		return fmt.Errorf("options are %+v after the run, and were %+v", opts, before)
	}
	return nil
}
