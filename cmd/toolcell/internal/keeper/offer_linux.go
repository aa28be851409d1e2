package keeper

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNone says that there is no keeper of the key, nor one about to start.
var ErrNone = errors.New("there is no keeper")

// A Call was taken by a keeper, and begins with Run.
type Call struct {
	conn *net.UnixConn
	in   *bufio.Reader

	sending sync.Mutex
}

// Offer offers a call to the keeper of a key, in the directory that the caller is
// in. Where it fails nothing has begun.
func (p *Place) Offer(key Key, own string, req *Request) (*Call, error) {
	conn, err := p.dial(key)
	if err != nil {
		if p.held(lockOf(key)) {
			return nil, err
		}
		return nil, ErrNone
	}
	c := &Call{conn: conn, in: bufio.NewReader(conn)}
	if err := c.offer(p, key, own, req); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *Call) offer(p *Place, key Key, own string, req *Request) error {
	_ = c.conn.SetDeadline(time.Now().Add(maxHandshake))
	its, err := peerOf(c.conn)
	if err != nil {
		return err
	}
	defer its.close()
	if req.stop {
		err = its.own()
	} else {
		err = its.stands(own)
	}
	if err != nil {
		return err
	}
	dir, err := os.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	lock, err := p.open(lockOf(key), unix.O_RDWR)
	if err != nil {
		return err
	}
	defer lock.Close()
	rights := unix.UnixRights(int(dir.Fd()), int(lock.Fd()))
	if _, _, err := c.conn.WriteMsgUnix([]byte{frameRequest}, rights, nil); err != nil {
		return err
	}
	b, err := json.Marshal(req)
	if err != nil {
		return err
	}
	if err := writeFrame(c.conn, frameRequest, b); err != nil {
		return err
	}
	switch kind, body, err := readFrame(c.in, maxPiece); {
	case err != nil:
		return err
	case kind != frameReady:
		return fmt.Errorf("%w: %s", ErrRefused, body)
	}
	return c.conn.SetDeadline(time.Time{})
}

// Run runs the call, and returns its exit code once all of its output is written.
// When ctx ends the keeper is told to end the program; that is then waited for.
// Its error is ErrLost, or ErrRefused where the keeper says that nothing has begun.
func (c *Call) Run(ctx context.Context, s Streams) (int, error) {
	defer c.conn.Close()
	if err := c.send(frameGo); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrRefused, err) // it was not told to begin
	}
	defer context.AfterFunc(ctx, func() { _ = c.send(frameCancel) })()
	for {
		kind, body, err := readFrame(c.in, maxPiece+2)
		if err != nil {
			return 0, ErrLost
		}
		switch {
		case kind == frameRefused:
			return 0, ErrRefused
		case kind == frameExit && len(body) == 1:
			return int(body[0]), nil
		case kind == frameWrite && len(body) > 0:
			to := s.Out
			if body[0] == 2 {
				to = s.Err
			}
			_, failed := to.Write(body[1:])
			err = c.send(frameWritten, body[:1], pack(failed))
		case kind == frameRead && len(body) == 2:
			go c.input(s, int(body[0])<<8|int(body[1]))
		default:
			return 0, fmt.Errorf("%w: %w", ErrLost, errFrame)
		}
		if err != nil {
			return 0, ErrLost
		}
	}
}

// input reads once, as the keeper's program wants it.
func (c *Call) input(s Streams, n int) {
	b := make([]byte, min(n, maxPiece))
	n, err := s.In.Read(b)
	if n > 0 {
		_ = c.send(frameInput, b[:n])
	} else if err != nil {
		_ = c.send(frameEnd, pack(err))
	} else {
		_ = c.send(frameInput)
	}
}

func (c *Call) send(kind byte, parts ...[]byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(maxSend))
	return writeFrame(c.conn, kind, parts...)
}
