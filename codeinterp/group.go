package codeinterp

import "context"

// A group is an optional capability: an interface T, and how a call of one of
// its methods becomes a [Call] and back. It is one value in one file, beside
// its interface and its operations; wrapping, hiding and guarding work for all
// groups alike.
type group[T any] struct {
	// contexts says that the group is about contexts, so that an interpreter
	// without them does not have it.
	contexts bool
	// handle returns the T whose calls go to h.
	handle func(h Handler) T
}

// op returns an operation of the group.
func (g group[T]) op(name string, t traits, serve func(context.Context, T, Call) (Reply, error)) Op {
	return Op{&operation{name, t, func(ctx context.Context, ci CodeInterpreter, c Call) (Reply, error) {
		if of, ok := g.find(ci); ok {
			return serve(ctx, of, c)
		}
		return errUnknownOp(c)
	}}}
}

// A layer stands between a caller and an interpreter. Its handler, if it has
// one, sees the calls that go through it.
type layer interface {
	layer() (inner CodeInterpreter, h Handler)
}

// find returns the group of ci, if it has it. The calls of what it returns go
// through every layer that is around the provider, the outermost first.
func (g group[T]) find(ci CodeInterpreter) (t T, ok bool) {
	if g.contexts {
		// Asked at every layer: where one hides the contexts, the groups about them
		// go too.
		if _, ok := Stateful(ci); !ok {
			return t, false
		}
	}
	if h, is := ci.(interface{ hides(kind any) bool }); is && h.hides((*T)(nil)) {
		return t, false
	}
	l, is := ci.(layer)
	if !is {
		return provided[T](ci)
	}
	inner, h := l.layer()
	// A layer without a handler only hides; calls go to what is below it.
	if t, ok = g.find(inner); ok && h != nil {
		return g.handle(h), true
	}
	return t, ok
}

// provided asks the provider itself: one whose methods depend on what it is
// made of answers by As, the others have the methods.
func provided[T any](ci CodeInterpreter) (T, bool) {
	if a, ok := ci.(interface{ As(target any) bool }); ok {
		if t := new(T); a.As(t) {
			return *t, true
		}
	}
	t, ok := ci.(T)
	return t, ok
}
