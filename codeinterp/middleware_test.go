package codeinterp_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

type presence struct{ stateful, manager, describer bool }

func presenceOf(ci codeinterp.CodeInterpreter) (p presence) {
	_, p.stateful = codeinterp.Stateful(ci)
	_, p.manager = codeinterp.Manager(ci)
	_, p.describer = ci.(codeinterp.Describer)
	return p
}

func TestPresence(t *testing.T) {
	pass := func(next codeinterp.Handler) codeinterp.Handler { return next }
	for _, tt := range []struct {
		name string
		ci   codeinterp.CodeInterpreter
		want presence
	}{
		{"stateless", &echo{}, presence{}},
		{"stateless describer", &echoDescriber{}, presence{describer: true}},
		{"stateful", &echoStateful{}, presence{stateful: true}},
		{"stateful describer", &echoStatefulDescriber{}, presence{stateful: true, describer: true}},
		{"manager", &echoManager{}, presence{stateful: true, manager: true}},
		{"all", &echoAll{}, presence{true, true, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := presenceOf(tt.ci); got != tt.want {
				t.Errorf("bare: %+v, want %+v", got, tt.want)
			}
			if got := presenceOf(codeinterp.Wrap(tt.ci, pass)); got != tt.want {
				t.Errorf("Wrap: %+v, want %+v", got, tt.want)
			}
			hidden := presence{describer: tt.want.describer}
			if got := presenceOf(codeinterp.Stateless(tt.ci)); got != hidden {
				t.Errorf("Stateless: %+v, want %+v", got, hidden)
			}
			if got := presenceOf(codeinterp.Wrap(codeinterp.Stateless(tt.ci), pass)); got != hidden {
				t.Errorf("Wrap(Stateless): %+v, want %+v", got, hidden)
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
	forge := func(next codeinterp.Handler) codeinterp.Handler {
		return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
			return next(ctx, codeinterp.Call{Op: codeinterp.OpDelete})
		}
	}
	res, err := codeinterp.Wrap(&echo{}, forge).RunCode(t.Context(), "echo", "", nil)
	if !errors.Is(err, codeinterp.ErrInvalid) || res.Status != codeinterp.StatusNotRun {
		t.Errorf("res = %v, err = %v", res.Status, err)
	}
}
