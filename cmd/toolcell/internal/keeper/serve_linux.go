package keeper

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A Listener takes calls. It answers that it is starting until Serve is called.
type Listener struct{ ln *net.UnixListener }

// Close removes the socket.
func (l *Listener) Close() error { return l.ln.Close() }

// A Service serves the calls of a keeper.
type Service struct {
	About string        // what the keeper is for
	Lease time.Duration // how long it stays without a call

	// Start makes the service ready. Calls that come before are refused.
	Start func(ctx context.Context) error
	// Fresh returns why the service is out of date, and the keeper ends, or nil.
	Fresh func() error
	// Run runs a call and returns its exit code. ctx ends if the caller goes away.
	Run func(ctx context.Context, o *Order, files Files) int
}

// A desk serves one call at a time.
type desk struct {
	*Service
	ctx   context.Context
	end   context.CancelFunc
	since time.Time

	mu    sync.Mutex
	state string // empty if the keeper is free, otherwise why not
	runs  int
	lease *time.Timer
}

// Serve starts the service and serves calls until the lease ends, the service is out
// of date, or ctx ends. It returns after the last call.
func (l *Listener) Serve(ctx context.Context, s *Service) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	d := &desk{Service: s, ctx: ctx, end: end, since: time.Now(), state: "it is starting"}
	var calls sync.WaitGroup
	defer calls.Wait()
	defer context.AfterFunc(ctx, func() { l.ln.Close() })()
	d.lease = time.AfterFunc(s.Lease, d.expire)
	d.lease.Stop()
	defer d.lease.Stop()
	failed := make(chan error, 1)
	calls.Go(func() {
		err := s.Start(ctx)
		if err != nil {
			end()
		}
		failed <- err
		d.leave(s.Lease)
	})
	for {
		conn, err := l.ln.AcceptUnix()
		switch {
		case err != nil && ctx.Err() != nil:
			return <-failed
		case err != nil:
			return err
		}
		calls.Go(func() {
			defer conn.Close()
			d.answer(conn)
		})
	}
}

// answer serves one caller.
func (d *desk) answer(conn *net.UnixConn) {
	_ = conn.SetDeadline(time.Now().Add(handshake))
	o, files, err := receive(conn)
	defer files.close()
	if err == nil {
		err = d.take(o)
	}
	if err != nil {
		fmt.Fprintf(conn, "%c%v\n", refused, err)
		return
	}
	leave := sync.OnceFunc(func() { d.leave(o.Lease) })
	defer leave()
	if _, err := fmt.Fprintf(conn, "%c\n", ready); err != nil {
		return
	}
	var b [1]byte
	if _, err := io.ReadFull(conn, b[:]); err != nil || b[0] != begin {
		return // the caller has given up
	}
	_ = conn.SetDeadline(time.Time{})
	ctx, stop := context.WithCancel(d.ctx)
	defer stop()
	go func() {
		_, _ = conn.Read(b[:]) // a cancel, or the caller's end
		stop()
	}()
	var over atomic.Bool
	// A caller that went away may leave a pipe that takes no more output.
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(patience, func() {
			if !over.Load() {
				os.Exit(1)
			}
		})
	})()
	code := d.Run(ctx, o, files)
	over.Store(true)
	leave() // before the caller learns of the end, and calls again
	_, _ = conn.Write([]byte{done, byte(code)})
}

// take makes an order the one that is served, or says why not.
func (d *desk) take(o *Order) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch o.Verb {
	case Status:
		return fmt.Errorf("%d  %s, since %s, runs: %d", os.Getpid(), d.About, d.since.Format(time.TimeOnly), d.runs)
	case Stop:
		d.end()
		return errors.New("ended")
	}
	if d.state != "" {
		return errors.New(d.state)
	}
	if err := d.Fresh(); err != nil {
		d.state = "it is out of date"
		d.end()
		return err
	}
	d.state, d.runs = "it is busy", d.runs+1
	d.lease.Stop()
	return nil
}

// leave makes the keeper free for another call.
func (d *desk) leave(lease time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state = ""
	d.lease.Reset(lease)
}

// expire ends the keeper if it is free.
func (d *desk) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state == "" {
		d.end()
	}
}

// receive reads an order with its descriptors.
func receive(conn *net.UnixConn) (*Order, Files, error) {
	if err := samePeer(conn); err != nil {
		return nil, nil, err
	}
	var head [4]byte
	oob := make([]byte, unix.CmsgSpace(4*4))
	n, oobn, _, _, err := conn.ReadMsgUnix(head[:], oob)
	if err != nil {
		return nil, nil, err
	}
	files := descriptors(oob[:oobn])
	size := binary.BigEndian.Uint32(head[:])
	if n != len(head) || size > maxOrder {
		return nil, files, errors.New("not an order")
	}
	body := make([]byte, size)
	o := &Order{}
	if _, err = io.ReadFull(conn, body); err == nil {
		err = gob.NewDecoder(bytes.NewReader(body)).Decode(o)
	}
	if err == nil && o.Verb == "" && len(files) != 4 {
		err = errors.New("not four descriptors")
	}
	return o, files, err
}

func descriptors(oob []byte) (files Files) {
	messages, _ := unix.ParseSocketControlMessage(oob)
	for _, m := range messages {
		fds, _ := unix.ParseUnixRights(&m)
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "caller"))
		}
	}
	return files
}

func (f Files) close() {
	for _, file := range f {
		_ = file.Close()
	}
}
