//go:build 386 || arm || s390x

package quickjs

import (
	"fmt"
	"runtime"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// An Engine makes JavaScript instances; on this architecture it cannot.
type Engine struct{}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine.
func New(*engine.Limits) *Engine { return &Engine{} }

// Info implements engine.Engine.
func (*Engine) Info() codeinterp.LanguageInfo {
	return codeinterp.LanguageInfo{Name: "javascript", Runtime: "none on " + runtime.GOARCH}
}

// Limits implements engine.Engine.
func (*Engine) Limits() engine.Limits { return engine.Limits{} }

// New implements engine.Engine.
func (*Engine) New(engine.Config) (engine.Instance, error) {
	return nil, fmt.Errorf("%w: JavaScript on %s", codeinterp.ErrUnavailable, runtime.GOARCH)
}
