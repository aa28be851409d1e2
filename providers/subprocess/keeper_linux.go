package subprocess

import (
	"context"
	"encoding/gob"
	"encoding/json"
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
	Dir     keeper.Dir
	Options Options // with the mode that was found, without Languages

	Language Language
	Kind     kind
	Path     string
	Boot     []byte
	Roots    []string

	// Of the context.
	Cwd string
	Env map[string]string
}

// runKeeper runs a keeper if this process is one.
func runKeeper() {
	if len(os.Args) != 2 || os.Args[0] != keeperName {
		return
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	o := &keeperOrder{}
	err := json.NewDecoder(os.Stdin).Decode(o)
	empty(0)
	if err == nil {
		err = o.serve(ctx, os.Args[1])
	}
	if err != nil {
		answer(err)
	}
	os.Exit(0)
}

// answer answers the host that started this keeper.
func answer(err error) {
	_ = gob.NewEncoder(os.Stdout).Encode(&keeper.Reply{Err: keeper.NewError(err)})
	empty(1)
}

// empty closes a standard descriptor, which no other file is to get.
func empty(fd int) {
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		_ = unix.Dup3(int(null.Fd()), fd, 0)
		null.Close()
	}
}

// serve serves the context of a key to its end. The error says why there is none.
func (o *keeperOrder) serve(ctx context.Context, key string) error {
	claim, err := o.Dir.Claim(key, time.Second)
	if err != nil {
		return err
	}
	defer claim.Close()
	l := &language{Language: o.Language, path: o.Path, boot: o.Boot, roots: o.Roots}
	l.kind = o.Kind
	h := &host{room: frames.NewRoom(), names: []string{l.Name}, languages: map[string]*language{l.Name: l}, opts: o.Options}
	if err := h.open(func() error { return l.show(h.sandbox) }); err != nil {
		return err
	}
	rt := &keeperHost{host: h}
	config := h.config()
	config.Relay = true
	s := &kept.Server{Contexts: driver.NewStateful(rt, config), Spool: o.Options.Keep.Spool, Lease: o.Options.Keep.Lease}
	s.ID, err = s.Contexts.CreateContext(ctx, l.Name, &codeinterp.ContextOptions{Cwd: o.Cwd, Env: o.Env})
	var ln *net.UnixListener
	if err == nil {
		ln, err = claim.Listen(s.Lease)
	}
	if err != nil {
		return errors.Join(err, s.Contexts.Close())
	}
	s.Late = rt.late
	s.Hello = keeper.Hello{Language: l.Name, Cwd: o.Cwd, Env: o.Env, Dir: rt.context.place.dir, Inside: rt.context.Cwd()}
	answer(nil)
	s.Serve(ctx, ln)
	return nil
}

// A keeperHost is the runtime of a keeper, which has one context.
type keeperHost struct {
	*host
	late    func(codeinterp.Output)
	context *session
}

// Start implements driver.Runtime.
func (h *keeperHost) Start(ctx context.Context, o driver.Options) (driver.Session, error) {
	s, err := h.host.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	h.late, h.context = o.Late, s.(*session)
	return keeperSession{h.context}, nil
}

// A keeperSession is the session of a keeper's context.
type keeperSession struct{ *session }

// Run implements driver.Session.
func (s keeperSession) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	ctx, cancel := kept.Watch(ctx, p)
	defer cancel()
	return s.session.Run(ctx, p, out)
}
