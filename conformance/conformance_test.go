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
				if err := Check(t.Context(), toyConfig(create, name == "stateful" || name == "wrapped")); err != nil {
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

// TestEveryRowHasAClause names the rows of the contract that only tests of a provider,
// of the tools or of the driver can see.
func TestEveryRowHasAClause(t *testing.T) {
	elsewhere := map[int]string{
		8:  "providers/jupyter: a server that goes away",
		14: "providers/jupyter: a kernel of other clients",
		23: "ValueJSON (contract row 23 is for JavaScript)",
		25: "tools: the text for a model",
		27: "tools: repeated call ids",
	}
	rows := map[int]int{}
	for _, c := range Clauses() {
		rows[c.Row]++
	}
	for row := 1; row <= 27; row++ {
		if (rows[row] > 0) == (elsewhere[row] != "") {
			t.Errorf("row %d has %d clauses, and is tested elsewhere: %q", row, rows[row], elsewhere[row])
		}
	}
}
