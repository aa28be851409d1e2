package workspace

import (
	"fmt"
	"sync/atomic"
)

// SubscribeOptions says what happens when a subscriber is slower than the
// programs.
type SubscribeOptions struct {
	// Buffer is how many events wait for the subscriber before further ones
	// are dropped. They are counted in the Missed of the next event that is
	// not, or of a last event of TypeMissed. Zero means that none is: the
	// programs wait for the subscriber.
	Buffer int
}

// Subscribe calls fn with every event from now on, in order, one at a time. It
// returns a function that ends the subscription; a call of fn that is in
// progress then may still finish. opts may be nil.
//
// Without a Buffer, fn is called by the runs themselves. Nothing is ever
// missed, a run's events were all seen when the run returns, and a slow fn
// slows every run of the workspace; it must not wait for a run. With a Buffer,
// fn is called by a goroutine of its own, may do what it likes, and may miss
// events; Close waits until it has seen what it was sent, so it must not call
// Close.
//
// A panic of fn goes to the run's Result.CallbackErr, or, with a Buffer, counts
// as an event seen.
func (w *Workspace) Subscribe(fn func(Event), opts *SubscribeOptions) (stop func()) {
	s := &subscriber{fn: fn, ended: make(chan struct{})}
	if opts != nil && opts.Buffer > 0 {
		s.queue = make(chan Event, opts.Buffer)
	}
	return w.stream.add(s)
}

type subscriber struct {
	fn      func(Event)
	stopped atomic.Bool
	queue   chan Event    // nil: fn is called at once
	ended   chan struct{} // closed when nothing more comes
	missed  atomic.Uint64 // dropped since the last event that was queued
}

// send passes an event on or drops it.
func (s *subscriber) send(e Event) error {
	if s.queue == nil {
		return s.call(e)
	}
	e.Missed = s.missed.Load()
	select {
	case s.queue <- e:
		// Only send counts, one call at a time: nothing is missed in between.
		s.missed.Store(0)
	default:
		s.missed.Add(1)
	}
	return nil
}

// call calls fn and returns its panic as an error.
func (s *subscriber) call(e Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a subscriber: %v", p)
		}
	}()
	if !s.stopped.Load() {
		s.fn(e)
	}
	return nil
}

// serve calls fn with what is queued until the end.
func (s *subscriber) serve() {
	for {
		select {
		case e := <-s.queue:
			_ = s.call(e)
			continue
		// The queue is not closed: a run may be about to send.
		case <-s.ended:
		}
		for {
			select {
			case e := <-s.queue:
				_ = s.call(e)
			default:
				if n := s.missed.Swap(0); n > 0 {
					_ = s.call(Event{Type: TypeMissed, Missed: n})
				}
				return
			}
		}
	}
}

func (s *subscriber) end() { close(s.ended) }
