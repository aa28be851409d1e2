package quickjs

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/providers/inmemory/engine"
	lib "modernc.org/libquickjs"
)

// A replyQueue takes the answers to the calls of one run. Its methods may be called from
// any goroutine, but open belongs to the engine's.
type replyQueue struct {
	budget *engine.Budget
	limit  int64            // bytes of arguments that may be open, zero without
	open   map[int]openCall // by call; of the engine's goroutine
	last   int
	wake   chan struct{} // an answer came

	mu      sync.Mutex
	closed  bool
	args    int64 // bytes of the open calls
	answers []reply
}

// A reply is the answer to a call.
type reply struct {
	call int
	ok   bool
	text string // JSON, or why it failed
	cost int64  // what the budget holds for it
}

func newReplyQueue(c engine.Config) *replyQueue {
	return &replyQueue{budget: c.Budget, limit: c.Limits.Memory, open: map[int]openCall{}, wake: make(chan struct{}, 1)}
}

// charge reports whether a call may have n bytes of arguments, which discharge gives
// back once it is answered. They are the host's memory until then.
func (d *replyQueue) charge(n int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.limit > 0 && d.args+n > d.limit || !d.budget.Take(n) {
		return false
	}
	d.args += n
	return true
}

func (d *replyQueue) discharge(n int64) {
	d.budget.Give(n)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.args -= n
}

// put takes an answer, unless the run is over.
func (d *replyQueue) put(r reply) {
	if !d.budget.Take(int64(len(r.text))) {
		r.ok, r.text = false, "there is no memory left for the result"
	} else {
		r.cost = int64(len(r.text))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		d.budget.Give(r.cost)
		return
	}
	d.answers = append(d.answers, r)
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// take returns the next answer.
func (d *replyQueue) take() (r reply, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.answers) == 0 {
		return r, false
	}
	r = d.answers[0]
	d.answers = slices.Delete(d.answers, 0, 1)
	return r, true
}

// close drops what is open. Answers that come are no longer taken.
func (d *replyQueue) close(vm *vm) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, r := range d.answers {
		d.budget.Give(r.cost)
	}
	for _, c := range d.open {
		c.free(vm)
	}
	d.answers, d.open = nil, nil
}

// An openCall is a call whose answer settles a promise.
type openCall struct {
	name    string
	stack   string // the engine's, of where it was made
	resolve value
	reject  value
	call    func(name string, args json.RawMessage, answer func(json.RawMessage, error))
}

func (c openCall) free(vm *vm) {
	vm.free(c.resolve)
	vm.free(c.reject)
}

// newPromise returns the promise that a call settles.
func (c *openCall) newPromise(vm *vm) value {
	size := 2 * int(jsValueSize)
	addr := vm.tls.Alloc(size)
	defer vm.tls.Free(size)
	promise := lib.XJS_NewPromiseCapability(vm.tls, vm.ctx, addr)
	if !isException(promise) {
		functions := values(addr, 2)
		c.resolve, c.reject = functions[0], functions[1]
	}
	return promise
}

// settle calls one of the promise's functions; ok is false where that throws.
func (vm *vm) settle(function, with value) (ok bool) {
	v := vm.call(function, undefined, with)
	vm.free(v)
	return !isException(v)
}
