package conformance

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/race"
)

// toyConfigAway is toyConfig with machines that can be away.
func toyConfigAway() Config {
	n := newToyNet()
	cfg := toyConfig(func() (codeinterp.CodeInterpreter, error) { return newToyBehind(n) }, true)
	cfg.Outage = n.outage
	return cfg
}

// slow skips a test for the race detector, which sees in TestToy what it would see
// there.
func slow(t *testing.T) {
	t.Helper()
	if race.Enabled && !race.Full() {
		t.Skip("the race detector is slow, and sees the same in TestToy: make test runs it without")
	}
}

func toyConfig(create func() (codeinterp.CodeInterpreter, error), stateful bool) Config {
	return Config{New: create, Stateful: stateful, Programs: map[string]Programs{"toy": toyPrograms()}, Timeout: 2 * time.Minute, Patience: 10 * time.Second}
}

func TestToy(t *testing.T) {
	if !aparttest.Run(t) {
		Run(t, toyConfigAway())
	}
}

// TestToyInBubble passes the hours that the programs wait in no time.
func TestToyInBubble(t *testing.T) {
	if aparttest.Run(t) {
		return
	}
	pass := func(next codeinterp.Handler) codeinterp.Handler { return next }
	for _, tt := range []struct {
		name     string
		stateful bool
		thrifty  bool
		brief    bool
		create   func() (codeinterp.CodeInterpreter, error)
	}{
		{name: "stateful", stateful: true, create: newToyStateful},
		{name: "thrifty", stateful: true, thrifty: true, create: newToyStateful},
		{name: "brief", stateful: true, thrifty: true, brief: true, create: newToyStateful},
		{name: "stateless", create: newToyStateless},
		{name: "hidden", create: func() (codeinterp.CodeInterpreter, error) {
			ci, err := newToyStateful()
			return codeinterp.Stateless(ci), err
		}},
		{name: "wrapped", stateful: true, create: func() (codeinterp.CodeInterpreter, error) {
			ci, err := newToyStateful()
			return codeinterp.Wrap(ci, pass, pass), err
		}},
	} {
		if race.Less() && tt.name != "brief" {
			continue // without the race detector all are tried, and TestToy with it
		}
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := toyConfig(tt.create, tt.stateful)
				cfg.Thrifty, cfg.Brief = tt.thrifty, tt.brief
				s, err := newSuite(cfg)
				if err != nil {
					t.Fatal(err)
				}
				s.announce = io.Discard
				if err := s.check(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
