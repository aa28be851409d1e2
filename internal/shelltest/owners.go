package shelltest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/shell"
)

// many: there are only so many commands at once, and so many that have ended
// are remembered.
func many(t *testing.T, open Open) {
	s := open(t, &shell.Options{MaxCommands: 2, MaxEnded: 2})
	first := start(t, s, "sleep 1000")
	start(t, s, "sleep 1000")
	if _, err := s.Start(t.Context(), "true", nil); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("a third one: %v", err)
	}
	if _, err := s.Stop(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		wait(t, s, start(t, s, "true"))
	}
	if _, err := s.Wait(t.Context(), first); !errors.Is(err, shell.ErrCommand) {
		t.Errorf("the first is still known: %v", err)
	}
	start(t, s, "sleep 1000") // forgets none: it has not ended
	if list, _ := s.List(t.Context()); len(list) != 4 {
		t.Errorf("%d commands", len(list))
	}
}

type ownerKey struct{}

// owners: commands of one owner are not there for another.
func owners(t *testing.T, open Open) {
	s := open(t, nil)
	v := s.With(shell.View{Owner: func(ctx context.Context) any { return ctx.Value(ownerKey{}) }})
	a := context.WithValue(t.Context(), ownerKey{}, "a")
	b := context.WithValue(t.Context(), ownerKey{}, "b")
	id, err := v.Start(a, "sleep 1000", nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := v.Start(b, "sleep 1000", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Stop(b, id); !errors.Is(err, shell.ErrCommand) {
		t.Errorf("b stops it: %v", err)
	}
	if list, _ := v.List(b); len(list) != 1 || list[0].ID != other {
		t.Errorf("b sees %v", list)
	}
	v.Release(b)
	if list, _ := s.List(t.Context()); len(list) != 1 || list[0].ID != id || !list[0].Running {
		t.Errorf("left: %v", list)
	}
}

// refused: a middleware decides about commands as it does about programs.
func refused(t *testing.T, open Open) {
	s := open(t, nil).With(shell.View{Middlewares: []codeinterp.Middleware{
		codeinterp.Approve(func(_ context.Context, c codeinterp.Call) error {
			if c.Op == codeinterp.OpCommand && strings.HasPrefix(c.Code, "rm ") {
				return errors.New("no")
			}
			return nil
		}),
	}})
	if res, err := s.Run(t.Context(), "rm x", nil); !errors.Is(err, codeinterp.ErrRefused) || res.Status != codeinterp.StatusNotRun {
		t.Error(res.Status, err)
	}
	if _, err := s.Start(t.Context(), "rm x", nil); !errors.Is(err, codeinterp.ErrRefused) {
		t.Error(err)
	}
	if list, _ := s.List(t.Context()); len(list) != 0 {
		t.Errorf("%v", list)
	}
	if res, err := s.Run(t.Context(), "true", nil); !res.OK() || err != nil {
		t.Error(res.Status, err)
	}
}
