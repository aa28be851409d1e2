// Package kernel is the client's end of one kernel: its socket, which is dialed again
// when it is lost, its requests, the code that it runs in the kernel's language, and
// one run at a time.
package kernel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

var (
	// ErrGone is a kernel that does not exist any more.
	ErrGone = errors.New("the kernel is gone")

	// errDied is a kernel whose process ended before it answered.
	errDied = errors.New("the kernel died")
)

// A server has leastPatience to firstPatience to answer the first handshake of a socket.
const (
	leastPatience = 10 * time.Second
	firstPatience = 15 * time.Second
)

// askPause is the least time between two tries of a request.
const askPause = 600 * time.Millisecond

// ReconnectTimeout is for how long a run waits for a lost server.
const ReconnectTimeout = 30 * time.Second

// maxMessage bounds messages that must be held whole.
const maxMessage int64 = 64 << 20

// A Kernel is our end of one kernel. Its methods may be called from any
// goroutine, but it runs one program at a time.
type Kernel struct {
	Kind    Kind
	ID      string // on the server
	Foreign bool   // others may be at work in it
	client  *server.Client

	lastMessage atomic.Int64 // when the last message came, in Unix nanoseconds

	interrupting Turn
	life         context.Context // of interrupts
	end          context.CancelFunc

	mu sync.Mutex
	state
	dialect  *dialect // of the process; what it cannot do is found by trying
	name     string   // names us to the server, which keeps messages for it
	nonce    string   // keeps ids apart from those of a former client
	sock     *socket
	seq      int
	requests map[string]*request
	run      *execution
	seen     recent
	mark     string // of Expect
	late     func(codeinterp.Output)
}

// New returns our end of an existing kernel, which is not connected yet.
func New(client *server.Client, kind Kind, id string) *Kernel {
	k := &Kernel{Kind: kind, ID: id, client: client, dialect: kind.dialect, name: rand.Text(), nonce: rand.Text()[:6],
		requests: map[string]*request{}, interrupting: NewTurn()}
	k.life, k.end = context.WithCancel(context.Background())
	return k
}

// Resume makes k a kernel that another client has prepared. name is that client's name to
// the server, empty if it may still be connected; identity is the kernel's name for its
// process.
func (k *Kernel) Resume(name, identity string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if name != "" {
		k.name = name
	}
	k.identity, k.programs, k.attached = identity, 1, true
}

// Names returns the arguments of Resume.
func (k *Kernel) Names() (name, identity string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.name, k.identity
}

// Late sets where output goes that belongs to no run in progress.
func (k *Kernel) Late(late func(codeinterp.Output)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.late = late
}

// Ensure connects and prepares the kernel if needed. It waits within ctx for a slow kernel.
// busy, if not nil, is called when the kernel begins and ends to work for others. ErrGone
// means that the kernel no longer exists.
func (k *Kernel) Ensure(ctx context.Context, busy func(bool)) error {
	for pause := time.Duration(0); ; pause = askPause {
		if err := server.Wait(ctx, pause); err != nil {
			return err
		}
		err := k.ensure(ctx, busy)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.Is(err, errDied) && !errors.Is(err, errSocketLost):
			return err
		}
	}
}

func (k *Kernel) ensure(ctx context.Context, busy func(bool)) error {
	switch {
	case k.isGone():
		return ErrGone
	case !k.IsDown() && !k.isUnsure():
		return nil
	}
	if !k.connected() {
		if err := k.Connect(ctx); err != nil {
			return err
		}
	}
	if err := k.ready(ctx, busy); err != nil {
		return err
	}
	if k.process().isSetUp() {
		return nil
	}
	return k.prepare(ctx)
}

// Connect dials, waiting for a server that is starting, and does not wait for programs. A handshake without an answer is
// made again, at the latest after half of the remaining time.
func (k *Kernel) Connect(ctx context.Context) error {
	patience := firstPatience
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		limit := patience
		if end, bounded := ctx.Deadline(); bounded {
			limit = max(min(time.Until(end)/2, patience), leastPatience)
		}
		one, cancel := context.WithTimeout(ctx, limit)
		err := k.dial(one)
		unanswered := one.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			return nil
		case unanswered:
			patience *= 2 // some servers are slow at each
			k.rename()
			continue
		case server.IsGone(err):
			k.noteEnd(gone, codeinterp.CauseServer)
			return ErrGone
		case !server.Starting(err):
			return err
		}
		if werr := server.Wait(ctx, pause); werr != nil {
			return fmt.Errorf("%w; last: %w", werr, err)
		}
	}
}

// rename takes another name for a kernel in which we have run nothing: the server keeps
// no messages for us. It may continue a handshake that was
// given up, and a second socket of the same name gets no answers.
func (k *Kernel) rename() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.programs == 0 && !k.attached {
		k.name = rand.Text()
	}
}

func (k *Kernel) dial(ctx context.Context) error {
	k.mu.Lock()
	old, name := k.sock, k.name
	k.mu.Unlock()
	if old != nil {
		// Its reader first: receive drops messages of a replaced socket.
		old.close()
		old.wait()
	}
	ws, err := k.client.Dial(ctx, k.ID, name)
	if err != nil {
		return err
	}
	// Its reader waits for ready: receive drops messages of any other socket.
	k.setSocket(func(ready <-chan struct{}) *socket {
		var s *socket
		s = newSocket(ws, name, maxMessage,
			func(f *frame) error { <-ready; return k.receive(s, f) },
			func(err error) { <-ready; k.skipped(err) })
		return s
	})
	return nil
}

// ready waits until the kernel answers on its shell channel and its output arrives, and
// notices a new process. A kernel that the server calls alive is waited for until ctx
// ends. A silent socket is replaced now and then: a restarted
// kernel may listen on other ports.
func (k *Kernel) ready(ctx context.Context, busy func(bool)) error {
	if busy == nil {
		busy = func(bool) {}
	}
	defer busy(false)
	began, last := time.Now(), error(nil)
	dialled, patience := began, firstPatience
	for limit := askPause; ; limit = min(2*limit, 5*time.Second) {
		start := time.Now()
		one, cancel := context.WithTimeout(ctx, limit)
		reply, err := k.ask(one, "shell", "kernel_info_request", struct{}{})
		cancel()
		switch {
		case err == nil:
			k.noteIdentity(reply.Header.Session)
			return nil
		case ctx.Err() != nil && last != nil:
			return fmt.Errorf("%w; last: %w", context.Cause(ctx), last)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case k.isGone():
			return ErrGone
		case one.Err() == nil && !errors.Is(err, errDied):
			return err
		}
		st, err := k.check(ctx)
		if last = err; err == nil {
			last = fmt.Errorf("it answered nothing for %v, and the server calls it %q", time.Since(began).Round(time.Second), st.State)
		}
		if k.isGone() {
			return ErrGone
		}
		died := k.process() == lost
		busy(err == nil && st.State == "busy" && !died)
		// Not at once: most servers restart it on the same ports.
		silent := time.Since(dialled) > patience
		if silent {
			patience *= 2
			k.rename()
		}
		if silent || died && limit > askPause {
			if err := k.Connect(ctx); err != nil {
				return err
			}
			dialled = time.Now()
		}
		if err := server.Wait(ctx, askPause-time.Since(start)); err != nil {
			return err
		}
	}
}

// check asks the server for the kernel's state, and notes a kernel that is gone.
func (k *Kernel) check(ctx context.Context) (server.Kernel, error) {
	st, err := k.client.State(ctx, k.ID)
	switch {
	case server.IsGone(err):
		k.noteEnd(gone, codeinterp.CauseServer)
	case err == nil && st.State == "dead":
		k.noteReport(gone, codeinterp.CauseExit) // the server learns that from messages
	}
	return st, err
}

// prepare runs the dialect's setup. A kernel that refuses it gets the plain dialect.
func (k *Kernel) prepare(ctx context.Context) error {
	k.mu.Lock()
	raw, d := k.sock != nil && k.sock.v1, k.Kind.dialect
	k.mu.Unlock()
	if d.setup != nil {
		_, err := k.evaluate(ctx, d.setup(raw), nil)
		if _, refused := asRefusal(err); refused {
			d = &plainDialect
		} else if err != nil {
			return err
		}
	}
	k.notePrepared(d)
	return nil
}

// Restart makes the server end the kernel's process and start another.
func (k *Kernel) Restart(ctx context.Context) error {
	err := k.client.Restart(ctx, k.ID)
	switch {
	case err == nil:
		k.noteRestart()
	case server.IsGone(err):
		k.noteEnd(gone, codeinterp.CauseServer)
		return nil
	}
	return err
}

// Delete ends the kernel. If that failed it can be tried again.
func (k *Kernel) Delete(ctx context.Context) error {
	err := k.client.DeleteKernel(ctx, k.ID)
	// A late interrupt does no harm: no program will run in it.
	k.end()
	k.Drop()
	if err == nil {
		k.noteEnd(gone, "")
	}
	return err
}

// Drop closes the socket; the kernel lives on.
func (k *Kernel) Drop() {
	if _, s := k.present(); s != nil {
		s.close()
	}
}

// leaveLimit is how long a server has to close our socket.
const leaveLimit = 2 * time.Second

// HangUp is Drop after all messages that the server has sent; it keeps later ones. It
// reports whether the server confirmed that.
func (k *Kernel) HangUp() (whole bool) {
	_, s := k.present()
	return s != nil && s.leave(leaveLimit)
}

// present returns the run in progress and the socket, nil if there is none.
func (k *Kernel) present() (*execution, *socket) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.run, k.sock
}

// own reports whether a message id is ours, and whether it is that of a hidden request.
func (k *Kernel) own(id string) (ours, hidden bool) {
	rest, ok := strings.CutPrefix(id, k.name+"_")
	return ok, strings.HasPrefix(rest, "h")
}
