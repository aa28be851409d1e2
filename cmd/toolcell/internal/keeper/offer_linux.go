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

// An Offer is a call that a keeper has taken, and that begins with Run.
type Offer struct {
	conn *net.UnixConn
	in   *bufio.Reader

	sending sync.Mutex
}

// Offer hands an order to the keeper of a key, in the directory that the caller is
// in. Where it fails nothing has begun.
func (p *Place) Offer(key Key, own string, order *Order) (*Offer, error) {
	conn, err := p.dial(key)
	if err != nil {
		if p.held(lockOf(key)) {
			return nil, err
		}
		return nil, ErrNone
	}
	o := &Offer{conn: conn, in: bufio.NewReader(conn)}
	if err := o.offer(p, key, own, order); err != nil {
		conn.Close()
		return nil, err
	}
	return o, nil
}

func (o *Offer) offer(p *Place, key Key, own string, order *Order) error {
	_ = o.conn.SetDeadline(time.Now().Add(maxHandshake))
	its, err := peerOf(o.conn)
	if err != nil {
		return err
	}
	defer its.close()
	if order.stop {
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
	if _, _, err := o.conn.WriteMsgUnix([]byte{frameOrder}, rights, nil); err != nil {
		return err
	}
	b, err := json.Marshal(order)
	if err != nil {
		return err
	}
	if err := writeFrame(o.conn, frameOrder, b); err != nil {
		return err
	}
	switch kind, body, err := readFrame(o.in, maxPiece); {
	case err != nil:
		return err
	case kind != frameReady:
		return fmt.Errorf("%w: %s", ErrRefused, body)
	}
	return o.conn.SetDeadline(time.Time{})
}

// Run runs the call, and returns its exit code once all of its output is written.
// When ctx ends the keeper is told to end the program; that is then waited for.
// Its error is ErrLost, or ErrRefused where the keeper says that nothing has begun.
func (o *Offer) Run(ctx context.Context, s Streams) (int, error) {
	defer o.conn.Close()
	if err := o.send(frameGo); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrRefused, err) // it was not told to begin
	}
	defer context.AfterFunc(ctx, func() { _ = o.send(frameCancel) })()
	for {
		// A piece, with its kind and the stream's number.
		kind, body, err := readFrame(o.in, maxPiece+2)
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
			err = o.send(frameWritten, body[:1], pack(failed))
		case kind == frameRead && len(body) == 2:
			// Beside the frames: it may wait for a person, and the program may end meanwhile.
			go o.input(s, int(body[0])<<8|int(body[1]))
		default:
			return 0, fmt.Errorf("%w: %w", ErrLost, errFrame)
		}
		if err != nil {
			return 0, ErrLost
		}
	}
}

// input reads once, as the keeper's program wants it.
func (o *Offer) input(s Streams, n int) {
	b := make([]byte, min(n, maxPiece))
	n, err := s.In.Read(b)
	if n > 0 {
		_ = o.send(frameInput, b[:n])
	} else if err != nil {
		_ = o.send(frameEnd, pack(err))
	} else {
		_ = o.send(frameInput)
	}
}

func (o *Offer) send(kind byte, parts ...[]byte) error {
	o.sending.Lock()
	defer o.sending.Unlock()
	_ = o.conn.SetWriteDeadline(time.Now().Add(maxSend))
	return writeFrame(o.conn, kind, parts...)
}
