package conformance

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func toyConfig(create func() (codeinterp.CodeInterpreter, error), stateful bool) Config {
	return Config{New: create, Stateful: stateful, Programs: map[string]Programs{"toy": toyPrograms()}, Timeout: 2 * time.Minute, Patience: 10 * time.Second}
}

// TestToy: the driver keeps the whole contract, with contexts, without, and wrapped.
// The hours that programs wait pass at once.
func TestToy(t *testing.T) {
	pass := func(next codeinterp.Handler) codeinterp.Handler { return next }
	for name, create := range map[string]func() (codeinterp.CodeInterpreter, error){
		"stateful":  newToyStateful,
		"stateless": newToyStateless,
		"hidden": func() (codeinterp.CodeInterpreter, error) {
			ci, err := newToyStateful()
			return codeinterp.Stateless(ci), err
		},
		"wrapped": func() (codeinterp.CodeInterpreter, error) {
			ci, err := newToyStateful()
			return codeinterp.Wrap(ci, pass, pass), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if err := findings(t.Context(), toyConfig(create, name == "stateful" || name == "wrapped")); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestEveryFeatureIsProved: a feature that no check proves could be declared as
// lacking for ever.
func TestEveryFeatureIsProved(t *testing.T) {
	proved := map[Feature]bool{}
	for _, c := range checks() {
		proved[c.proves] = true
	}
	for _, c := range checks() {
		for _, f := range c.needs {
			if !proved[f] {
				t.Errorf("%s needs %s, which no check proves", c.name, f)
			}
		}
	}
}
