package sandbox

import (
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"

	"github.com/toolcell/toolcell/internal/procfs"
)

// A forkThread is a thread of the host that forks. It lives until close: the
// kernel ties the death signal of a child to the thread that forked it.
type forkThread struct {
	mu     sync.Mutex
	work   chan func()
	closed bool
	tid    int
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
			t.tid = unix.Gettid()
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

// reapSiblings reaps what a program of a group, which was killed, made children
// of the host's; it can where no filter keeps it from that.
func (t *forkThread) reapSiblings(group int) {
	t.mu.Lock()
	tid := t.tid
	t.mu.Unlock()
	b, _ := procfs.File(unix.Getpid(), "task/"+strconv.Itoa(tid)+"/children")
	for f := range strings.FieldsSeq(string(b)) {
		pid, err := strconv.Atoi(f)
		if err != nil || pid == group {
			continue
		}
		if st, err := procfs.Read(pid); err == nil && st.Group == group {
			// Every process of the group was killed, so that this does not wait for
			// long.
			_, _ = unix.Wait4(pid, nil, 0, nil)
		}
	}
}
