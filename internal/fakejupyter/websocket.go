package fakejupyter

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// errLeft is a client that closes its socket.
var errLeft = errors.New("the client leaves")

// A socket is the server's end of a WebSocket.
type socket struct {
	conn *websocket.Conn
	v1   bool
	mu   sync.Mutex // serialises writes
}

// upgrade answers the handshake.
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request) (*socket, error) {
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
