package jupyter_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// A fakeMessage is one message of a kernel's channels.
type fakeMessage struct {
	Channel string          `json:"channel"`
	Header  fakeHeader      `json:"header"`
	Parent  fakeHeader      `json:"parent_header"`
	Content json.RawMessage `json:"content"`
}

// A fakeHeader names a message.
type fakeHeader struct {
	ID      string `json:"msg_id,omitempty"`
	Type    string `json:"msg_type,omitempty"`
	Session string `json:"session,omitempty"`
}

// Code is the code of an execute_request.
func (m *fakeMessage) Code() string { return m.content().Code }

// content is what is read of requests: silent is an execute_request of the client's own,
// value that of an input_reply.
func (m *fakeMessage) content() (c struct {
	Code, Value string
	Silent      bool
}) {
	_ = json.Unmarshal(m.Content, &c)
	return c
}

// fakeStatus is the content of a status.
func fakeStatus(state string) any { return map[string]string{"execution_state": state} }

// fakeStream is the content of a stream message.
func fakeStream(name, text string) any {
	return struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}{name, text}
}

// fakeOK is the content of an execute_reply of a program that ended normally.
func fakeOK(count int) any {
	return map[string]any{"status": "ok", "execution_count": count, "payload": []any{}, "user_expressions": map[string]any{}}
}

// fakeError is the content of an error and of an execute_reply for it.
func fakeError(name, value string, traceback ...string) any {
	return map[string]any{"status": "error", "ename": name, "evalue": value, "traceback": traceback, "execution_count": 1}
}

// frame encodes a message for the wire.
func (m *fakeMessage) frame(v1 bool) (typ int, data []byte) {
	if !v1 {
		data, _ = json.Marshal(m)
		return websocket.TextMessage, data
	}
	header, _ := json.Marshal(m.Header)
	parent, _ := json.Marshal(m.Parent)
	content := spaced(m.Content)
	parts := [][]byte{[]byte(m.Channel), header, parent, []byte("{}"), content}
	n := len(parts) + 1
	data = make([]byte, 8*(1+n))
	binary.LittleEndian.PutUint64(data, uint64(n))
	for i := 0; ; i++ {
		binary.LittleEndian.PutUint64(data[8*(1+i):], uint64(len(data)))
		if i == len(parts) {
			return websocket.BinaryMessage, data
		}
		data = append(data, parts[i]...)
	}
}

// spaced writes a stream's content as Python does, with blanks.
func spaced(content json.RawMessage) []byte {
	var s struct{ Name, Text *string }
	if json.Unmarshal(content, &s) != nil || s.Name == nil || s.Text == nil {
		return content
	}
	name, _ := json.Marshal(s.Name)
	text, _ := json.Marshal(s.Text)
	return []byte(`{"name": ` + string(name) + `, "text": ` + string(text) + `}`)
}

// parse decodes a client's message.
func parse(typ int, data []byte) (*fakeMessage, bool) {
	m := &fakeMessage{}
	if typ == websocket.TextMessage {
		return m, json.Unmarshal(data, m) == nil
	}
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(data[8*(1+i):]) }
	part := func(i int) []byte { return data[at(i):at(i+1)] }
	m.Channel, m.Content = string(part(0)), part(4)
	return m, json.Unmarshal(part(1), &m.Header) == nil
}

// errLeft is a client that closes its socket.
var errLeft = errors.New("the client leaves")

// A socket is the server's end of a WebSocket.
type socket struct {
	conn *websocket.Conn
	v1   bool
	mu   sync.Mutex // serialises writes
}

// upgrade answers the handshake.
func (s *fakeServer) upgrade(w http.ResponseWriter, r *http.Request) (*socket, error) {
	up := websocket.Upgrader{}
	if !s.JSONOnly {
		up.Subprotocols = []string{"v1.kernel.websocket.jupyter.org"}
	}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return nil, err
	}
	conn.SetPingHandler(func(data string) error {
		go func() { _ = conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Minute)) }()
		return nil
	})
	conn.SetCloseHandler(func(int, string) error { return nil }) // answered after Server.Leave
	return &socket{conn: conn, v1: conn.Subprotocol() != ""}, nil
}

// write sends one frame.
func (s *socket) write(typ int, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn.WriteMessage(typ, data)
}

// read returns the next message.
func (s *socket) read() (typ int, data []byte, err error) {
	typ, data, err = s.conn.ReadMessage()
	if websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		err = errLeft
	}
	return typ, data, err
}
