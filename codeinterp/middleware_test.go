package codeinterp_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

type presence struct{ stateful, manager bool }

func presenceOf(ci codeinterp.CodeInterpreter) (p presence) {
	_, p.stateful = codeinterp.Stateful(ci)
	_, p.manager = codeinterp.Manager(ci)
	return p
}

func TestPresence(t *testing.T) {
	pass := func(next codeinterp.Handler) codeinterp.Handler { return next }
	for _, tt := range []struct {
		name     string
		ci       codeinterp.CodeInterpreter
		want     presence
		provider string
	}{
		{"stateless", &echo{}, presence{}, "unknown"},
		{"stateless describer", &echoDescriber{}, presence{}, "echo"},
		{"stateful", &echoStateful{}, presence{stateful: true}, "unknown"},
		{"stateful describer", &echoStatefulDescriber{}, presence{stateful: true}, "echo"},
		{"manager", &echoManager{}, presence{true, true}, "unknown"},
		{"all", &echoAll{}, presence{true, true}, "echo"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hidden := codeinterp.Stateless(tt.ci)
			for _, view := range []struct {
				name string
				ci   codeinterp.CodeInterpreter
				want presence
			}{
				{"bare", tt.ci, tt.want},
				{"Wrap", codeinterp.Wrap(tt.ci, pass), tt.want},
				{"Wrap(Wrap)", codeinterp.Wrap(codeinterp.Wrap(tt.ci, pass), pass), tt.want},
				{"Stateless", hidden, presence{}},
				{"Wrap(Stateless)", codeinterp.Wrap(hidden, pass), presence{}},
				{"Stateless(Wrap)", codeinterp.Stateless(codeinterp.Wrap(tt.ci, pass)), presence{}},
			} {
				if got := presenceOf(view.ci); got != view.want {
					t.Errorf("%s: %+v, want %+v", view.name, got, view.want)
				}
				if got := codeinterp.Describe(view.ci).Provider; got != tt.provider {
					t.Errorf("%s: Describe names %q, want %q", view.name, got, tt.provider)
				}
			}
		})
	}
}

func TestMiddlewareSeesEveryOperation(t *testing.T) {
	var got []codeinterp.Op
	spy := func(next codeinterp.Handler) codeinterp.Handler {
		return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
			got = append(got, c.Op)
			return next(ctx, c)
		}
	}
	ci := codeinterp.Wrap(&echoAll{}, spy)
	s, _ := codeinterp.Stateful(ci)
	m, _ := codeinterp.Manager(ci)
	ctx := t.Context()
	s.RunCode(ctx, "echo", "", nil)
	id, _ := s.CreateContext(ctx, "echo", nil)
	s.RunInContext(ctx, id, "", nil)
	m.ListContexts(ctx)
	m.RestartContext(ctx, id)
	m.InterruptContext(ctx, id)
	s.DeleteContext(ctx, id)
	want := []codeinterp.Op{codeinterp.OpRun, codeinterp.OpCreate, codeinterp.OpRunIn, codeinterp.OpList,
		codeinterp.OpRestart, codeinterp.OpInterrupt, codeinterp.OpDelete}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMiddlewareOrder(t *testing.T) {
	var got []string
	mark := func(name string) codeinterp.Middleware {
		return func(next codeinterp.Handler) codeinterp.Handler {
			return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
				got = append(got, name)
				return next(ctx, c)
			}
		}
	}
	codeinterp.Wrap(&echo{}, mark("outer"), mark("inner")).RunCode(t.Context(), "echo", "", nil)
	if !slices.Equal(got, []string{"outer", "inner"}) {
		t.Errorf("got %v", got)
	}
}

func TestUnknownOperationIsRefused(t *testing.T) {
	for _, op := range []codeinterp.Op{{}, codeinterp.OpDelete, codeinterp.OpRestart} {
		forge := func(next codeinterp.Handler) codeinterp.Handler {
			return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
				return next(ctx, codeinterp.Call{Op: op})
			}
		}
		res, err := codeinterp.Wrap(&echo{}, forge).RunCode(t.Context(), "echo", "", nil)
		if !errors.Is(err, codeinterp.ErrInvalid) || res.Status != codeinterp.StatusNotRun {
			t.Errorf("%v: res = %v, err = %v", op, res.Status, err)
		}
	}
}
