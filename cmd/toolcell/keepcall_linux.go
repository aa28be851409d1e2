package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/keeper"
)

// An order is what a caller asks a keeper to do.
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

// call makes the keeper of a key run the order, and returns the exit code. After keeper.ErrNone
// and errBusy nothing has begun, after errLost it must not be repeated. When ctx ends the run
// is canceled, and call waits for its end.
func (o *order) call(ctx context.Context, d keeper.Dir, key string, files callerFiles) (int, error) {
	conn, err := d.Dial(key)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(handshake))
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	b := make([]byte, 1)
	_, _, err = conn.WriteMsgUnix(b, unix.UnixRights(fds...), nil)
	if err == nil {
		err = gob.NewEncoder(conn).Encode(o)
	}
	if err == nil {
		_, err = io.ReadFull(conn, b) // it is ready
	}
	if err == nil {
		_, err = conn.Write(b) // it begins
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errBusy, err)
	}
	_ = conn.SetDeadline(time.Time{})
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
	ended := make(chan struct{})
	defer close(ended)
	context.AfterFunc(ctx, func() { // the streams of a caller that has gone may take no more output
		select {
		case <-ended:
		case <-time.After(endLimit):
			keeper.EndWithin(0)
		}
	})
	b[0] = byte(run(ctx, o, callerFiles(files)))
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
