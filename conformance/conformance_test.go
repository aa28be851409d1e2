package conformance

import (
	"testing"
	"testing/synctest"

	"github.com/toolcell/toolcell/codeinterp"
)

func toyConfig(create func() (codeinterp.CodeInterpreter, error), stateful bool) Config {
	return Config{New: create, Stateful: stateful, Programs: map[string]Programs{"toy": toyPrograms()}, Lacks: lacksFor(stateful)}
}

func lacksFor(stateful bool) []Feature {
	if stateful {
		return nil
	}
	return []Feature{Manager}
}

func TestToy(t *testing.T) { Run(t, toyConfig(newToyStateful, true)) }

func TestToyStateless(t *testing.T) { Run(t, toyConfig(newToyStateless, false)) }

func TestToyWrapped(t *testing.T) {
	Run(t, toyConfig(func() (codeinterp.CodeInterpreter, error) {
		ci, err := newToyStateful()
		return codeinterp.Wrap(ci, func(next codeinterp.Handler) codeinterp.Handler { return next }), err
	}, true))
}

// TestToyInBubble takes no time at all.
func TestToyInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := Check(t.Context(), toyConfig(newToyStateful, true)); err != nil {
			t.Error(err)
		}
	})
}
