package workspace

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/tools"
)

// A stream numbers events and passes them on.
type stream struct {
	workspace string
	now       func() time.Time

	mu      sync.Mutex // held while an event is passed on
	idle    sync.Cond  // running became 0; on mu
	seq     uint64
	running int // runs whose start was passed on and whose end was not

	listMu sync.Mutex // may be taken under mu
	list   []*subscriber
	closed bool
	wg     sync.WaitGroup
}

func newStream(workspace string, now func() time.Time) *stream {
	s := &stream{workspace: workspace, now: now}
	if s.now == nil {
		s.now = time.Now
	}
	s.idle.L = &s.mu
	return s
}

// add starts a subscription; after close it is one that sees nothing.
func (s *stream) add(sub *subscriber) (stop func()) {
	s.listMu.Lock()
	defer s.listMu.Unlock()
	if s.closed {
		return func() {}
	}
	// emit goes through a list that it took without holding listMu any longer.
	s.list = append(slices.Clone(s.list), sub)
	if sub.queue != nil {
		s.wg.Go(sub.serve)
	}
	return sync.OnceFunc(func() { s.remove(sub) })
}

func (s *stream) remove(sub *subscriber) {
	sub.stopped.Store(true)
	s.listMu.Lock()
	defer s.listMu.Unlock()
	if i := slices.Index(s.list, sub); i >= 0 {
		s.list = slices.Delete(slices.Clone(s.list), i, i+1)
		sub.end()
	}
}

// emitter returns the sink of an interpreter's events.
func (s *stream) emitter(interpreter string) func(observe.Event) error {
	return func(t observe.Event) error {
		e := newEvent(t)
		e.Interpreter = interpreter
		return s.emit(e)
	}
}

// watch adds to list tools whose runs are events of an interpreter. The first answer says
// what became of the workspace, if there was a process before.
func (s *stream) watch(list, some []tools.Tool, interpreter string, before *opening) []tools.Tool {
	sink := s.emitter(interpreter)
	for _, t := range some {
		invoke, remembered := t.Invoke, t.OnRemembered
		t.Invoke = func(ctx context.Context, c tools.Invocation) *tools.Answer {
			return before.tell(invoke(observe.With(ctx, sink), c))
		}
		t.OnRemembered = func(ctx context.Context, c tools.Invocation, a *tools.Answer) {
			remembered(observe.With(ctx, sink), c, a)
		}
		list = append(list, t)
	}
	return list
}

// files returns what the file tools report their calls to. then, if set, is
// called afterwards.
func (s *stream) files(then func(tools.FileCall)) func(tools.FileCall) {
	return func(f tools.FileCall) {
		_ = s.emit(Event{Type: TypeFile, Tool: f.Tool, CallID: f.CallID, Path: f.Path, Changes: f.Changes, Remembered: f.Remembered, Err: f.Err})
		if then != nil {
			then(f)
		}
	}
}

// emit passes an event on to all subscribers.
func (s *stream) emit(e Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	e.Seq, e.Workspace, e.Time = s.seq, s.workspace, s.now()
	s.listMu.Lock()
	list := s.list
	s.listMu.Unlock()
	var errs []error
	for _, sub := range list {
		if err := sub.send(e); err != nil {
			errs = append(errs, err)
		}
	}
	switch e.Type {
	case TypeStart, TypeShellStart:
		s.running++
	case TypeEnd, TypeShellEnd:
		if !e.Started {
			break
		}
		if s.running--; s.running == 0 {
			s.idle.Broadcast()
		}
	}
	return errors.Join(errs...)
}

// close ends all subscriptions once the runs have ended and the subscribers
// have seen what they were sent.
func (s *stream) close() {
	s.mu.Lock()
	// The interpreters are closed by now, so that what runs is about to end.
	for s.running > 0 {
		s.idle.Wait()
	}
	s.mu.Unlock()
	s.listMu.Lock()
	s.closed = true
	list := s.list
	s.list = nil
	for _, sub := range list {
		sub.end()
	}
	s.listMu.Unlock()
	s.wg.Wait()
}
