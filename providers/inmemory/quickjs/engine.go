package quickjs

import (
	"cmp"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	lib "modernc.org/libquickjs"
)

const (
	defaultMemory = 64 << 20
	defaultStack  = 4000
	minMemory     = 1 << 20
	maxStack      = 5000
)

// An Engine makes JavaScript instances.
type Engine struct {
	limits engine.Limits
	pool   pool // of what closed instances left behind
}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine with the given limits for each instance. limits may be
// nil. Memory is in bytes, 64 MiB where it is zero; Stack is the number of
// nested calls, 4,000 where it is zero and at most 5,000.
func New(limits *engine.Limits) *Engine {
	e := &Engine{limits: engine.Limits{Memory: defaultMemory, Stack: defaultStack}}
	if limits != nil {
		e.limits.Memory = cmp.Or(limits.Memory, defaultMemory)
		e.limits.Stack = cmp.Or(limits.Stack, defaultStack)
	}
	return e
}

// Info implements engine.Engine.
func (e *Engine) Info() codeinterp.LanguageInfo {
	return codeinterp.LanguageInfo{
		Name:      "javascript",
		Runtime:   "QuickJS " + lib.MCONFIG_VERSION,
		Functions: true, Completion: true,
		Notes: "ES2023, with Intl for en-US only; not node: no network, no npm packages, no child processes. " +
			"There are console, timers, URL, TextEncoder, crypto, Buffer, display(mime, data), and require or import of " +
			"fs (in memory), path, util, assert, events, os, crypto, url, string_decoder, stream, readline, zlib, timers, perf_hooks and buffer.",
	}
}

// Limits implements engine.Engine.
func (e *Engine) Limits() engine.Limits { return e.limits }

// New implements engine.Engine.
func (e *Engine) New(c engine.Config) (engine.Instance, error) {
	if c.Limits.Memory < minMemory {
		return nil, fmt.Errorf("%w: a memory limit of %d bytes; at least %d are needed", codeinterp.ErrInvalid, c.Limits.Memory, minMemory)
	}
	if c.Limits.Stack < 1 || c.Limits.Stack > maxStack {
		return nil, fmt.Errorf("%w: a stack limit of %d calls; 1 to %d are possible", codeinterp.ErrInvalid, c.Limits.Stack, maxStack)
	}
	return newInstance(c, &e.pool)
}
