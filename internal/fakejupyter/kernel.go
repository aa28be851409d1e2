package fakejupyter

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/gorilla/websocket"
)

// A Kernel is one kernel of the fake. Its Send methods may be called from any
// goroutine, also when the play that got the Kernel is over.
type Kernel struct {
	ID, Spec string

	s  *Server
	mu sync.Mutex
	// process names the process, as real kernels do in each message's header.
	process  string
	count    int
	state    string
	busy     atomic.Bool        // it plays a request
	socks    map[string]*socket // by session
	kept     map[string][]*Message
	requests chan *Message
	inputs   chan string
	done     chan struct{}
	once     sync.Once
}

func newKernel(s *Server, spec string) *Kernel {
	k := &Kernel{ID: rand.Text(), Spec: spec, s: s, process: rand.Text(), state: "idle",
		socks: map[string]*socket{}, kept: map[string][]*Message{}, requests: make(chan *Message, 100), inputs: make(chan string, 10), done: make(chan struct{})}
	s.wg.Go(k.play)
	return k
}

func (k *Kernel) model() any {
	k.mu.Lock()
	defer k.mu.Unlock()
	state := k.state
	if k.busy.Load() && state == "idle" {
		state = "busy"
	}
	return map[string]any{"id": k.ID, "name": k.Spec, "execution_state": state, "connections": len(k.socks)}
}

func (k *Kernel) end() {
	k.once.Do(func() { close(k.done) })
}

// SetState sets what the REST API says of the kernel.
func (k *Kernel) SetState(state string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state = state
}

// Process names the kernel's present process.
func (k *Kernel) Process() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.process
}

// Replace gives the kernel a new process, which is not reported.
func (k *Kernel) Replace() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.process, k.count = rand.Text(), 0
}

// Die plays the death of the kernel's process and its restart by the server:
// a status without a parent, and a new process.
func (k *Kernel) Die() {
	k.Replace()
	k.Forge("status", Status("restarting"))
}

// Forge sends a message without a parent, as a server does that restarts a kernel, and
// as a program can.
func (k *Kernel) Forge(typ string, content any) {
	k.Raw(&Message{Channel: "iopub", Header: Header{ID: rand.Text(), Type: typ, Session: "server"}, Content: encode(content)})
}

// play answers requests, one after the other.
func (k *Kernel) play() {
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

func (k *Kernel) answer(m *Message) {
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
		k.Answer(m, "execute_reply", OK(1))
	}
}

// Answer plays busy, a reply, and idle.
func (k *Kernel) Answer(req *Message, typ string, content any) {
	k.IOPub(req, "status", Status("busy"))
	k.Reply(req, typ, content)
	k.IOPub(req, "status", Status("idle"))
}

// IOPub broadcasts a message about a request; req may be nil.
func (k *Kernel) IOPub(req *Message, typ string, content any) { k.send("iopub", req, typ, content) }

// Reply sends a message on the shell channel.
func (k *Kernel) Reply(req *Message, typ string, content any) { k.send("shell", req, typ, content) }

// Control sends a message on the control channel.
func (k *Kernel) Control(req *Message, typ string, content any) { k.send("control", req, typ, content) }

func (k *Kernel) send(channel string, req *Message, typ string, content any) {
	k.Raw(k.Make(channel, req, typ, content))
}

// Make makes a message without sending it, for those that are to come twice
// or out of order.
func (k *Kernel) Make(channel string, req *Message, typ string, content any) *Message {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count++
	m := &Message{Channel: channel, Content: encode(content),
		Header: Header{ID: fmt.Sprintf("%s_1_%d", k.process, k.count), Type: typ, Session: k.process}}
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
func (k *Kernel) Raw(m *Message) {
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
func (k *Kernel) Ask(req *Message, prompt string) string {
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
func (k *Kernel) Drop() {
	k.mu.Lock()
	socks := k.socks
	k.socks = map[string]*socket{}
	for name := range socks {
		k.kept[name] = []*Message{}
	}
	k.mu.Unlock()
	for _, s := range socks {
		s.conn.Close()
	}
}

func (k *Kernel) serveSocket(w http.ResponseWriter, r *http.Request) {
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
		k.kept[name] = []*Message{}
	}
	k.mu.Unlock()
	if left {
		_ = s.write(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
	}
}

// replay sends what was kept for a session, and then makes the socket the
// session's.
func (k *Kernel) replay(name string, s *socket) {
	for {
		k.mu.Lock()
		kept := k.kept[name]
		if len(kept) == 0 {
			delete(k.kept, name)
			k.socks[name] = s
			k.mu.Unlock()
			return
		}
		k.kept[name] = []*Message{}
		k.mu.Unlock()
		for _, m := range kept {
			_ = s.write(m.frame(s.v1))
		}
	}
}

// listen takes the client's requests, and says why there are no more.
func (k *Kernel) listen(s *socket) error {
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
func (k *Kernel) beside(m *Message) {
	select {
	case <-k.done:
		return
	default:
	}
	if k.s.Control != nil {
		k.s.Control(k, m)
	}
}
