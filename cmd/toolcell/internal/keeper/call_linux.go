package keeper

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Call is an order that a keeper has accepted and not begun.
type Call struct {
	conn *net.UnixConn
	in   *bufio.Reader
}

// Call passes an order to the keeper of a key. If it fails nothing has begun.
func (d *Dir) Call(key string, o *Order, files Files) (*Call, error) {
	conn, err := d.dial(key)
	if err != nil {
		return nil, err
	}
	c := &Call{conn, bufio.NewReader(conn)}
	err = send(conn, o, files)
	answer := ""
	if err == nil {
		answer, err = c.in.ReadString('\n')
	}
	if err == nil && answer[0] != ready {
		err = fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(answer[1:]))
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, conn.SetDeadline(time.Time{})
}

func send(conn *net.UnixConn, o *Order, files Files) error {
	_ = conn.SetDeadline(time.Now().Add(handshake))
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(o); err != nil {
		return err
	}
	if body.Len() > maxOrder {
		return fmt.Errorf("%w: %d bytes", ErrRefused, body.Len())
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	size := binary.BigEndian.AppendUint32(nil, uint32(body.Len()))
	if _, _, err := conn.WriteMsgUnix(size, unix.UnixRights(fds...), nil); err != nil {
		return err
	}
	_, err := conn.Write(body.Bytes())
	return err
}

// Run begins the call and returns its exit code. When ctx ends the call is canceled, and
// Run waits for its end.
func (c *Call) Run(ctx context.Context) (int, error) {
	defer c.conn.Close()
	if _, err := c.conn.Write([]byte{begin}); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	defer context.AfterFunc(ctx, func() { _, _ = c.conn.Write([]byte{cancel}) })()
	var end [2]byte
	if _, err := io.ReadFull(c.in, end[:]); err != nil || end[0] != done {
		return 0, ErrLost
	}
	return int(end[1]), nil
}

// Ask returns what a keeper answers to a verb.
func (d *Dir) Ask(key, verb string) (string, error) {
	_, err := d.Call(key, &Order{Verb: verb}, nil)
	if err == nil {
		return "", nil
	}
	text, ok := strings.CutPrefix(err.Error(), ErrRefused.Error()+": ")
	if !ok {
		return "", err
	}
	return text, nil
}
