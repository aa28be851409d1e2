package inmemory_test

import (
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
)

// both returns options with JavaScript and TypeScript.
func both() *inmemory.Options {
	js := quickjs.New(nil)
	return &inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}}
}

// lacks is what an embedded engine cannot do: there are no processes, and
// nothing outlives a run.
var lacks = []conformance.Feature{conformance.Processes, conformance.Children, conformance.LateOutput}

// One language goes a long way where the interpreter is the same underneath.
func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name string
		conformance.Config
	}{
		{"New", conformance.Config{New: func() (codeinterp.CodeInterpreter, error) { return inmemory.New(both()) }, Thrifty: true}},
		{"NewStateful", conformance.Config{New: func() (codeinterp.CodeInterpreter, error) { return inmemory.NewStateful(both()) }, Stateful: true}},
		{"Stateless", conformance.Config{New: func() (codeinterp.CodeInterpreter, error) {
			s, err := inmemory.NewStateful(both())
			return codeinterp.Stateless(s), err
		}, Thrifty: true, Languages: []string{"typescript"}}},
		{"Wrap", conformance.Config{New: func() (codeinterp.CodeInterpreter, error) {
			s, err := inmemory.NewStateful(both())
			return codeinterp.Wrap(s), err
		}, Stateful: true, Thrifty: true, Languages: []string{"javascript"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.Lacks = lacks
			conformance.Run(t, c.Config)
		})
	}
}
