package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/inputs"
	"github.com/toolcell/toolcell/cmd/toolcell/internal/terminal"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/keeper"
)

var (
	errBusy = errors.New("the keeper is busy")
	errLost = fmt.Errorf("%w: the keeper ended during the run: the program may have run in part and is not run again", codeinterp.ErrUnavailable)
)

const (
	handshake = 500 * time.Millisecond // for a keeper to be there
	endLimit  = 10 * time.Second       // for a run to end after its caller has gone
)

// A keptRunner is the interpreter of a keeper, for one run.
type keptRunner struct {
	*keeper.Conn
	info  codeinterp.Info
	stdin *os.File
	lease time.Duration // how long the keeper stays after the run
}

// callKeeper reserves the keeper of a key. The error is keeper.ErrNone if there is none, and
// errBusy if it does not answer in time.
func callKeeper(d keeper.Dir, key string, stdin *os.File, lease time.Duration) (*keptRunner, error) {
	socket, err := d.Dial(key)
	if err != nil {
		return nil, err
	}
	c, r := keeper.NewConn(socket), &keeper.Reply{}
	_ = c.SetDeadline(time.Now().Add(handshake))
	if err := c.Decode(r); err != nil || r.Info == nil {
		c.Close()
		return nil, errBusy
	}
	return &keptRunner{c, *r.Info, stdin, lease}, c.SetDeadline(time.Time{})
}

// Languages implements codeinterp.CodeInterpreter.
func (k *keptRunner) Languages() (names []string) {
	for _, l := range k.info.Languages {
		names = append(names, l.Name)
	}
	return names
}

// Describe implements codeinterp.Describer.
func (k *keptRunner) Describe() codeinterp.Info { return k.info }

// RunCode implements codeinterp.CodeInterpreter.
func (k *keptRunner) RunCode(ctx context.Context, language, code string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
	q := &keeper.Request{Language: language, Code: code, Options: *o, HasStdin: o.Stdin != nil, Live: o.OnOutput != nil, Lease: k.lease}
	q.Files, _ = o.Files.(inputs.Files)
	q.Options.Files, q.Options.Input = nil, nil
	var rights []byte
	if o.Input != nil {
		rights = unix.UnixRights(int(k.stdin.Fd()))
	}
	_, _, err := k.WriteMsgUnix([]byte{0}, rights, nil)
	if err == nil {
		err = k.Encode(q)
	}
	defer context.AfterFunc(ctx, func() { _ = k.CloseWrite() })() // which cancels the run
	var shown error
	for err == nil {
		r := &keeper.Reply{}
		switch err = k.Decode(r); {
		case err != nil:
		case r.Output != nil:
			shown = errors.Join(shown, o.OnOutput(*r.Output))
		case r.End != nil:
			if r.Callback != "" {
				shown = errors.Join(shown, errors.New(r.Callback))
			}
			r.End.CallbackErr = shown
			switch {
			case r.Err == nil:
				return *r.End, nil
			case ctx.Err() != nil:
				return *r.End, context.Cause(ctx)
			}
			return *r.End, r.Err
		}
	}
	return codeinterp.Result{Status: codeinterp.StatusLost, ExitCode: codeinterp.ExitKilled, Cause: codeinterp.CauseServer}, errLost
}

// serveRun serves one caller and returns the lease that it wants, 0 if nothing ran.
func serveRun(ctx context.Context, c *keeper.Conn, ci codeinterp.CodeInterpreter) time.Duration {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(endLimit))
	info, q := codeinterp.Describe(ci), &keeper.Request{}
	err := c.Encode(&keeper.Reply{Info: &info})
	var stdin *os.File
	if err == nil {
		stdin, err = receiveFile(c)
	}
	defer stdin.Close()
	if err == nil {
		err = c.Decode(q)
	}
	if err != nil {
		return 0 // the caller has given up
	}
	_ = c.SetDeadline(time.Time{})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, c) // until the caller cancels or ends
		stop()
	}()
	defer context.AfterFunc(ctx, func() { _ = c.SetWriteDeadline(time.Now().Add(endLimit)) })()
	o := q.RunOptions()
	if q.Files != nil {
		o.Files = inputs.Files(q.Files)
	}
	if stdin != nil {
		o.Input = terminal.NewReader(stdin) // which the interpreter closes
	}
	if q.Live {
		o.OnOutput = func(o codeinterp.Output) error { return c.Encode(&keeper.Reply{Output: &o}) }
	}
	res, err := ci.RunCode(ctx, q.Language, q.Code, o)
	r := &keeper.Reply{End: &res, Err: keeper.NewError(err)}
	if res.CallbackErr != nil {
		r.Callback, res.CallbackErr = res.CallbackErr.Error(), nil
	}
	_ = c.Encode(r)
	return q.Lease
}

// receiveFile reads a byte and the descriptor that may come with it.
func receiveFile(c *keeper.Conn) (file *os.File, err error) {
	oob := make([]byte, unix.CmsgSpace(4))
	n, more, _, _, err := c.ReadMsgUnix(make([]byte, 1), oob)
	if err == nil && n == 0 {
		err = io.EOF
	}
	messages, _ := unix.ParseSocketControlMessage(oob[:more])
	for _, m := range messages {
		fds, _ := unix.ParseUnixRights(&m)
		for _, fd := range fds {
			file = os.NewFile(uintptr(fd), "standard input of the caller")
		}
	}
	return file, err
}
