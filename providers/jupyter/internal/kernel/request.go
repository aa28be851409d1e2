package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// errSocketLost is a request whose socket was lost before the answer came.
var errSocketLost = fmt.Errorf("%w: lost the connection", codeinterp.ErrUnavailable)

// A request is a hidden request that waits for its reply and its idle.
type request struct {
	done  chan struct{}
	reply *wire.Message
	idle  bool
	err   error
	// beside: it is served beside programs, so its answer says nothing about them.
	beside bool
}

// complete ends a request that has all it waits for. Kernel.mu is held.
func (r *request) complete() {
	if r.reply != nil && r.idle {
		r.abandon(nil)
	}
}

// abandon ends a request. Kernel.mu is held.
func (r *request) abandon(err error) {
	if !r.over() {
		r.err = err
		close(r.done)
	}
}

// over reports whether the request has ended.
func (r *request) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// ask sends a request and returns its reply, once the kernel is idle again.
func (k *Kernel) ask(ctx context.Context, channel, typ string, content any) (*wire.Message, error) {
	r := &request{done: make(chan struct{}), beside: channel == "control"}
	r.idle = r.beside
	k.mu.Lock()
	id, s := k.newID("h"), k.sock
	k.requests[id] = r
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		delete(k.requests, id)
		k.mu.Unlock()
	}()
	if err := k.send(nil, s, channel, id, typ, content); err != nil {
		return nil, err
	}
	select {
	case <-r.done:
		return r.reply, r.err
	case <-s.lost:
		select {
		case <-r.done: // before that
			return r.reply, r.err
		default:
		}
		return nil, fmt.Errorf("%w: %v", errSocketLost, s.err)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// send sends a message, unless done is closed first.
func (k *Kernel) send(done <-chan struct{}, s *socket, channel, id, typ string, content any) error {
	if s == nil {
		return fmt.Errorf("%w: not connected", errSocketLost)
	}
	data, err := wire.Encode(s.v1, channel, wire.NewHeader(id, typ, s.name), content)
	if err != nil {
		return err
	}
	if err := s.send(done, data); err != nil {
		return fmt.Errorf("%w: %v", errSocketLost, err)
	}
	return nil
}

// sendInput answers a question, unless done is closed first or the socket is lost.
func (k *Kernel) sendInput(done <-chan struct{}, value string) {
	k.mu.Lock()
	id, s := k.newID("h"), k.sock
	k.mu.Unlock()
	_ = k.send(done, s, "stdin", id, "input_reply", map[string]string{"value": value, "status": "ok"})
}

// newID makes a message id; kind is "h" for hidden requests, "" for runs. k.mu
// is held.
func (k *Kernel) newID(kind string) string {
	k.seq++
	return k.name + "_" + kind + k.nonce + "_" + strconv.Itoa(k.seq)
}

// Hidden runs code without history and output. An error of the kernel is a
// *wire.ErrorContent.
func (k *Kernel) Hidden(ctx context.Context, code string) error {
	_, err := k.evaluate(ctx, code, nil)
	return err
}

// asRefusal returns what the kernel said of a hidden request that failed.
func asRefusal(err error) (*wire.ErrorContent, bool) { return errors.AsType[*wire.ErrorContent](err) }

// evaluate is Hidden, with user expressions.
func (k *Kernel) evaluate(ctx context.Context, code string, expr map[string]string) (map[string]wire.Expression, error) {
	if expr == nil {
		expr = map[string]string{}
	}
	defer k.guard(ctx)()
	m, err := k.ask(ctx, "shell", "execute_request", wire.ExecuteRequest{Code: code, Silent: true, Expressions: expr})
	if err != nil {
		return nil, err
	}
	var r wire.ExecuteReply
	switch {
	case json.Unmarshal(m.Content, &r) != nil:
		return nil, server.Unavailable("malformed execute_reply")
	case r.Status == "ok":
		return r.Expressions, nil
	case r.Aborted():
		return nil, server.Unavailable("the kernel dropped a request after a program of another client failed; try again")
	}
	e := &wire.ErrorContent{Name: r.Name, Value: r.Value, Traceback: r.Traceback}
	if k.lacksSetup(e) {
		return nil, errDied
	}
	return nil, e
}

// guard checks the kernel now and then until stop is called: a kernel that is gone never
// answers.
func (k *Kernel) guard(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause := firstSilence; server.Wait(ctx, pause) == nil; pause = silence {
			_, _ = k.check(ctx)
		}
	}()
	return func() { cancel(); <-done }
}
