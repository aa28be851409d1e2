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

// do runs f on the thread, unless it was closed.
func (t *forkThread) do(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	if t.work == nil {
		t.work = make(chan func())
		// Its own copy: close sets the field to nil.
		work := t.work
		go onThread(func() {
			defer t.view.close()
			for f := range work {
				f()
			}
		})
	}
	done := make(chan struct{})
	t.work <- func() { f(); close(done) }
	<-done
	return true
}

// try is do for what may fail.
func (t *forkThread) try(f func() error) error {
	err := error(codeinterp.ErrClosed)
	t.do(func() { err = f() })
	return err
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
