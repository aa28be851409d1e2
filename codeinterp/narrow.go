package codeinterp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// NarrowOptions says what [Narrow] keeps. The zero value keeps all languages, without
// contexts.
type NarrowOptions struct {
	// Languages are the names, among Languages(), of those to keep. Empty
	// keeps all.
	Languages []string

	// Contexts keeps the contexts of the languages that have them.
	Contexts bool

	// Manager keeps the [ContextManager].
	Manager bool

	// Commands keeps the [Commander], whose shell may run programs in languages
	// that are not kept, and Terminals the [TerminalRunner].
	Commands, Terminals bool
}

// Narrow returns ci with only what opts names. Other languages are ErrLanguage and
// their contexts ErrContext, in every operation and before ci is called. Languages,
// [Describe] and the accessors of groups do not show them. Close closes ci. opts may
// be nil.
// A context that was made elsewhere is accepted if the ContextManager of ci says that
// its language is kept.
func Narrow(ci CodeInterpreter, opts *NarrowOptions) (CodeInterpreter, error) {
	var o NarrowOptions
	if opts != nil {
		o = *opts
	}
	n := &narrower{NarrowOptions: o, inner: ci, all: Describe(ci), known: ci.Languages()}
	n.Languages = slices.Compact(slices.Sorted(slices.Values(o.Languages)))
	if len(n.Languages) == 0 {
		n.Languages = n.known
	}
	for _, name := range n.Languages {
		if !slices.Contains(n.known, name) {
			return nil, &Error{Provider: "narrow", Op: "open", Err: fmt.Errorf("%w: %q; supported: %s", ErrLanguage, name, strings.Join(n.known, ", "))}
		}
	}
	if !o.Contexts || !n.hasContexts() {
		ci = Stateless(ci)
	}
	return view{Wrap(ci, n.middleware), n.Languages, nil, n.hides}.withContexts(), nil
}

// hasContexts reports whether any language that is kept has contexts.
func (n *narrower) hasContexts() bool {
	return slices.ContainsFunc(n.all.Languages, func(l LanguageInfo) bool { return l.Contexts && n.keeps(l.Name) })
}

// hides reports whether a group is left out; see view.
func (n *narrower) hides(kind any) bool {
	switch kind.(type) {
	case *ContextManager:
		return !n.Manager
	case *Commander:
		return !n.Commands
	case *TerminalRunner:
		return !n.Terminals
	}
	return false
}

// A narrower decides which calls are passed on.
type narrower struct {
	NarrowOptions // with the languages that are kept
	inner         CodeInterpreter
	all           Info
	known         []string // languages of inner
	made          sync.Map // the languages of contexts, by their id
}

func (n *narrower) keeps(language string) bool { return slices.Contains(n.Languages, language) }

func (n *narrower) middleware(next Handler) Handler {
	return func(ctx context.Context, c Call) (Reply, error) {
		if c.Op == OpDescribe {
			return n.describe(ctx, c, next)
		}
		// These two require a language; operations of groups may not.
		if c.Language != "" || c.Op == OpRun || c.Op == OpCreate {
			name, err := n.resolve(c.Language)
			if err != nil {
				return Reply{Result: NotRun()}, &Error{Provider: "narrow", Op: c.Op.String(), Err: err}
			}
			c.Language = name
		}
		if c.Context != "" && !n.keepsContext(ctx, c.Context) {
			return Reply{Result: NotRun()}, &Error{Provider: "narrow", Op: c.Op.String(), Err: refusal(ctx, c, false)}
		}
		r, err := next(ctx, c)
		n.note(&c, &r, err)
		return n.filterContexts(c, r), err
	}
}

// resolve is ResolveLanguage with the provider's own aliases, for the languages that
// are kept.
func (n *narrower) resolve(name string) (string, error) {
	// A language's own name goes before another one's alias.
	is := func(a string) bool { return strings.EqualFold(a, strings.TrimSpace(name)) }
	if !slices.Contains(n.known, name) {
		for _, l := range n.all.Languages {
			if n.keeps(l.Name) && slices.ContainsFunc(l.Aliases, is) {
				return l.Name, nil
			}
		}
	}
	if full, err := ResolveLanguage(name, n.known); err == nil && n.keeps(full) {
		return full, nil
	}
	// An alias of a language that was left out must not select another one.
	_, err := ResolveLanguage(name, nil)
	return "", fmt.Errorf("%w%s", err, strings.Join(n.Languages, ", "))
}

// keepsContext reports whether the language of a context is kept.
func (n *narrower) keepsContext(ctx context.Context, id ContextID) bool {
	if language, ok := n.made.Load(id); ok {
		return n.keeps(language.(string))
	}
	m, ok := Manager(n.inner)
	if !ok {
		return false
	}
	// Without a list, no context is kept.
	list, _ := m.ListContexts(ctx)
	i := slices.IndexFunc(list, func(info ContextInfo) bool { return info.ID == id })
	return i >= 0 && n.keeps(list[i].Language)
}

// note remembers the languages of contexts: that of the context which one was
// made from, where the call names none.
func (n *narrower) note(c *Call, r *Reply, err error) {
	switch {
	case err == nil && c.Op.Creates() && r.Context != "":
		if language, ok := n.made.Load(c.Context); c.Language != "" {
			n.made.Store(r.Context, c.Language)
		} else if ok {
			n.made.Store(r.Context, language)
		}
	case err == nil && c.Op.Deletes(), errors.Is(err, ErrContext):
		n.made.Delete(c.Context)
	}
}

// filterContexts removes contexts of other languages from a list.
func (n *narrower) filterContexts(c Call, r Reply) Reply {
	if c.Op == OpList {
		r.Contexts = slices.DeleteFunc(slices.Clone(r.Contexts), func(i ContextInfo) bool { return !n.keeps(i.Language) })
	}
	return r
}

func (n *narrower) describe(ctx context.Context, c Call, next Handler) (Reply, error) {
	r, err := next(ctx, c)
	if info, ok := r.Value.(Info); ok {
		info.Languages = slices.DeleteFunc(slices.Clone(info.Languages), func(l LanguageInfo) bool { return !n.keeps(l.Name) })
		r.Value = info
	}
	return r, err
}
