package tools

import (
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callers"
	"github.com/toolcell/toolcell/internal/observe"
)

// A memory holds the answers to recent calls, for calls that a transport
// repeats.
type memory struct {
	lifetime           time.Duration
	maxCalls, maxBytes int

	mu    sync.Mutex
	byKey map[callKey]*memo
	order list.List // of *memo, oldest first; only those that are done
	bytes int
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
	size    int
	element *list.Element
	expires time.Time
}

// newMemory returns nil if nothing is to be remembered.
func newMemory(o *SetOptions) *memory {
	if o.RememberFor <= 0 {
		return nil
	}
	m := &memory{lifetime: o.RememberFor, maxCalls: o.RememberCalls, maxBytes: o.RememberBytes, byKey: map[callKey]*memo{}}
	if m.maxCalls <= 0 {
		m.maxCalls = 64
	}
	if m.maxBytes <= 0 {
		m.maxBytes = 16 << 20
	}
	return m
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
	e.answer, e.size, e.expires = a, sizeOf(a), time.Now().Add(m.lifetime)
	e.element = m.order.PushBack(e)
	m.bytes += e.size
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

// trim drops what is too old or too much. The newest answer stays, however
// large: it is the likeliest to be asked for again.
func (m *memory) trim() {
	now := time.Now()
	for front := m.order.Front(); front != nil; front = m.order.Front() {
		e := front.Value.(*memo)
		if now.Before(e.expires) && m.order.Len() <= m.maxCalls && (m.bytes <= m.maxBytes || m.order.Len() == 1) {
			return
		}
		m.order.Remove(front)
		m.bytes -= e.size
		delete(m.byKey, e.key)
	}
}

// sizeOf estimates the memory that an answer holds.
func sizeOf(a *Answer) int {
	n := 1<<10 + len(a.Text) + len(a.Data)
	for _, img := range a.Images {
		n += len(img.Data)
	}
	if a.view != nil {
		n += len(a.view.arena)
	}
	if a.Result != nil {
		n += resultSize(a.Result)
	}
	return n
}

func resultSize(res *codeinterp.Result) (n int) {
	for i := range res.Outputs {
		o := &res.Outputs[i]
		n += 256 + o.Size() + len(o.DisplayID)
		for _, rep := range o.Bundle {
			n += 64 + len(rep.MIME)
		}
	}
	if e := res.Error; e != nil {
		n += len(e.Name) + len(e.Message)
		for _, list := range [][]string{e.Traceback, e.RawTraceback} {
			for _, s := range list {
				n += 16 + len(s)
			}
		}
	}
	for i := range res.Artifacts {
		a := &res.Artifacts[i]
		n += 256 + len(a.Path) + len(a.Data)
	}
	for i := range res.Calls {
		c := &res.Calls[i]
		n += 256 + len(c.Name) + len(c.Args) + len(c.Result) + len(c.Error)
	}
	return n
}
