package keeper

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A Service serves the calls of a keeper.
type Service struct {
	Lease time.Duration // how long the keeper stays without a call
	Most  int           // keepers of a user

	// Start makes the service ready. Until it returns there is no keeper for others.
	Start func(ctx context.Context) error
	// Fresh reports whether the service is up to date; the keeper ends if not.
	Fresh func() bool
	// Run runs a call and returns its exit code. ctx ends if the caller goes away.
	Run func(ctx context.Context, o *Order, files Files) int
}

// Serve starts the service and serves calls for a key until the lease ends, the service
// is out of date, or ctx ends. It returns nil at once if there is such a keeper already.
func (d Dir) Serve(ctx context.Context, key string, s *Service) error {
	lock, err := os.OpenFile(filepath.Join(string(d), key+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil
	}
	if n := len(d.Keepers()); n >= s.Most {
		return fmt.Errorf("there are %d keepers already; toolcell keep stop ends them", n)
	}
	if err := s.Start(ctx); err != nil {
		return err
	}
	_ = os.Remove(d.socket(key)) // of one that was killed
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: d.socket(key), Net: "unix"})
	if err != nil {
		return err
	}
	defer ln.Close()
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	for lease := s.Lease; ; {
		_ = ln.SetDeadline(time.Now().Add(lease))
		conn, err := ln.AcceptUnix()
		if err != nil || !s.Fresh() {
			return nil
		}
		if used := s.serve(ctx, conn); used > 0 {
			lease = used
		}
		conn.Close()
	}
}

// serve serves one caller and returns the lease that it wants, 0 if nothing ran.
func (s *Service) serve(ctx context.Context, conn *net.UnixConn) time.Duration {
	_ = conn.SetDeadline(time.Now().Add(handshake))
	o, files, err := receive(conn)
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
		time.AfterFunc(patience, func() {
			if !ended.Load() {
				os.Exit(1)
			}
		})
	})()
	b[0] = byte(s.Run(ctx, o, Files(files)))
	ended.Store(true)
	_, _ = conn.Write(b)
	return o.Lease
}

// receive reads an order with its descriptors.
func receive(conn *net.UnixConn) (o *Order, files []*os.File, err error) {
	oob := make([]byte, unix.CmsgSpace(4*len(Files{})))
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
	o = &Order{}
	err = gob.NewDecoder(io.LimitReader(conn, maxOrder)).Decode(o)
	if err == nil && len(files) != len(Files{}) {
		err = errors.New("descriptors are missing")
	}
	return o, files, err
}
