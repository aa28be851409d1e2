package conformance

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing/fstest"

	"github.com/toolcell/toolcell/codeinterp"
)

// halfManaged has a method of a manager, and none of the others.
type halfManaged struct{ unmanagedFiles }

func (halfManaged) RestartContext(context.Context, codeinterp.ContextID) error { return nil }

// unmanagedFiles is unmanaged with files.
type unmanagedFiles struct {
	unmanaged
	codeinterp.ContextFiles
}

func unmanagedFilesOf(ci codeinterp.CodeInterpreter) unmanagedFiles {
	u := undescribedOf(ci)
	return unmanagedFiles{unmanaged{u.StatefulInterpreter, ci.(codeinterp.Describer), u.Completer}, u.ContextFiles}
}

// offeredFaults are mistakes in what an interpreter says that it offers, and in what
// it takes.
func offeredFaults() []fault {
	return []fault{
		{name: "contexts that nobody declared", want: "StatefulPresent", suite: func(s *suite) { s.cfg.Stateful = false }},
		{name: "Describe works and is declared as lacking", want: "DescriberPresent", lacks: []Feature{Describer}},
		{
			name: "a third of a manager", want: "NoStrayMethods", lacks: []Feature{Manager},
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				return halfManaged{unmanagedFilesOf(ci)}
			},
		},
		{
			name: "the languages are not listed", want: "UnknownLanguage",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if errors.Is(err, codeinterp.ErrLanguage) {
					err = toyErr(c.Op.String(), codeinterp.ErrLanguage)
				}
				return r, err
			}),
		},
		{
			name: "what is no UTF-8 is replaced", want: "InvalidCode",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				c.Code = strings.ToValidUTF8(c.Code, "\ufffd")
				return next(ctx, c)
			}),
		},
		{
			name: "a bad environment of a context is dropped", want: "InvalidContext",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpCreate && errors.Is(err, codeinterp.ErrInvalid) && len(c.NewContext.Env) > 0 {
					o := *c.NewContext
					o.Env, c.NewContext = nil, &o
					return next(ctx, c)
				}
				return r, err
			}),
		},
		{
			name: "blank code is refused", want: "NothingToRun",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Op.Runs() && c.Code != "" && strings.TrimSpace(c.Code) == "" {
					return refuse(c, codeinterp.ErrInvalid)
				}
				return next(ctx, c)
			}),
		},
		{
			name: "Describe does not know of completions that there are", want: "CompletionsTold",
			wrap: describes(func(i *codeinterp.Info) { i.Languages[0].Completion = false }),
		},
		{
			name: "a language has contexts and another has them by Describe", want: "ContextsDescribed",
			wrap: besideAnother(func(i *codeinterp.Info) {
				i.Languages[0].Contexts, i.Languages[0].Completion, i.Languages[1].Contexts = true, true, false
			}),
			suite: func(s *suite) { s.languages = []string{"toy"} },
		},
		{
			name: "the files of a language without are not there", want: "LanguageFiles",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				return besideAnother(func(i *codeinterp.Info) {
					i.Languages[0].Contexts, i.Languages[0].Files, i.Languages[1].Files = true, true, false
				})(withoutFiles(fs.ErrNotExist)(ci))
			},
			suite: func(s *suite) { s.languages = []string{"toy"} },
		},
		{
			name: "files are taken where there are no contexts' files", want: "FilesRefused",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				u := undescribedOf(ci)
				return unfiled{u.StatefulInterpreter, u.ContextManager, described{u, func() codeinterp.Info {
					info := codeinterp.Describe(ci)
					info.Files = false
					return info
				}}, u.Completer}
			},
		},
		{
			name: "files that are given are made ASCII", want: "InputsFound",
			wrap: options(func(_ codeinterp.Call, o *codeinterp.RunOptions) {
				if o.Files != nil && !o.Artifacts {
					o.Files = asciiFiles(o.Files)
				}
			}),
		},
	}
}

// besideAnother describes a language before the toy's, and changes what is told of
// both.
func besideAnother(change func(*codeinterp.Info)) wrapper {
	return func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
		return speaking{described{undescribedOf(ci), func() codeinterp.Info {
			info := codeinterp.Describe(ci)
			info.Languages = append([]codeinterp.LanguageInfo{{Name: "another"}}, info.Languages...)
			change(&info)
			return info
		}}, func() []string { return append([]string{"another"}, ci.Languages()...) }}
	}
}

// withoutFiles refuses files of runs, and opens those of contexts with an error.
func withoutFiles(open error) wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		switch {
		case c.Op == codeinterp.OpFiles:
			return refuse(c, open)
		case c.Run != nil && (c.Run.Files != nil || c.Run.Artifacts):
			return refuse(c, codeinterp.ErrInvalid)
		}
		return next(ctx, c)
	})
}

// asciiFiles copies files that can be read, with ? for what is not ASCII.
func asciiFiles(from fs.FS) fs.FS {
	m, ok := from.(fstest.MapFS)
	if !ok || len(m) > 10 {
		return from
	}
	to := fstest.MapFS{}
	for name, f := range m {
		g := *f
		g.Data = []byte(strings.Map(func(r rune) rune {
			if r > 126 {
				return '?'
			}
			return r
		}, string(f.Data)))
		to[name] = &g
	}
	return to
}
