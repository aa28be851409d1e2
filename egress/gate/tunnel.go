package gate

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/toolcell/toolcell/egress"
)

// halfOpenTime is how long a server may go on after the program has ended its side.
const halfOpenTime = 15 * time.Minute

// tunnel connects to t, answers the program, and passes bytes both ways until both
// sides have ended. It closes c.
func (s *Session) tunnel(c *conn, t *target, protocol string, answer []byte) {
	defer c.Close()
	e := egress.Event{Protocol: protocol, Host: t.host, Port: t.port, Start: time.Now()}
	c.target.Store(t)
	// A run with a limit may have begun since t was settled.
	err := s.allowed(t)
	var up net.Conn
	if err == nil {
		up, err = s.gate.dial(s.ctx, t)
	}
	if err != nil {
		s.report(e, err)
		if answer != nil && protocol == "connect" {
			writeStatus(c, 502, plain(err))
		}
		return
	}
	defer up.Close()
	go func() {
		<-c.done
		_ = up.Close()
	}()
	if answer != nil {
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
	if local(c.Conn) && local(up) {
		_ = up.(*net.TCPConn).SetReadBuffer(localBuffer)
	}
	e.Sent, e.Received = pass(c, up, s.gate.policy.Limits.Bytes > 0)
	s.report(e, nil)
}

// local reports whether a connection is by TCP, and within this machine.
func local(c net.Conn) bool {
	t, ok := c.(*net.TCPConn)
	return ok && t.RemoteAddr().(*net.TCPAddr).IP.IsLoopback()
}

// pass copies both ways. Uncounted bytes are moved by the kernel where it can.
func pass(c *conn, up net.Conn, counted bool) (sent, received int64) {
	program := net.Conn(c.Conn)
	if counted {
		program = c
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		var err error
		if !counted { // which reads from c.r itself
			sent, err = io.CopyN(up, c.r, int64(c.r.Buffered()))
		}
		if err == nil {
			n, _ := io.Copy(up, program)
			sent += n
		}
		_ = closeWrite(up)
		_ = up.SetReadDeadline(time.Now().Add(halfOpenTime))
	})
	wg.Go(func() {
		var err error
		if received, err = io.Copy(program, up); err != nil {
			_ = up.Close()
			_ = c.Close()
		}
		_ = c.CloseWrite()
	})
	wg.Wait()
	return sent, received
}

// plain returns the words of an error without the addresses that it may name.
func plain(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}
