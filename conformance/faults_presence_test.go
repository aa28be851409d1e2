package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
)

// bare has the three methods of every provider, and Describe.
type bare struct {
	codeinterp.CodeInterpreter
	codeinterp.Describer
}

func bareOf(ci codeinterp.CodeInterpreter) bare { return bare{ci, ci.(codeinterp.Describer)} }

// drifted has a context method with another signature.
type drifted struct{ bare }

func (drifted) CreateContext(language string) (string, error) { return "", nil }

// orphaned has a ContextManager without contexts.
type orphaned struct{ bare }

func (orphaned) ListContexts(context.Context) ([]codeinterp.ContextInfo, error) { return nil, nil }
func (orphaned) RestartContext(context.Context, codeinterp.ContextID) error     { return nil }
func (orphaned) InterruptContext(context.Context, codeinterp.ContextID) error   { return nil }

// unmanaged has contexts and no manager.
type unmanaged struct {
	codeinterp.StatefulInterpreter
	codeinterp.Describer
	codeinterp.Completer
}

// undescribed has all but Describe.
type undescribed struct {
	codeinterp.StatefulInterpreter
	codeinterp.ContextManager
	codeinterp.ContextFiles
	codeinterp.Completer
}

// described has another Describe.
type described struct {
	undescribed
	describe func() codeinterp.Info
}

func (d described) Describe() codeinterp.Info { return d.describe() }

// speaking has other Languages.
type speaking struct {
	described
	languages func() []string
}

func (s speaking) Languages() []string { return s.languages() }

func (s speaking) RunCode(ctx context.Context, language, code string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
	res, err := s.described.RunCode(ctx, language, code, o)
	return res, s.listed("run", language, err)
}

func (s speaking) CreateContext(ctx context.Context, language string, o *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	id, err := s.described.CreateContext(ctx, language, o)
	return id, s.listed("create context", language, err)
}

// listed has an error list the languages.
func (s speaking) listed(op, language string, err error) error {
	if !errors.Is(err, codeinterp.ErrLanguage) {
		return err
	}
	if _, unknown := codeinterp.ResolveLanguage(language, s.languages()); unknown != nil {
		return toyErr(op, unknown)
	}
	return err
}

func undescribedOf(ci codeinterp.CodeInterpreter) undescribed {
	m, _ := codeinterp.Manager(ci)
	f, _ := codeinterp.Files(ci)
	c, _ := codeinterp.Completions(ci)
	return undescribed{ci.(codeinterp.StatefulInterpreter), m, f, c}
}

// speak changes Languages, and Describe with it. Calls in any of the languages
// are for the toy.
func speak(languages func(ci codeinterp.CodeInterpreter) func() []string) wrapper {
	return func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
		list := languages(ci)
		return speaking{described{undescribedOf(ci), func() codeinterp.Info {
			info := codeinterp.Describe(ci)
			of := codeinterp.LanguageInfo{}
			if len(info.Languages) > 0 {
				of = info.Languages[0]
			}
			info.Languages = nil
			for _, of.Name = range list() {
				info.Languages = append(info.Languages, of)
			}
			return info
		}}, list}
	}
}

// watchClose tells when an interpreter was closed.
type watchClose struct {
	undescribed
	codeinterp.Describer
	closed *atomic.Bool
}

func (w watchClose) Close() error { w.closed.Store(true); return w.undescribed.Close() }

func presenceFaults() []fault {
	return []fault{
		{
			name: "contexts are hidden", want: "StatefulPresent", also: "ManagerPresent " + contextChecksAll(),
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter { return bareOf(ci) },
		},
		{
			name: "a naive wrapper", want: "ManagerPresent", also: "StatefulPresent DescriberPresent DescribeTrue " + contextChecksAll(),
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				return struct{ codeinterp.CodeInterpreter }{ci}
			},
		},
		{
			name: "the manager is lacking", want: "ManagerPresent", also: "FilesTold " + managerChecksAll(),
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				return unmanaged{ci.(codeinterp.StatefulInterpreter), ci.(codeinterp.Describer), undescribedOf(ci).Completer}
			},
		},
		{name: "the manager works and is declared as lacking", want: "ManagerPresent", lacks: []Feature{Manager}},
		{name: "values work and are declared as lacking", want: "ValueJSON", lacks: []Feature{Values}},
		{name: "stdin works and is declared as lacking in toy", want: "StdinGiven", lacks: []Feature{Stdin.In("toy"), Env.In("other")}},
		{
			name: "Describe is lacking", want: "DescriberPresent", also: "DescribeTrue CompletionsTold",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter { return undescribedOf(ci) },
		},
		{
			name: "signature drift", want: "NoStrayMethods", also: "StatelessHides", stateless: true,
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter { return drifted{bareOf(ci)} },
		},
		{
			name: "a manager without contexts", want: "NoStrayMethods", also: "StatelessHides", stateless: true,
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter { return orphaned{bareOf(ci)} },
		},
		{
			name: "Stateless hides nothing", want: "StatelessHides",
			suite: func(s *suite) {
				s.hide = func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter { return ci }
			},
		},
		{
			name: "Wrap drops the contexts", want: "WrapKeepsPresence",
			suite: func(s *suite) {
				s.wrap = func(ci codeinterp.CodeInterpreter, _ ...codeinterp.Middleware) codeinterp.CodeInterpreter {
					return bareOf(ci)
				}
			},
		},
		{
			name: "Wrap drops the manager", want: "WrapKeepsPresence",
			suite: func(s *suite) {
				s.wrap = func(ci codeinterp.CodeInterpreter, _ ...codeinterp.Middleware) codeinterp.CodeInterpreter {
					return unmanaged{ci.(codeinterp.StatefulInterpreter), ci.(codeinterp.Describer), undescribedOf(ci).Completer}
				}
			},
		},
		{
			name: "Wrap describes nothing", want: "WrapKeepsPresence",
			suite: func(s *suite) {
				s.wrap = func(ci codeinterp.CodeInterpreter, _ ...codeinterp.Middleware) codeinterp.CodeInterpreter {
					return describes(func(i *codeinterp.Info) { i.Provider = "" })(ci)
				}
			},
		},
		{
			name: "Describe without a name", want: "DescribeTrue",
			wrap: describes(func(i *codeinterp.Info) { i.Provider = "" }),
		},
		{
			name: "another name in errors", want: "DescribeTrue",
			wrap: describes(func(i *codeinterp.Info) { i.Provider = "toys" }),
		},
		{
			name: "a reach of another kind", want: "DescribeTrue",
			wrap: describes(func(i *codeinterp.Info) { i.Isolation.Network = "perhaps" }),
		},
		{
			name: "not sorted", want: "LanguagesSorted",
			wrap: speak(func(codeinterp.CodeInterpreter) func() []string {
				return func() []string { return []string{"toy", "other"} }
			}),
		},
		{
			name: "one slice for all", want: "LanguagesOwned",
			wrap: speak(func(codeinterp.CodeInterpreter) func() []string {
				list := []string{"toy"}
				return func() []string { return list }
			}),
		},
		{
			name: "empty after Close", want: "LanguagesConstant",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				var closed atomic.Bool
				w := watchClose{undescribedOf(ci), ci.(codeinterp.Describer), &closed}
				return speak(func(codeinterp.CodeInterpreter) func() []string {
					return func() []string {
						if closed.Load() {
							return nil
						}
						return []string{"toy"}
					}
				})(w)
			},
		},
		{
			name: "takes any language", want: "UnknownLanguage", also: "FaultsInOrder",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				c.Language = "toy"
				return next(ctx, c)
			}),
		},
		{
			name: "case matters", want: "LanguageNames",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if strings.EqualFold(strings.TrimSpace(c.Language), "toy") && c.Language != "toy" {
					c.Language = "?"
				}
				return next(ctx, c)
			}),
		},
	}
}

// contextChecksAll names the checks that no provider without contexts passes.
func contextChecksAll() string {
	return names(func(c check) bool { return c.scope == stateful || c.scope == everyRun }) + " " + managerChecksAll()
}

// managerChecksAll names the checks that need a manager.
func managerChecksAll() string {
	return names(func(c check) bool { return slices.Contains(c.needs, Manager) })
}

// everyCheckOf names all checks.
func everyCheckOf(string) string { return names(func(check) bool { return true }) }

func names(which func(check) bool) string {
	var list []string
	for _, c := range checks() {
		if which(c) {
			list = append(list, c.name)
		}
	}
	return strings.Join(list, " ")
}

func inputFaults() []fault {
	invalid := func(err error) bool { return errors.Is(err, codeinterp.ErrInvalid) }
	return []fault{
		{
			name: "bad bytes are dropped", want: "InvalidCode", also: "FaultsInOrder ExecutionCountOfRuns",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				c.Code = strings.ToValidUTF8(strings.ReplaceAll(c.Code, "\x00", ""), "")
				return next(ctx, c)
			}),
		},
		{
			name: "a syntax error instead", want: "InvalidCode", also: "FaultsInOrder",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if invalid(err) && strings.Contains(c.Code, "\x00") {
					return codeinterp.Reply{Result: codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 1}}, nil
				}
				return r, err
			}),
		},
		{
			name: "a negative timeout is none", want: "InvalidTimeout",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) { o.Timeout = max(o.Timeout, 0) }),
		},
		{
			name: "any negative limit is none", want: "InvalidMaxOutput",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) { o.MaxOutput = max(o.MaxOutput, -1) }),
		},
		{
			name: "a bad environment is dropped", want: "InvalidEnv",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if invalid(err) && len(o.Env) > 0 {
					o.Env = nil
					return next(ctx, c)
				}
				return r, err
			}),
		},
		{
			name: "options of a context are not looked at", want: "InvalidContext", also: "ContextInputsWhole FaultsInOrder",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpCreate && invalid(err) {
					c.NewContext = nil
					return next(ctx, c)
				}
				return r, err
			}),
		},
		{
			name: "defaults are filled into the caller's options", want: "OptionsUntouched",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Run != nil && c.Run.MaxOutput == 0 {
					c.Run.MaxOutput = codeinterp.DefaultMaxOutput
				}
				return next(ctx, c)
			}),
		},
		{
			name: "empty code is refused", want: "NothingToRun", also: "NoValue",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Op.Runs() && strings.TrimSpace(c.Code) == "" {
					return refuse(c, codeinterp.ErrInvalid)
				}
				return next(ctx, c)
			}),
		},
		{
			name: "code goes through the command line", want: "LongCode",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if len(c.Code) > 128<<10 && len(c.Code) <= codeinterp.MaxCode {
					return refuse(c, codeinterp.ErrUnavailable)
				}
				return next(ctx, c)
			}),
		},
	}
}

// memory is a fault's own state, one for all interpreters.
type memory struct {
	mu sync.Mutex
	m  map[codeinterp.ContextID]string
}

func (m *memory) set(id codeinterp.ContextID, v string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m == nil {
		m.m = map[codeinterp.ContextID]string{}
	}
	m.m[id] = v
}

func (m *memory) get(id codeinterp.ContextID) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.m[id]
}
