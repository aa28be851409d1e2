package jupyter_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/gorilla/websocket"
)

// A fakeKernel is one kernel of a fakeServer. Its methods may be called from any
// goroutine, also when the play that got it is over.
type fakeKernel struct {
	ID, Spec string

	s  *fakeServer
	mu sync.Mutex
	// process names the process, as real kernels do in each message's header.
	process  string
	count    int
	state    string
	busy     atomic.Bool        // it plays a request
	socks    map[string]*socket // by session
	kept     map[string][]*fakeMessage
	requests chan *fakeMessage
	inputs   chan string
	done     chan struct{}
	once     sync.Once
}

func newKernel(s *fakeServer, spec string) *fakeKernel {
	k := &fakeKernel{ID: rand.Text(), Spec: spec, s: s, process: rand.Text(), state: "idle",
		socks: map[string]*socket{}, kept: map[string][]*fakeMessage{}, requests: make(chan *fakeMessage, 100), inputs: make(chan string, 10), done: make(chan struct{})}
	s.wg.Go(k.play)
	return k
}

func (k *fakeKernel) model() any {
	k.mu.Lock()
	defer k.mu.Unlock()
	state := k.state
	if k.busy.Load() && state == "idle" {
		state = "busy"
	}
	return map[string]any{"id": k.ID, "name": k.Spec, "execution_state": state, "connections": len(k.socks)}
}

func (k *fakeKernel) end() {
	k.once.Do(func() { close(k.done) })
}

// SetState sets what the REST API says of the kernel.
func (k *fakeKernel) SetState(state string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state = state
}

// Process names the kernel's present process.
func (k *fakeKernel) Process() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.process
}

// Replace gives the kernel a new process, which is not reported.
func (k *fakeKernel) Replace() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.process, k.count = rand.Text(), 0
}

// Die plays the death of the kernel's process and its restart by the server:
// a status without a parent, and a new process.
func (k *fakeKernel) Die() {
	k.Replace()
	k.Forge("status", fakeStatus("restarting"))
}

// Forge sends a message without a parent, as a server does that restarts a kernel, and
// as a program can.
func (k *fakeKernel) Forge(typ string, content any) {
	k.Raw(&fakeMessage{Channel: "iopub", Header: fakeHeader{ID: rand.Text(), Type: typ, Session: "server"}, Content: encode(content)})
}

// play answers requests, one after the other.
func (k *fakeKernel) play() {
	for {
		select {
		case m := <-k.requests:
			k.busy.Store(true)
			k.answer(m)
			k.busy.Store(false)
		case <-k.done:
			return
		}
	}
}

func (k *fakeKernel) answer(m *fakeMessage) {
	switch {
	case m.Header.Type == "kernel_info_request" && k.s.Info != nil:
		k.s.Info(k, m)
	case m.Header.Type == "kernel_info_request":
		k.Answer(m, "kernel_info_reply", map[string]string{"status": "ok", "implementation": "fake"})
	case m.Header.Type == "execute_request" && m.content().Silent && k.s.Hidden != nil:
		k.s.Hidden(k, m)
	case m.Header.Type == "execute_request" && !m.content().Silent && k.s.Execute != nil:
		k.s.Execute(k, m)
	case m.Header.Type == "execute_request":
		k.Answer(m, "execute_reply", fakeOK(1))
	}
}

// Answer plays busy, a reply, and idle.
func (k *fakeKernel) Answer(req *fakeMessage, typ string, content any) {
	k.IOPub(req, "status", fakeStatus("busy"))
	k.Reply(req, typ, content)
	k.IOPub(req, "status", fakeStatus("idle"))
}

// IOPub broadcasts a message about a request; req may be nil.
func (k *fakeKernel) IOPub(req *fakeMessage, typ string, content any) {
	k.send("iopub", req, typ, content)
}

// Reply sends a message on the shell channel.
func (k *fakeKernel) Reply(req *fakeMessage, typ string, content any) {
	k.send("shell", req, typ, content)
}

// Control sends a message on the control channel.
func (k *fakeKernel) Control(req *fakeMessage, typ string, content any) {
	k.send("control", req, typ, content)
}

func (k *fakeKernel) send(channel string, req *fakeMessage, typ string, content any) {
	k.Raw(k.Make(channel, req, typ, content))
}

// Make makes a message without sending it, for those that are to come twice
// or out of order.
func (k *fakeKernel) Make(channel string, req *fakeMessage, typ string, content any) *fakeMessage {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count++
	m := &fakeMessage{Channel: channel, Content: encode(content),
		Header: fakeHeader{ID: fmt.Sprintf("%s_1_%d", k.process, k.count), Type: typ, Session: k.process}}
	if req != nil {
		m.Parent = req.Header
	}
	if k.s.Unsigned {
		m.Header.ID, m.Header.Session = rand.Text(), m.Parent.Session
	}
	return m
}

func encode(content any) json.RawMessage {
	b, _ := json.Marshal(content)
	return b
}

// Raw sends a message to every client; for one that is away it is kept.
func (k *fakeKernel) Raw(m *fakeMessage) {
	k.mu.Lock()
	var socks []*socket
	for _, s := range k.socks {
		socks = append(socks, s)
	}
	for name := range k.kept {
		k.kept[name] = append(k.kept[name], m)
	}
	k.mu.Unlock()
	for _, s := range socks {
		_ = s.write(m.frame(s.v1))
	}
}

// Ask asks the client for input, as a program does that reads, and returns its
// answer, "" where the kernel ends.
func (k *fakeKernel) Ask(req *fakeMessage, prompt string) string {
	k.send("stdin", req, "input_request", map[string]any{"prompt": prompt, "password": false})
	select {
	case line := <-k.inputs:
		return line
	case <-k.done:
		return ""
	}
}

// Drop breaks the kernel's sockets. From then on messages are kept for the
// sessions that had one.
func (k *fakeKernel) Drop() {
	k.mu.Lock()
	socks := k.socks
	k.socks = map[string]*socket{}
	for name := range socks {
		k.kept[name] = []*fakeMessage{}
	}
	k.mu.Unlock()
	for _, s := range socks {
		s.conn.Close()
	}
}

func (k *fakeKernel) serveSocket(w http.ResponseWriter, r *http.Request) {
	s, err := k.s.upgrade(w, r)
	if err != nil {
		return
	}
	defer s.conn.Close()
	name := r.URL.Query().Get("session_id")
	stop := make(chan struct{})
	defer close(stop)
	k.s.wg.Go(func() {
		select {
		case <-k.s.done:
			s.conn.Close()
		case <-stop:
		}
	})
	k.s.wg.Go(func() { k.replay(name, s) })
	left := k.listen(s) == errLeft
	if left && k.s.Leave != nil {
		k.s.Leave(k)
	}
	k.mu.Lock()
	if k.socks[name] == s {
		delete(k.socks, name)
		k.kept[name] = []*fakeMessage{}
	}
	k.mu.Unlock()
	if left {
		_ = s.write(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
	}
}

// replay sends what was kept for a session, and then makes the socket the
// session's.
func (k *fakeKernel) replay(name string, s *socket) {
	for {
		k.mu.Lock()
		kept := k.kept[name]
		if len(kept) == 0 {
			delete(k.kept, name)
			k.socks[name] = s
			k.mu.Unlock()
			return
		}
		k.kept[name] = []*fakeMessage{}
		k.mu.Unlock()
		for _, m := range kept {
			_ = s.write(m.frame(s.v1))
		}
	}
}

// listen takes the client's requests, and says why there are no more.
func (k *fakeKernel) listen(s *socket) error {
	for {
		op, data, err := s.read()
		if err != nil {
			return err
		}
		m, ok := parse(op, data)
		if !ok {
			continue
		}
		if m.Header.Type == "input_reply" {
			k.inputs <- m.content().Value
			continue
		}
		if m.Channel == "control" {
			k.s.wg.Go(func() { k.beside(m) })
			continue
		}
		select {
		case k.requests <- m:
		case <-k.done:
		}
	}
}

// beside answers a request of the control channel.
func (k *fakeKernel) beside(m *fakeMessage) {
	select {
	case <-k.done:
		return
	default:
	}
	if k.s.Control != nil {
		k.s.Control(k, m)
	}
}
