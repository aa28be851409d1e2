// Package kernel is our end of one kernel of a Jupyter server: the socket that
// is dialled anew when it is lost, the requests that wait for answers, what is
// said to a kernel in its own language, and the run of one program at a time.
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

	// ErrUnresponsive is a kernel that has answered nothing since it was interrupted.
	ErrUnresponsive = server.Unavailable("the kernel has answered nothing since a program was interrupted")

	// errDied is a kernel whose process ended while it had to answer.
	errDied = errors.New("the kernel died")
)

// A server has at least leastPatience to answer a socket, at first firstPatience at
// most.
const (
	leastPatience = 10 * time.Second
	firstPatience = 15 * time.Second
)

// unresponsiveAfter is how long a kernel has to answer that was interrupted, and in which
// nothing runs any more. An interrupt that hits ipykernel or IRkernel between two
// requests ends their loop: some die of it, others live on and hear nothing.
const unresponsiveAfter = 20 * time.Second

// askPause is the least time between two requests while something is waited
// for: what failed at once is not to be asked again as fast as the server can
// answer.
const askPause = 600 * time.Millisecond

// A Config is what the kernels of a client share.
type Config struct {
	Client           *server.Client
	MaxMessage       int64
	StartTimeout     time.Duration
	ReconnectTimeout time.Duration
}

// A Kernel is our end of one kernel. Its methods may be called from any
// goroutine, but it runs one program at a time.
type Kernel struct {
	Kind    Kind
	Handle  server.Handle
	Foreign bool // others may be at work in it
	cfg     *Config

	lastMessage atomic.Int64 // when the last message came, in Unix nanoseconds

	interrupts *interrupts

	mu sync.Mutex
	state
	dialect  *dialect // of the process; what it cannot do is found by trying
	name     string   // names us to the server, which keeps messages for it
	nonce    string   // keeps ids apart from those of a former client
	sock     *socket
	seq      int
	requests map[string]*request
	run      *execution
	tail     *tail // of the run
	seen     seen
	late     func(codeinterp.Output)
}

// New returns our end of an existing kernel, which is not connected yet.
func New(cfg *Config, kind Kind, h server.Handle) *Kernel {
	return &Kernel{Kind: kind, Handle: h, cfg: cfg, dialect: kind.dialect, name: rand.Text(), nonce: rand.Text()[:6],
		requests: map[string]*request{}, interrupts: newInterrupts()}
}

// Known makes k one that another client prepared and left: name is what that
// was called by the server, empty if it may still be connected, and identity
// is the kernel's name for its process.
func (k *Kernel) Known(name, identity string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if name != "" {
		k.name = name
	}
	k.noteFormer(identity)
}

// Names returns what Known takes.
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

// Ensure connects and prepares the kernel if that is needed. It waits within
// ctx for one that is slow, and calls busy, unless nil, while it works for
// others. ErrGone means that it no longer exists.
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
	case !k.IsDown() && !k.isSuspect() && !k.isUnsure():
		return nil
	}
	if !k.connected() {
		if err := k.connect(ctx); err != nil {
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

// connect dials, waiting for a server that is starting. A handshake that gets
// no answer is made anew, at the latest after half of the time that is left: a
// server that missed the kernel's first sign of life answers after a minute only.
func (k *Kernel) connect(ctx context.Context) error {
	end, bounded := ctx.Deadline()
	if !bounded {
		end = time.Now().Add(k.cfg.StartTimeout)
	}
	patience := firstPatience
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		one, cancel := context.WithTimeout(ctx, max(min(time.Until(end)/2, patience), leastPatience))
		err := k.dial(one)
		unanswered := one.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			return nil
		case unanswered:
			patience *= 2 // some servers take their time for each
			k.rename()
			continue
		case server.IsGone(err):
			k.noteGone(codeinterp.CauseServer)
			return ErrGone
		case !server.Starting(err):
			return err
		}
		if werr := server.Wait(ctx, pause); werr != nil {
			return &lastError{werr, err}
		}
	}
}

// A lastError is why a wait ended, and what failed last before that.
type lastError struct{ why, last error }

func (e *lastError) Error() string   { return e.why.Error() + "; last: " + e.last.Error() }
func (e *lastError) Unwrap() []error { return []error{e.why, e.last} }

// rename takes another name for a kernel in which we have run nothing, so that
// there is nothing that the server keeps for us. It may continue a handshake that was
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
		// receive drops what comes from a socket that was replaced, so its reader has
		// to be done first.
		old.close()
		old.wait()
	}
	ws, nudge, err := k.cfg.Client.Dial(ctx, k.Handle.Kernel, name)
	if err != nil {
		return err
	}
	// Its reader waits for ready, since receive drops what another socket than ours brings.
	k.setSocket(func(ready <-chan struct{}) *socket {
		var s *socket
		s = newSocket(ws, name, nudge, k.cfg.MaxMessage,
			func(f *frame) error { <-ready; return k.receive(s, f) },
			func(err error) { <-ready; k.skipped(err) })
		return s
	})
	return nil
}

// ready waits until the kernel answers on its shell channel and its output
// reaches us: after a start the one can work before the other. It notices a
// process that is not the one we knew. A kernel that the server says is alive
// is waited for until ctx ends, however slow it is, unless it is ErrUnresponsive. One that was started again
// may listen elsewhere now, where only a new socket leads, and what the server
// knows of its state can be of before. A socket on which nothing comes may lead
// nowhere too, so that another is tried now and then.
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
			return &lastError{context.Cause(ctx), last}
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
		// With other clients connected the silence can be a program of theirs.
		if err == nil && k.isSuspect() && !k.Foreign && st.Connections <= 1 && time.Since(began) > min(unresponsiveAfter, k.cfg.StartTimeout/2) {
			return ErrUnresponsive
		}
		busy(err == nil && st.State == "busy" && !died)
		// Not at once: most servers start it where the present socket leads.
		silent := time.Since(dialled) > patience
		if silent {
			patience *= 2
			k.rename()
		}
		if silent || died && limit > askPause {
			if err := k.connect(ctx); err != nil {
				return err
			}
			dialled = time.Now()
		}
		if err := server.Wait(ctx, askPause-time.Since(start)); err != nil {
			return err
		}
	}
}

// check asks the server for the kernel's state. One that is gone, of which the
// server may not report by itself, is noted.
func (k *Kernel) check(ctx context.Context) (server.Kernel, error) {
	st, err := k.cfg.Client.State(ctx, k.Handle.Kernel)
	switch {
	case server.IsGone(err):
		k.noteGone(codeinterp.CauseServer)
	case err == nil && st.State == "dead":
		k.noteReport(gone, codeinterp.CauseExit) // the server has it from messages
	}
	return st, err
}

// prepare runs the dialect's setup. A kernel that refuses it is taken for one
// that we know nothing of, whatever its language is called.
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

// Restart ends the kernel's process and has the server start another.
func (k *Kernel) Restart(ctx context.Context) error {
	err := k.cfg.Client.Restart(ctx, k.Handle.Kernel)
	switch {
	case err == nil:
		k.noteRestart()
	case server.IsGone(err):
		k.noteGone(codeinterp.CauseServer)
		return nil
	}
	return err
}

// Delete ends the kernel. If that failed it can be tried again.
func (k *Kernel) Delete(ctx context.Context) error {
	err := k.cfg.Client.DeleteKernel(ctx, k.Handle)
	// No program will run in it that a late one could hit.
	k.interrupts.cancel()
	k.Drop()
	if err == nil {
		k.noteGone("")
	}
	return err
}

// Drop closes the socket; the kernel lives on.
func (k *Kernel) Drop() {
	k.mu.Lock()
	s := k.sock
	k.mu.Unlock()
	if s != nil {
		s.close()
	}
}

// leaveLimit is how long a server has to close the socket of who leaves.
const leaveLimit = 2 * time.Second

// HangUp is Drop, once all that the server sends has come: from then on it keeps
// what the kernel says. It reports whether that is known.
func (k *Kernel) HangUp() (whole bool) {
	k.mu.Lock()
	s := k.sock
	k.mu.Unlock()
	return s != nil && s.leave(leaveLimit)
}

// own reports whether a message id is one of ours, and whether it is that of a
// request the caller does not see.
func (k *Kernel) own(id string) (ours, hidden bool) {
	rest, ok := strings.CutPrefix(id, k.name+"_")
	return ok, strings.HasPrefix(rest, "h")
}
