package conformance

import (
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
			run: func(e *env) {
				p := e.p.Print("ran")
				e.refused("a NUL byte", p+"\n\x00", nil)
				e.refused("invalid UTF-8", p+"\n"+e.p.Comment+"\xff", nil)
				e.refused("a surrogate", p+"\n"+e.p.Comment+"\xed\xa0\x80", nil)
				e.refused("MaxCode + 1 bytes", p+"\n"+strings.Repeat(" ", codeinterp.MaxCode-len(p)), nil)
			},
		},
		{
			name: "NothingToRun", scope: everyRun,
			clause: "code that is empty, blank or a comment ends normally without output",
			run: func(e *env) {
				for _, code := range []string{"", "\n\n", e.p.Comment} {
					if res := e.ok(code, nil); len(res.Outputs) > 0 {
						failf("code %q: output %s, want none", code, outputLine(res.Outputs[0]))
					}
				}
			},
		},
	}
}

// refused wants a run that is ErrInvalid without a sign of life from the
// program.
func (e *env) refused(what, code string, opts *codeinterp.RunOptions) {
	o := codeinterp.RunOptions{}
	if opts != nil {
		o = *opts
	}
	ran := false
	o.OnOutput = func(codeinterp.Output) error { ran = true; return nil }
	res, err := e.run(code, &o)
	about(what, func() { wantNotRun(res, err, codeinterp.ErrInvalid) })
	if ran {
		failf("%s: the program ran", what)
	}
}

// wantContextError wants a CreateContext that failed for a given reason.
func wantContextError(id codeinterp.ContextID, err, is error) {
	if id != "" {
		failf("id %q with error %v, want none", id, err)
	}
	wantOpError(err, is)
}

func unknownLanguage(e *env) {
	for _, name := range []string{"", "no-such-language", e.language + "x", "../" + e.language, "\xff"} {
		about(fmt.Sprintf("language %q", name), func() {
			res, err := e.ci.RunCode(e.ctx, name, e.p.Print("ran"), nil)
			wantNotRun(res, err, codeinterp.ErrLanguage)
			must(wrappedOnce(err))
			// Not by the provider's name, nor by what was asked for.
			list := strings.ReplaceAll(errors.Unwrap(err).Error(), name, "")
			for _, l := range e.ci.Languages() {
				if !strings.Contains(list, l) {
					failf("error %q, want it to list %q", err, l)
				}
			}
			if st, ok := codeinterp.Stateful(e.ci); ok {
				id, err := st.CreateContext(e.ctx, name, nil)
				wantContextError(id, err, codeinterp.ErrLanguage)
			}
		})
	}
}
