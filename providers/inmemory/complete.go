package inmemory

import (
	"context"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

var _ driver.Completer = (*engines)(nil)

// Complete implements driver.Completer.
func (rt *engines) Complete(ctx context.Context, of driver.Session, code string, cursor int) (codeinterp.Completion, error) {
	s, ok := of.(*session)
	if !ok || s.inst == nil {
		return codeinterp.Completion{}, nil
	}
	e, ok := s.inst.(engine.Completer)
	if !ok {
		return codeinterp.Completion{}, nil
	}
	if !rt.slots.acquire(ctx) {
		return codeinterp.Completion{}, context.Cause(ctx)
	}
	defer rt.slots.release()
	start, matches := e.Complete(code[:cursor])
	return codeinterp.Completion{Matches: matches, Start: start, End: cursor}, nil
}
