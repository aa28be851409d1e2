package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

func languageChecks() []check {
	return []check{
		{
			name:   "LanguagesSorted",
			clause: "Languages lists canonical names, sorted",
			run: func(ctx context.Context, e *env) error {
				list := e.ci.Languages()
				if len(list) == 0 || !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
					return fmt.Errorf("Languages() = %q, want sorted names, each once", list)
				}
				for _, l := range list {
					if l == "" || l != strings.ToLower(strings.TrimSpace(l)) {
						return fmt.Errorf("language %q, want lower case without spaces around it", l)
					}
				}
				return nil
			},
		},
		{
			name:   "LanguagesOwned",
			clause: "the caller may keep and modify the slice that Languages returns",
			run: func(ctx context.Context, e *env) error {
				want := strings.Join(e.ci.Languages(), " ")
				list := e.ci.Languages()
				for i := range list {
					list[i] = "overwritten"
				}
				if got := strings.Join(e.ci.Languages(), " "); got != want {
					return fmt.Errorf("after a caller changed its slice: Languages() = %q, want %q", got, want)
				}
				return nil
			},
		},
		{
			name:   "LanguagesConstant",
			clause: "Languages never changes during the value's life",
			own:    true,
			run: func(ctx context.Context, e *env) error {
				want := e.ci.Languages()
				if _, err := e.runCode(ctx, e.p.Print("x"), nil); err != nil {
					return err
				}
				if got := e.ci.Languages(); !slices.Equal(got, want) {
					return fmt.Errorf("Languages() = %q after a run, and was %q", got, want)
				}
				if err := e.ci.Close(); err != nil {
					return err
				}
				if got := e.ci.Languages(); !slices.Equal(got, want) {
					return fmt.Errorf("Languages() = %q after Close, and was %q", got, want)
				}
				return nil
			},
		},
		{
			name:   "UnknownLanguage",
			clause: "a language that is not listed is ErrLanguage, nothing is run, and the error lists the languages",
			run:    unknownLanguage,
		},
		{
			name:   "LanguageNames",
			clause: "languages are also accepted in any case, with spaces around them, by their usual other names and by those that Describe tells",
			scope:  stateless,
			run:    languageNames,
		},
	}
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

// wantContextError wants a CreateContext that failed for a given reason.
func wantContextError(id codeinterp.ContextID, err, is error) error {
	if id != "" {
		return fmt.Errorf("id %q with error %v, want none", id, err)
	}
	return wantOpError(err, is)
}

func languageNames(ctx context.Context, e *env) error {
	names := []string{strings.ToUpper(e.language), " " + e.language + "\n"}
	for _, alias := range []string{"py", "python3", "js", "node", "ts", "sh", "shell"} {
		if l, err := codeinterp.ResolveLanguage(alias, e.ci.Languages()); err == nil && l == e.language {
			names = append(names, alias)
			break
		}
	}
	for _, l := range codeinterp.Describe(e.ci).Languages {
		if l.Name == e.language {
			names = append(names, l.Aliases...)
		}
	}
	for _, name := range names {
		res, err := e.ci.RunCode(ctx, name, e.p.Print("ran"), nil)
		if err := wantOK(res, err); err != nil {
			return fmt.Errorf("RunCode in %q: %w", name, err)
		}
		if err := wantText("RunCode in "+name, res.Stdout(), "ran"); err != nil {
			return err
		}
	}
	if st, ok := codeinterp.Stateful(e.ci); ok {
		id, err := st.CreateContext(ctx, names[0], nil)
		if err != nil {
			return fmt.Errorf("CreateContext in %q: %w", names[0], err)
		}
		e.made = append(e.made, id)
	}
	return nil
}
