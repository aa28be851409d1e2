package sandbox

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

// A forkThread is a thread of the host that forks. It lives until close: the
// kernel ties the death signal of a child to the thread that forked it.
type forkThread struct {
	mu     sync.Mutex
	work   chan func()
	closed bool
	view   view
}

// do runs f on the thread. The error is ErrClosed after close.
func (t *forkThread) do(f func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return codeinterp.ErrClosed
	}
	if t.work == nil {
		t.work = make(chan func())
		work := t.work // close sets the field to nil
		go onThread(func() {
			defer t.view.close()
			for f := range work {
				f()
			}
		})
	}
	done := make(chan error)
	t.work <- func() { done <- f() }
	return <-done
}

// close ends the thread, and what is tied to it.
func (t *forkThread) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.work != nil {
		close(t.work)
		t.work = nil
	}
}

// onThread runs f on a thread that is not the process's main one, whose
// attributes are the process's in /proc, and that ends with f.
func onThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	done := make(chan struct{})
	// While this goroutine keeps the main thread, another one cannot get it.
	go func() { defer close(done); onThread(f) }()
	<-done
	runtime.UnlockOSThread()
}
