package driver

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Forker is a Runtime that copies the states of languages whose LanguageInfo.Forks is
// set. Its interpreters have [codeinterp.Forks].
type Forker interface {
	// Fork returns a session with a copy of the state of s, for a context with the options.
	// It is called between runs, as Session.Run is.
	Fork(ctx context.Context, s Session, o Options) (Session, error)
}

// A forker is the codeinterp.ContextForker of an interpreter whose runtime is a Forker.
type forker struct {
	*Stateful
	rt Forker
}

// forks returns the ContextForker of an interpreter that has one.
func (i *Stateful) forks() (codeinterp.ContextForker, bool) {
	rt, ok := i.rt.(Forker)
	ok = ok && slices.ContainsFunc(i.languages, func(l codeinterp.LanguageInfo) bool { return l.Forks && l.Contexts })
	return forker{i, rt}, ok
}

// ForkContext implements codeinterp.ContextForker.
func (i forker) ForkContext(ctx context.Context, id codeinterp.ContextID) (copied codeinterp.ContextID, err error) {
	defer i.wrap(ctx, codeinterp.OpFork, &err)
	of, err := i.turn(ctx, id)
	if err != nil {
		return "", err
	}
	defer of.release()
	language := of.opts.Language
	if !slices.ContainsFunc(i.languages, func(l codeinterp.LanguageInfo) bool { return l.Forks && l.Name == language }) {
		return "", fmt.Errorf("%w: %s contexts cannot be forked here", codeinterp.ErrInvalid, language)
	}
	s := i.newContext()
	s.functions = of.functions
	s.opts.Language, s.opts.ContextOptions = language, of.opts.ContextOptions
	session := of.session
	copied, err = i.open(ctx, s, nil, func(ctx context.Context) (Attached, error) {
		a := Attached{Language: language, Options: s.opts.ContextOptions, Empty: session == nil || of.resetPending || of.fresh && of.lossReported}
		if session == nil || of.resetPending {
			return a, fmt.Errorf("%w: the context has lost its state", codeinterp.ErrUnavailable)
		}
		a.Session, err = i.rt.Fork(ctx, session, s.opts)
		return a, err
	})
	if err == nil {
		s.runs = of.runs
	}
	return copied, err
}
