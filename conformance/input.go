package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

func inputChecks() []check {
	return []check{
		{
			name: "UnknownLanguage", row: 13,
			clause: "a language that is not listed is ErrLanguage, nothing is run, and the error lists the languages",
			run:    unknownLanguage,
		},
		{
			name: "InvalidCode", scope: everyRun,
			clause: "code with NUL bytes, invalid UTF-8 or more than MaxCode bytes is ErrInvalid, and nothing is run",
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
			name: "NothingToRun", scope: everyRun,
			clause: "code that is empty, blank or a comment ends normally without output",
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
	}
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
	must(wantNotRun(res, err, codeinterp.ErrInvalid))
	if ran {
		return errors.New("the program ran")
	}
	return nil
}

// wantContextError wants a CreateContext that failed for a given reason.
func wantContextError(id codeinterp.ContextID, err, is error) error {
	if id != "" {
		return fmt.Errorf("id %q with error %v, want none", id, err)
	}
	return wantOpError(err, is)
}

func unknownLanguage(ctx context.Context, e *env) error {
	for _, name := range []string{"", "no-such-language", e.language + "x", e.language + "; rm -rf /", "../" + e.language, strings.Repeat("x", 5000), "\x00", "\xff"} {
		res, err := e.ci.RunCode(ctx, name, e.p.Print("ran"), nil)
		if err := wantNotRun(res, err, codeinterp.ErrLanguage); err != nil {
			return fmt.Errorf("RunCode in %s: %w", quote(name), err)
		}
		if err := wrappedOnce(err); err != nil {
			return fmt.Errorf("RunCode in %s: %w", quote(name), err)
		}
		// Not by the provider's name, nor by what was asked for.
		list := strings.ReplaceAll(errors.Unwrap(err).Error(), name, "")
		for _, l := range e.ci.Languages() {
			if !strings.Contains(list, l) {
				return fmt.Errorf("RunCode in %s: error %q, want it to list %q", quote(name), err, l)
			}
		}
		st, ok := codeinterp.Stateful(e.ci)
		if !ok {
			continue
		}
		id, err := st.CreateContext(ctx, name, nil)
		if wrong := wantContextError(id, err, codeinterp.ErrLanguage); wrong != nil {
			return fmt.Errorf("CreateContext in %s: %w", quote(name), wrong)
		}
	}
	return nil
}
