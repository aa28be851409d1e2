package subprocess

import (
	"context"
	"encoding/gob"
	"errors"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/providers/subprocess/internal/kept"
)

// A keeperOrder is what a keeper is started with.
type keeperOrder struct {
	Dir   keeper.Dir
	Lease time.Duration
	Spool int

	// Of Options, with the mode that was found.
	Sandbox            Sandbox
	Shared             string // Options.Dir
	Network            bool
	ReadOnly, Writable []string
	Limits             Limits
	HostEnv            map[string]string
	Grace              time.Duration

	Language Language
	Kind     kind
	Path     string
	Boot     []byte
	Roots    []string

	// Of the context.
	Cwd string
	Env map[string]string
}

// keeperEnd is how long a keeper may take to end, whatever keeps it.
const keeperEnd = 10 * time.Second

// runKeeper runs a keeper if this process is one.
func runKeeper() {
	if len(os.Args) != 2 || os.Args[0] != keeperName {
		return
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	o, s := &keeperOrder{}, &kept.Server{}
	err := gob.NewDecoder(os.Stdin).Decode(o)
	empty(0)
	if err == nil {
		err = o.serve(ctx, os.Args[1], s)
	} else {
		answer(err)
	}
	s.Closed(err)
	os.Exit(0)
}

// answer answers the host that started this keeper.
func answer(err error) {
	_ = gob.NewEncoder(os.Stdout).Encode(&kept.Reply{Err: kept.NewError(err)})
	empty(1)
}

// empty closes a standard descriptor, which no other file is to get.
func empty(fd int) {
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		_ = unix.Dup3(int(null.Fd()), fd, 0)
		null.Close()
	}
}

// serve serves the context of a key to its end.
func (o *keeperOrder) serve(ctx context.Context, key string, s *kept.Server) error {
	claim, err := o.Dir.Claim(key)
	if err != nil {
		answer(err)
		return err
	}
	defer claim.Close()
	h, err := o.host()
	if err != nil {
		answer(err)
		return err
	}
	ln, err := o.start(ctx, h, claim, s)
	answer(err)
	if err == nil {
		s.Serve(ctx, ln)
	}
	keeper.EndWithin(keeperEnd)
	s.Wait()
	if s.Session != nil {
		err = s.Session.Close(context.Background())
	}
	return errors.Join(err, h.Close(context.Background()))
}

// host opens the sandbox.
func (o *keeperOrder) host() (*host, error) {
	l := &language{Language: o.Language, path: o.Path, boot: o.Boot, roots: o.Roots}
	l.kind = o.Kind
	h := &host{room: frames.NewRoom(), names: []string{l.Name}, languages: map[string]*language{l.Name: l}, opts: Options{Sandbox: o.Sandbox,
		Dir: o.Shared, Network: o.Network, ReadOnly: o.ReadOnly, Writable: o.Writable, Limits: o.Limits, Env: o.HostEnv, Grace: o.Grace}}
	return h, h.open(func() error { return l.show(h.sandbox) })
}

// start starts the context.
func (o *keeperOrder) start(ctx context.Context, h *host, claim *keeper.Claim, s *kept.Server) (*net.UnixListener, error) {
	of, err := h.Start(ctx, driver.Options{Language: o.Language.Name, Late: s.KeepLate, ContextOptions: codeinterp.ContextOptions{Cwd: o.Cwd, Env: o.Env}})
	if err != nil {
		return nil, err
	}
	session := of.(*session)
	s.Session, s.Spool, s.Lease, s.Grace = session, o.Spool, o.Lease, o.Grace
	s.Hello = func() kept.Hello {
		return kept.Hello{Language: o.Language.Name, Cwd: o.Cwd, Env: o.Env, Dir: session.place.dir, Inside: session.Cwd()}
	}
	return claim.Listen()
}
