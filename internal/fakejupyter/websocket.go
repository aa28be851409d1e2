package fakejupyter

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

const (
	opText   = 1
	opBinary = 2
	opClose  = 8
	opPing   = 9
	opPong   = 10

	protocol = "v1.kernel.websocket.jupyter.org"
)

// errLeft is a client that closes its socket.
var errLeft = errors.New("the client leaves")

// A socket is the server's end of a WebSocket.
type socket struct {
	conn net.Conn
	r    *bufio.Reader
	v1   bool
	mute bool       // no pongs
	mu   sync.Mutex // serialises writes
}

// upgrade answers the handshake.
func upgrade(w http.ResponseWriter, r *http.Request, jsonOnly bool) (*socket, error) {
	hj, ok := w.(http.Hijacker)
	if !ok || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		Fail(w, 400, `Can "Upgrade" only to "WebSocket".`)
		return nil, errors.New("no upgrade")
	}
	v1 := !jsonOnly && strings.Contains(r.Header.Get("Sec-Websocket-Protocol"), protocol)
	sum := sha1.Sum([]byte(r.Header.Get("Sec-Websocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	conn, buf, err := hj.Hijack()
	if err != nil {
		return nil, err
	}
	head := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Accept: " + base64.StdEncoding.EncodeToString(sum[:]) + "\r\n"
	if v1 {
		head += "Sec-WebSocket-Protocol: " + protocol + "\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		return nil, err
	}
	return &socket{conn: conn, r: buf.Reader, v1: v1}, nil
}

// write sends one frame.
func (s *socket) write(op byte, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := []byte{0x80 | op}
	switch n := len(data); {
	case n < 126:
		head = append(head, byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(n))
	}
	_, err := s.conn.Write(append(head, data...))
	return err
}

// read returns the next message, answering pings.
func (s *socket) read() (op byte, data []byte, err error) {
	for {
		final, frame, part, err := s.frame()
		if err != nil {
			return 0, nil, err
		}
		switch frame {
		case opPing:
			if !s.mute {
				go func() { _ = s.write(opPong, part) }()
			}
			continue
		case opPong:
			continue
		case opClose:
			return 0, nil, errLeft
		case opText, opBinary:
			op = frame
		}
		if data = append(data, part...); final {
			return op, data, nil
		}
	}
}

func (s *socket) frame() (final bool, op byte, data []byte, err error) {
	var head [2]byte
	if _, err = io.ReadFull(s.r, head[:]); err != nil {
		return
	}
	n := uint64(head[1] & 0x7f)
	var ext [8]byte
	switch n {
	case 126:
		_, err = io.ReadFull(s.r, ext[6:])
		n = binary.BigEndian.Uint64(ext[:])
	case 127:
		_, err = io.ReadFull(s.r, ext[:])
		n = binary.BigEndian.Uint64(ext[:])
	}
	if err != nil {
		return
	}
	var mask [4]byte
	if head[1]&0x80 != 0 {
		if _, err = io.ReadFull(s.r, mask[:]); err != nil {
			return
		}
	}
	data = make([]byte, n)
	_, err = io.ReadFull(s.r, data)
	for i := range data {
		data[i] ^= mask[i%4]
	}
	return head[0]&0x80 != 0, head[0] & 0x0f, data, err
}
