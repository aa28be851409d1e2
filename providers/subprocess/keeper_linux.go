package subprocess

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/signal"
	"strings"
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

	Languages []keeperLanguage

	// Of a context.
	Cwd string
	Env map[string]string
}

// A keeperLanguage is a language that was found.
type keeperLanguage struct {
	Language Language
	Kind     kind
	Path     string
	Boot     []byte
	Roots    []string
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
	_ = gob.NewEncoder(os.Stdout).Encode(kept.Answer(err))
	empty(1)
}

// empty closes a standard descriptor, which no other file is to get.
func empty(fd int) {
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		_ = unix.Dup3(int(null.Fd()), fd, 0)
		null.Close()
	}
}

// serve serves the context or the command of a key to its end. The error says why there is
// none.
func (o *keeperOrder) serve(ctx context.Context, key string) error {
	claim, err := o.Dir.Claim(key, time.Second)
	if err != nil {
		return err
	}
	defer claim.Close()
	h := &host{room: frames.NewRoom(), languages: map[string]*language{}, opts: o.Options}
	if err := h.open(func() error { return o.choose(h) }); err != nil {
		return err
	}
	rt := &keeperHost{host: h}
	config := h.config()
	config.Relay = true
	s := &kept.Server{Contexts: driver.NewStateful(rt, config), Spool: o.Options.Keep.Spool, Lease: o.Options.Keep.Lease}
	isContext := strings.HasPrefix(key, contextKey)
	if isContext {
		s.ID, err = s.Contexts.CreateContext(ctx, h.names[0], &codeinterp.ContextOptions{Cwd: o.Cwd, Env: o.Env})
	}
	var ln *net.UnixListener
	if err == nil {
		ln, err = claim.Listen(s.Lease)
	}
	if err != nil {
		return errors.Join(err, s.Contexts.Close())
	}
	if isContext {
		s.Late = rt.late
		s.Hello = kept.Hello{Language: h.names[0], Cwd: o.Cwd, Env: o.Env, Dir: rt.context.place.dir, Inside: rt.context.Cwd()}
	}
	answer(nil)
	s.Serve(ctx, ln)
	return nil
}

// choose gives the host the languages of the order.
func (o *keeperOrder) choose(h *host) (err error) {
	for _, of := range o.Languages {
		l := &language{Language: of.Language, path: of.Path, boot: of.Boot, roots: of.Roots}
		l.kind = of.Kind
		h.names, h.languages[l.Name] = append(h.names, l.Name), l
		err = errors.Join(err, l.show(h.sandbox))
	}
	return err
}

// A keeperHost is the runtime of a keeper, which has one context or one command.
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
	return s, nil
}
