package kernel

import (
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// queueBytes bounds what waits for a slow OnOutput, per run.
const queueBytes = 4 << 20

type eventKind uint8

const (
	evMessage  eventKind = iota // typ, data
	evStream                    // data of a stream
	evRate                      // the server's notice that it drops output
	evDeath                     // the kernel died
	evTooLarge                  // a message was larger than the limit
	evBroken                    // a message could not be read
	evAnswered                  // the kernel answered what was asked after the run
	evAsked                     // the program asks for input
	evCalls                     // the program calls functions: prompt
)

// An event is a message or a fact that the reader passes to a run.
type event struct {
	kind   eventKind
	typ    string           // of a message
	stream codeinterp.Kind  // Stdout or Stderr
	data   []byte           // of a stream, or a message's content: its headers can be as long
	late   bool             // of an earlier run
	cause  codeinterp.Cause // of a death
	prompt *wire.Prompt

	reported time.Time // when a death was, that somebody says there was
}

func (e *event) size() int {
	n := len(e.data) + 128
	if e.prompt != nil {
		n += e.prompt.Size
	}
	return n
}

// A queue passes events from the reader to a run, in order. put waits while the queue is
// full: the server keeps the rest.
type queue struct {
	mu     sync.Mutex
	cond   sync.Cond
	items  []event
	bytes  int
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.cond.L = &q.mu
	return q
}

// put adds an event, unless the queue was closed.
func (q *queue) put(e event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	// Not bytes plus the new size: an event larger than the queue would wait forever.
	for q.bytes >= queueBytes && !q.closed {
		q.cond.Wait()
	}
	if q.closed {
		return
	}
	q.items = append(q.items, e)
	q.bytes += e.size()
	q.cond.Broadcast()
}

// take returns all events, waiting for at least one; none means closed.
func (q *queue) take() []event {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.cond.Wait()
	}
	items := q.items
	q.items, q.bytes = nil, 0
	q.cond.Broadcast()
	return items
}

// close lets put fail; events that are in the queue can still be taken.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.cond.Broadcast()
}
