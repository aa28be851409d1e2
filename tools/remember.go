package tools

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callers"
	"github.com/toolcell/toolcell/internal/observe"
)

// maxRemembered is how many answers a memory holds.
const maxRemembered = 64

// A memory holds the answers to recent calls, for calls that a transport repeats.
type memory struct {
	lifetime time.Duration

	mu    sync.Mutex
	byKey map[callKey]*memo
	order []*memo // those that are done, oldest first
}

// callKey identifies a call. Ids alone are not enough: some servers count them
// from zero in every turn and for every client.
type callKey struct {
	client         any
	turn, id, tool string
	args           [sha256.Size]byte
}

// A memo is a call that is in progress or remembered.
type memo struct {
	key     callKey
	done    chan struct{}
	answer  *Answer // set when done, nil if it is not remembered
	expires time.Time
}

// serve answers the call from memory, waits for the same call in progress, or
// runs it. If the call in progress is not remembered in the end, one of those
// that wait runs.
func (m *memory) serve(ctx context.Context, t *Tool, c Invocation, turn string) *Answer {
	key := callKey{callers.Of(ctx), turn, c.ID, t.Name, sha256.Sum256(c.Args)}
	for {
		m.mu.Lock()
		m.trim()
		e, ok := m.byKey[key]
		if !ok {
			// Not in order until it is done: trim never drops a call in progress.
			e = &memo{key: key, done: make(chan struct{})}
			m.byKey[key] = e
		}
		m.mu.Unlock()
		if !ok {
			return m.first(ctx, t, c, e)
		}
		select {
		case <-e.done:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return fail(c.ID, t.Name, &Failure{CodeCanceled, "canceled while the same call was in progress"}, context.Cause(ctx))
		}
		if e.answer != nil {
			return recall(ctx, t, c, *e.answer)
		}
	}
}

// recall marks an answer as remembered and reports it.
func recall(ctx context.Context, t *Tool, c Invocation, a Answer) *Answer {
	a.Remembered = true
	if t.OnRemembered != nil {
		_ = observe.Recover(func() error { t.OnRemembered(ctx, c, &a); return nil })
	}
	return &a
}

// first runs the call.
func (m *memory) first(ctx context.Context, t *Tool, c Invocation, e *memo) (a *Answer) {
	// Deferred, since a tool may end its goroutine.
	defer func() { m.settle(ctx, e, a) }()
	return serve(ctx, t, c)
}

// settle remembers the answer to a call, or forgets the call.
func (m *memory) settle(ctx context.Context, e *memo, a *Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer close(e.done)
	if a == nil || !ran(a) || canceled(ctx, a) {
		delete(m.byKey, e.key)
		return
	}
	e.answer, e.expires = a, time.Now().Add(m.lifetime)
	m.order = append(m.order, e)
	m.trim()
}

// ran reports whether the call did something that must not be done twice. A
// failed call did, unless its code says that nothing happened.
func ran(a *Answer) bool {
	return a.Failure == nil || a.Failure.Code == CodeInternal || a.Failure.Code == CodeFailed
}

// canceled reports whether the call ended because its caller went away, as when
// a connection is lost. Its outcome is no answer to the call that is repeated.
func canceled(ctx context.Context, a *Answer) bool {
	if a.Result != nil && a.Result.Status == codeinterp.StatusCanceled {
		return true
	}
	return ctx.Err() != nil && (errors.Is(a.Err, context.Cause(ctx)) || errors.Is(a.Err, ctx.Err()))
}

// trim drops answers that are too old or too many. The caller holds mu.
func (m *memory) trim() {
	for now := time.Now(); len(m.order) > 0 && (len(m.order) > maxRemembered || !now.Before(m.order[0].expires)); m.order = m.order[1:] {
		delete(m.byKey, m.order[0].key)
	}
}
