package codeinterp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

// A copier is a group as one would be added: its interface, its operations and
// its handle are in this file, and no other has to know.
type copier interface {
	CopyContext(ctx context.Context, id ContextID) (ContextID, error)
	CallBack(ctx context.Context, id ContextID, f hostFunc) (Result, error)
}

type hostFunc func(ctx context.Context, args string) (string, error)

func copierOf(ci CodeInterpreter) (copier, bool) { return copiers.find(ci) }

var copiers = group[copier]{contexts: true, handle: func(h Handler) copier { return copying(h) }}

var (
	opCopy = copiers.op("copy context", creates, func(ctx context.Context, f copier, c Call) (r Reply, err error) {
		r.Context, err = f.CopyContext(ctx, c.Context)
		return r, err
	})
	opCallBack = copiers.op("call back", runs, func(ctx context.Context, f copier, c Call) (r Reply, err error) {
		r.Result, err = f.CallBack(ctx, c.Context, c.Args.(hostFunc))
		return r, err
	})
	opHost = copiers.op("call host", 0, func(ctx context.Context, _ copier, c Call) (r Reply, err error) {
		a := c.Args.(hostCall)
		r.Value, err = a.f(ctx, a.args)
		return r, err
	})
)

type hostCall struct {
	f    hostFunc
	args string
}

type copying Handler

func (h copying) CopyContext(ctx context.Context, id ContextID) (ContextID, error) {
	r, err := h(ctx, Call{Op: opCopy, Context: id})
	return r.Context, err
}

// CallBack sends the run inwards through h, and what the program calls outwards
// through h too.
func (h copying) CallBack(ctx context.Context, id ContextID, f hostFunc) (Result, error) {
	outward := hostFunc(func(ctx context.Context, args string) (string, error) {
		r, err := h(ctx, Call{Op: opHost, Context: id, Args: hostCall{f, args}})
		s, _ := r.Value.(string)
		return s, err
	})
	r, err := h(ctx, Call{Op: opCallBack, Context: id, Args: outward})
	return r.Result, err
}

// memory is a provider with contexts that are names.
type memory struct{ plain }

type plain struct{}

func (plain) Languages() []string { return []string{"x"} }
func (plain) Close() error        { return nil }
func (plain) RunCode(context.Context, string, string, *RunOptions) (Result, error) {
	return Result{Status: StatusOK}, nil
}

func (memory) CreateContext(context.Context, string, *ContextOptions) (ContextID, error) {
	return "c", nil
}
func (memory) RunInContext(context.Context, ContextID, string, *RunOptions) (Result, error) {
	return Result{Status: StatusOK}, nil
}
func (memory) DeleteContext(context.Context, ContextID) error { return nil }

// copies adds the group's methods.
type copies struct{ memory }

func (copies) CopyContext(_ context.Context, id ContextID) (ContextID, error) {
	return "copy of " + id, nil
}

func (copies) CallBack(ctx context.Context, _ ContextID, f hostFunc) (Result, error) {
	s, err := f(ctx, "args")
	return Result{Status: StatusOK, Outputs: []Output{{Kind: Stdout, Data: []byte(s)}}}, err
}

// asked answers by As what it has.
type asked struct {
	memory
	has bool
}

func (a asked) As(target any) bool {
	if t, ok := target.(*copier); ok && a.has {
		*t = copies{}
		return true
	}
	return false
}

// misplaced has the group's methods and no contexts.
type misplaced struct{ plain }

func (misplaced) CopyContext(context.Context, ContextID) (ContextID, error)         { return "", nil }
func (misplaced) CallBack(context.Context, ContextID, hostFunc) (r Result, e error) { return }

func spy(name string, seen *[]string) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, c Call) (Reply, error) {
			*seen = append(*seen, name+" "+c.Op.String())
			return next(ctx, c)
		}
	}
}

func TestGroupPresence(t *testing.T) {
	for _, tt := range []struct {
		name string
		ci   CodeInterpreter
		want bool
	}{
		{"methods", copies{}, true},
		{"As", asked{has: true}, true},
		{"neither", memory{}, false},
		{"As says no", asked{}, false},
		{"no contexts", misplaced{}, false},
		{"hidden", Stateless(copies{}), false},
	} {
		for _, view := range []struct {
			name string
			ci   CodeInterpreter
			want bool
		}{
			{"bare", tt.ci, tt.want},
			{"two layers", Wrap(Wrap(tt.ci)), tt.want},
			{"hidden outside", Stateless(Wrap(Wrap(tt.ci))), false},
			{"hidden between", Wrap(Stateless(Wrap(tt.ci))), false},
		} {
			if _, ok := copierOf(view.ci); ok != view.want {
				t.Errorf("%s, %s: %v, want %v", tt.name, view.name, ok, view.want)
			}
		}
	}
}

// TestGroupThroughLayers calls through two layers, and from the program back
// through both.
func TestGroupThroughLayers(t *testing.T) {
	for _, ci := range []CodeInterpreter{copies{}, asked{has: true}} {
		var seen []string
		c, ok := copierOf(Wrap(Wrap(ci, spy("inner", &seen)), spy("outer", &seen)))
		if !ok {
			t.Fatalf("%T: no group", ci)
		}
		id, err := c.CopyContext(t.Context(), "a")
		if want := []string{"outer copy context", "inner copy context"}; id != "copy of a" || err != nil || !slices.Equal(seen, want) {
			t.Errorf("%q, %v, %q", id, err, seen)
		}
		seen = nil
		res, err := c.CallBack(t.Context(), "a", func(_ context.Context, args string) (string, error) {
			seen = append(seen, "host")
			return args + " came", nil
		})
		want := []string{"outer call back", "inner call back", "inner call host", "outer call host", "host"}
		if res.Stdout() != "args came" || err != nil || !slices.Equal(seen, want) {
			t.Errorf("%q, %v, %q, want %q", res.Stdout(), err, seen, want)
		}
	}
}

// TestGuardsSeeGroups has the project's own middlewares judge operations that
// they do not know.
func TestGuardsSeeGroups(t *testing.T) {
	var log bytes.Buffer
	var asked []string
	refuse := errors.New("no")
	ci := Wrap(copies{},
		Log(slog.New(slog.NewTextHandler(&log, nil))),
		Approve(func(_ context.Context, c Call) error {
			asked = append(asked, c.Op.String()+" "+c.Language)
			if c.Op == opCallBack {
				return refuse
			}
			return nil
		}),
		Limit(&LimitOptions{Contexts: 2}))
	ctx := t.Context()
	s, _ := Stateful(ci)
	id, err := s.CreateContext(ctx, "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := copierOf(ci)
	copied, err := c.CopyContext(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CopyContext(ctx, copied); !errors.Is(err, ErrCapacity) {
		t.Errorf("a third context: %v", err)
	}
	if res, err := c.CallBack(ctx, copied, nil); !errors.Is(err, ErrRefused) || !errors.Is(err, refuse) || res.Status != StatusNotRun {
		t.Errorf("refused: %v, %v", res.Status, err)
	}
	if want := []string{"create context x", "copy context x", "copy context x", "call back x"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	if n := strings.Count(log.String(), `msg="copy context"`); n != 2 {
		t.Errorf("%d copies logged, want 2:\n%s", n, log.String())
	}
}
