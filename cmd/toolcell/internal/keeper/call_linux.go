package keeper

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Bytes of the protocol after the order: the keeper answers ready or refused with a
// line, the caller says begin, and the keeper ends with done and the exit code.
const (
	ready   = 'Y'
	refused = 'N'
	begin   = 'G'
	cancel  = 'C'
	done    = 'E'
)

// A Call is an order that a keeper has accepted and not begun.
type Call struct {
	conn *net.UnixConn
	in   *bufio.Reader
}

// Call hands an order to the keeper of a key. If it fails nothing has begun.
func (d *Dir) Call(key string, o *Order) (*Call, error) {
	conn, err := d.dial(key)
	if err != nil {
		return nil, err
	}
	c := &Call{conn, bufio.NewReader(conn)}
	if err := c.send(o); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *Call) send(o *Order) error {
	_ = c.conn.SetDeadline(time.Now().Add(handshake))
	body, err := json.Marshal(o.wire())
	if err != nil {
		return err
	}
	if len(body) > maxOrder {
		return fmt.Errorf("%w: %d bytes", ErrRefused, len(body))
	}
	var fds []int
	for _, f := range o.Files {
		fds = append(fds, int(f.Fd()))
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	if _, _, err := c.conn.WriteMsgUnix(head, unix.UnixRights(fds...), nil); err != nil {
		return err
	}
	if _, err := c.conn.Write(body); err != nil {
		return err
	}
	answer, err := c.in.ReadString('\n')
	switch {
	case err != nil:
		return err
	case answer[0] != ready:
		return fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(answer[1:]))
	}
	return c.conn.SetDeadline(time.Time{})
}

// Run begins the call and returns its exit code. When ctx ends it is canceled, and
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
	conn, err := d.dial(key)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	err = (&Call{conn, bufio.NewReader(conn)}).send(&Order{Verb: verb})
	if err == nil {
		return "", nil
	}
	text, ok := strings.CutPrefix(err.Error(), ErrRefused.Error()+": ")
	if !ok {
		return "", err
	}
	return text, nil
}
