package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/keeper"
)

// An order is what a caller asks a keeper to do. It has two steps: before passOrder returns
// nothing has begun, and after runOrder it must not be repeated.
type order struct {
	Args  []string
	Env   []string
	Input []byte // the program, which only the caller may be able to read
	Umask int
	Lease time.Duration // how long the keeper stays after this call
}

// callerFiles are standard input, output and error, and the directory of a caller.
type callerFiles [4]*os.File

var (
	errBusy = errors.New("the keeper is busy")
	errLost = errors.New("the keeper ended during the call")
)

const (
	maxOrder  = 8 << 20                // bytes
	handshake = 500 * time.Millisecond // for the steps before a call begins
	endLimit  = 10 * time.Second       // for a call to end after its caller has gone
)

// passOrder passes an order to the keeper of a key.
func passOrder(d keeper.Dir, key string, o *order, files callerFiles) (*net.UnixConn, error) {
	conn, err := d.Dial(key)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(handshake))
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	_, _, err = conn.WriteMsgUnix([]byte{0}, unix.UnixRights(fds...), nil)
	if err == nil {
		err = gob.NewEncoder(conn).Encode(o)
	}
	if err == nil {
		_, err = io.ReadFull(conn, make([]byte, 1))
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%w: %w", errBusy, err)
	}
	return conn, conn.SetDeadline(time.Time{})
}

// runOrder begins the call and returns its exit code. When ctx ends the call is canceled, and
// runOrder waits for its end. The error is errBusy if nothing has begun, otherwise errLost.
func runOrder(ctx context.Context, conn *net.UnixConn) (int, error) {
	defer conn.Close()
	b := make([]byte, 1)
	if _, err := conn.Write(b); err != nil {
		return 0, errBusy
	}
	defer context.AfterFunc(ctx, func() { _ = conn.CloseWrite() })()
	if _, err := io.ReadFull(conn, b); err != nil {
		return 0, errLost
	}
	return int(b[0]), nil
}

// serveOrder serves one caller and returns the lease that it wants, 0 if nothing ran. run
// runs the call and returns its exit code; ctx ends if the caller goes away.
func serveOrder(ctx context.Context, conn *net.UnixConn, run func(context.Context, *order, callerFiles) int) time.Duration {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(handshake))
	o, files, err := receiveOrder(conn)
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	b := make([]byte, 1)
	if err == nil {
		_, err = conn.Write(b)
	}
	if err == nil {
		_, err = io.ReadFull(conn, b)
	}
	if err != nil {
		return 0 // the caller has given up
	}
	_ = conn.SetDeadline(time.Time{})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = conn.Read(make([]byte, 1)) // until the caller cancels or ends
		stop()
	}()
	var ended atomic.Bool
	// The streams of a caller that has gone may take no more output.
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(endLimit, func() {
			if !ended.Load() {
				keeper.EndWithin(0)
			}
		})
	})()
	b[0] = byte(run(ctx, o, callerFiles(files)))
	ended.Store(true)
	_, _ = conn.Write(b)
	return o.Lease
}

// receiveOrder reads an order with its descriptors.
func receiveOrder(conn *net.UnixConn) (o *order, files []*os.File, err error) {
	oob := make([]byte, unix.CmsgSpace(4*len(callerFiles{})))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return nil, nil, err
	}
	messages, _ := unix.ParseSocketControlMessage(oob[:n])
	for _, m := range messages {
		fds, _ := unix.ParseUnixRights(&m)
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "caller"))
		}
	}
	o = &order{}
	err = gob.NewDecoder(io.LimitReader(conn, maxOrder)).Decode(o)
	if err == nil && len(files) != len(callerFiles{}) {
		err = errors.New("descriptors are missing")
	}
	return o, files, err
}
