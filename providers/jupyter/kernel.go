package jupyter

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	errDied = errors.New("the kernel died")
	errGone = errors.New("the kernel is gone")
)

// againTimeout is how long a kernel that worked before has to answer after a
// restart or a reconnect, before another one takes its place.
const againTimeout = 20 * time.Second

// leastPatience is how long a server has at least to answer a socket.
const leastPatience = 10 * time.Second

// A kernel is our end of one kernel: its socket, which is replaced when it is
// lost, and the requests that wait for answers. One execution at a time.
type kernel struct {
	c  *client
	rt runtime
	handle

	mu        sync.Mutex
	session   string // names us to the server, which keeps messages for it
	nonce     string // keeps ids apart from those of a former client
	sock      *socket
	seq       int
	requests  map[string]*request
	run       *execution
	tail      *tail  // of the run
	process   string // the kernel's own name for its process
	unready   bool   // restarted or not prepared yet
	stateLost bool   // since the last run
	dead      bool   // nothing restarts it
	again     bool   // it was ready once
	private   bool   // its process is in a directory of its own
	unsettled bool   // the surroundings of a run may not have been restored
	diedAt    time.Time
	seen      seen
	late      late
}

func newKernel(c *client, rt runtime, h handle) *kernel {
	return &kernel{c: c, rt: rt, handle: h, session: rand.Text(), nonce: rand.Text()[:6], unready: true,
		requests: map[string]*request{}}
}

// ensure connects and prepares the kernel where that is needed. errGone means
// that it no longer exists.
func (k *kernel) ensure(ctx context.Context) error {
	k.mu.Lock()
	dead, up, unready, again := k.dead, k.connected(), k.unready, k.again
	k.mu.Unlock()
	if dead {
		return errGone
	}
	if up && !unready {
		return nil
	}
	ctx, cancel := k.inTime(ctx)
	defer cancel()
	if !up {
		if err := k.connect(ctx); err != nil {
			return err
		}
	}
	if again {
		ctx, cancel = context.WithTimeoutCause(ctx, againTimeout, errGone)
		defer cancel()
	}
	if err := k.ready(ctx); err != nil {
		return err
	}
	k.mu.Lock()
	unready = k.unready
	k.mu.Unlock()
	if !unready {
		return nil
	}
	return k.prepare(ctx)
}

// inTime bounds what makes a kernel ready by the start timeout.
func (k *kernel) inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := k.c.opts.StartTimeout
	return context.WithTimeoutCause(ctx, limit, unavailable("the kernel was not ready within %v", limit))
}

// connected reports whether the socket is in order. k.mu is held.
func (k *kernel) connected() bool {
	if k.sock == nil {
		return false
	}
	select {
	case <-k.sock.lost:
		return false
	default:
		return true
	}
}

// connect dials, waiting for a server that is starting. A handshake that gets
// no answer is made anew after half of the time that is left: a server that
// missed the kernel's first sign of life answers after a minute only.
func (k *kernel) connect(ctx context.Context) error {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		one, cancel := ctx, context.CancelFunc(func() {})
		if end, ok := ctx.Deadline(); ok {
			one, cancel = context.WithTimeout(ctx, max(time.Until(end)/2, leastPatience))
		}
		err := k.dial(one)
		unanswered := one.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			return nil
		case unanswered:
			continue
		case isGone(err):
			k.died(true)
			return errGone
		case !starting(err):
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", context.Cause(ctx), err)
		}
	}
}

func (k *kernel) dial(ctx context.Context) error {
	k.mu.Lock()
	old, name := k.sock, k.session
	k.mu.Unlock()
	if old != nil {
		old.close()
		old.wait()
	}
	ws, nudge, err := k.c.dial(ctx, k.handle.kernel, name)
	if err != nil {
		return err
	}
	ready := make(chan struct{})
	var s *socket
	s = newSocket(ws, nudge, k.c.opts.MaxMessage,
		func(f *frame) error { <-ready; return k.receive(s, f) },
		func(err error) { <-ready; k.skipped(err) })
	k.mu.Lock()
	s.replay = old != nil
	k.sock = s
	k.mu.Unlock()
	close(ready)
	return nil
}

// ready waits until the kernel answers on its shell channel and its output
// reaches us: after a start the one can work before the other. It notices a
// process that is not the one we knew.
func (k *kernel) ready(ctx context.Context) error {
	wait := 500 * time.Millisecond
	for {
		one, cancel := context.WithTimeout(ctx, wait)
		reply, err := k.ask(one, "shell", "kernel_info_request", struct{}{})
		cancel()
		switch {
		case err == nil:
			k.identify(reply.Header.Session)
			return nil
		case errors.Is(err, errDied), errors.Is(err, errGone):
			k.mu.Lock()
			dead := k.dead
			k.mu.Unlock()
			if dead {
				return errGone
			}
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case one.Err() == nil:
			return err
		}
		if k.check(ctx) {
			return errGone
		}
		wait = min(2*wait, 5*time.Second)
	}
}

// identify compares the process that answered with the one that we knew.
func (k *kernel) identify(process string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.process != "" && process != "" && k.process != process {
		k.unready, k.stateLost, k.private = true, true, false
	}
	if process != "" {
		k.process = process
	}
}

// prepare runs the dialect's setup.
func (k *kernel) prepare(ctx context.Context) error {
	k.mu.Lock()
	raw := k.sock != nil && k.sock.v1
	k.mu.Unlock()
	if code := k.rt.dialect.prepare(raw, k.c.opts.Spill); code != "" {
		if err := k.hidden(ctx, code); err != nil {
			return err
		}
	}
	k.mu.Lock()
	k.unready, k.again = false, true
	k.mu.Unlock()
	return nil
}

// hidden runs code that leaves no trace in the history and shows no output.
// An exception is an *errorContent.
func (k *kernel) hidden(ctx context.Context, code string) error {
	_, err := k.evaluate(ctx, code, nil)
	return err
}

// evaluate is hidden, with user expressions.
func (k *kernel) evaluate(ctx context.Context, code string, expr map[string]string) (map[string]expression, error) {
	if expr == nil {
		expr = map[string]string{}
	}
	defer k.guard(ctx)()
	m, err := k.ask(ctx, "shell", "execute_request", executeRequest{Code: code, Silent: true, Expressions: expr})
	if err != nil {
		return nil, err
	}
	var r executeReply
	if err := json.Unmarshal(m.Content, &r); err != nil {
		return nil, unavailable("malformed execute_reply")
	}
	if r.Status != "ok" {
		return nil, &errorContent{r.Name, r.Value, r.Traceback}
	}
	return r.Expressions, nil
}

// Error returns "name: value".
func (e *errorContent) Error() string { return e.Name + ": " + e.Value }

// A request is a question of our own that waits for its reply and its idle.
type request struct {
	done          chan struct{}
	reply         *message
	idle, control bool
	err           error
}

// ask sends a request and returns its reply, once the kernel is idle again.
func (k *kernel) ask(ctx context.Context, channel, typ string, content any) (*message, error) {
	r := &request{done: make(chan struct{}), control: channel == "control"}
	k.mu.Lock()
	id, s := k.newID("h"), k.sock
	k.requests[id] = r
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		delete(k.requests, id)
		k.mu.Unlock()
	}()
	if err := k.send(s, channel, id, typ, content); err != nil {
		return nil, err
	}
	select {
	case <-r.done:
		return r.reply, r.err
	case <-s.lost:
		return nil, unavailable("lost the connection: %v", s.err)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (k *kernel) send(s *socket, channel, id, typ string, content any) error {
	if s == nil {
		return unavailable("not connected")
	}
	t, data, err := encode(s.v1, channel, newHeader(id, typ, k.session), content)
	if err != nil {
		return err
	}
	if err := s.send(t, data); err != nil {
		return unavailable("lost the connection: %v", err)
	}
	return nil
}

// newID makes a message id; kind is "h" for hidden requests, "" for runs. k.mu
// is held.
func (k *kernel) newID(kind string) string {
	k.seq++
	return k.session + "_" + kind + k.nonce + "_" + strconv.Itoa(k.seq)
}

// own reports whether a message id is one of ours, and whether it is that of a
// request the caller does not see.
func (k *kernel) own(id string) (ours, hidden bool) {
	rest, ok := strings.CutPrefix(id, k.session+"_")
	return ok, strings.HasPrefix(rest, "h")
}

// diedLately reports whether the server may be about to restart the kernel.
func (k *kernel) diedLately() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.diedAt.IsZero() && time.Since(k.diedAt) < restartWindow
}

// drop closes the socket; the kernel lives on.
func (k *kernel) drop() {
	k.mu.Lock()
	s := k.sock
	k.mu.Unlock()
	if s != nil {
		s.close()
	}
}

// restarted forgets what belonged to the kernel's former process. The next
// ensure connects anew, under a name for which the server has nothing.
func (k *kernel) restarted() {
	k.drop()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sock, k.session, k.process = nil, rand.Text(), ""
	k.unready, k.dead, k.private = true, false, false
	k.seen = seen{}
}
