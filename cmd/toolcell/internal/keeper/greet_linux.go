package keeper

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// A greeting is what a caller says before it is served.
type greeting struct {
	in    *bufio.Reader
	order *Order
	dir   *os.File // the one that it is in
}

func (g *greeting) close() {
	if g != nil && g.dir != nil {
		g.dir.Close()
	}
}

// greet hears a caller, if it is one that may be served.
func (d *desk) greet(conn *net.UnixConn) (*greeting, error) {
	its, err := peerOf(conn)
	if err != nil {
		return nil, err
	}
	defer its.close()
	if err := its.own(); err != nil {
		return nil, err
	}
	files, err := receive(conn)
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	if len(files) != 2 {
		return nil, errFrame
	}
	if err := d.lock.shown(files[1]); err != nil {
		return nil, err
	}
	g := &greeting{in: bufio.NewReader(conn), order: &Order{}}
	kind, body, err := readFrame(g.in, maxOrder)
	if err != nil || kind != frameOrder {
		return nil, errors.Join(errFrame, err)
	}
	if err := json.Unmarshal(body, g.order); err != nil {
		return nil, err
	}
	// Everyone who can write here may have the keeper end, from another terminal too.
	if !g.order.stop {
		if err := its.stands(d.Own); err != nil {
			return nil, err
		}
	}
	g.dir, files = files[0], files[1:]
	return g, nil
}

// shown checks that a caller has opened the lock to change it, which none can that
// is kept from writing here.
func (l *Lock) shown(file *os.File) error {
	flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	if flags&unix.O_ACCMODE != unix.O_RDWR || flags&unix.O_PATH != 0 || !same(file, l.file) {
		return fmt.Errorf("the caller cannot write here")
	}
	return nil
}

// receive reads the byte that descriptors come with.
func receive(conn *net.UnixConn) (files []*os.File, err error) {
	var b [1]byte
	// Room for more than the two, to see that there are more.
	oob := make([]byte, unix.CmsgSpace(4*8))
	n, oobn, flags, _, err := conn.ReadMsgUnix(b[:], oob)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	if n != 1 || b[0] != frameOrder || flags&unix.MSG_CTRUNC != 0 {
		return files, errFrame
	}
	return files, nil
}
