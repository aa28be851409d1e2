package codeinterp

import (
	"context"
	"slices"
)

// Stateless returns ci without its contexts and the groups that need them.
func Stateless(ci CodeInterpreter) CodeInterpreter {
	if _, ok := Stateful(ci); !ok {
		return ci
	}
	return view{CodeInterpreter: ci}
}

// A view shows a part of an interpreter. It embeds the interface, so that only the
// interface's methods are promoted.
type view struct {
	CodeInterpreter
	languages []string            // nil for those of the interpreter
	close     func() error        // nil for the interpreter's
	hidden    func(kind any) bool // of groups: kind is a nil pointer to an interface; nil hides none
}

var (
	_ Describer = view{}
	_ Describer = statefulView{}
	_ layer     = statefulView{}
)

// withContexts returns v with the contexts of its interpreter, if it has any.
func (v view) withContexts() CodeInterpreter {
	if s, ok := Stateful(v.CodeInterpreter); ok {
		return statefulView{s, v}
	}
	return v
}

// refusal is the error of a call that is not passed on, in the order of providers. It is
// ErrContext if nothing else is wrong.
func refusal(ctx context.Context, c Call, closed bool) (err error) {
	switch {
	case c.Op.Runs():
		_, err = CheckRun(c.Code, c.Run)
	case c.Op.Creates():
		_, err = CheckContext(c.NewContext)
	}
	switch {
	case err != nil:
		return err
	case closed:
		return ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return ErrContext
}

func (v view) layer() (CodeInterpreter, Handler) { return v.CodeInterpreter, nil }
func (v view) Describe() Info                    { return Describe(v.CodeInterpreter) }
func (v view) hides(kind any) bool               { return v.hidden != nil && v.hidden(kind) }

func (v view) Languages() []string {
	if v.languages != nil {
		return slices.Clone(v.languages)
	}
	return v.CodeInterpreter.Languages()
}

func (v view) Close() error {
	if v.close != nil {
		return v.close()
	}
	return v.CodeInterpreter.Close()
}

type statefulView struct {
	StatefulInterpreter
	v view
}

func (s statefulView) layer() (CodeInterpreter, Handler) { return s.v.layer() }
func (s statefulView) Describe() Info                    { return s.v.Describe() }
func (s statefulView) hides(kind any) bool               { return s.v.hides(kind) }
func (s statefulView) Languages() []string               { return s.v.Languages() }
func (s statefulView) Close() error                      { return s.v.Close() }
