package subprocess

import (
	"context"
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
	Options Options // with the mode that was found, without Languages and Keep
	Spool   int

	Languages []keeperLanguage

	// Of a context.
	Cwd string
	Env map[string]string
}

// A keeperLanguage is a language that was found.
type keeperLanguage struct {
	Language Language
	Kind     kind
	Known    knownLanguage
}

// runKeeper runs a keeper if this process is one.
func runKeeper() {
	if len(os.Args) < 2 || os.Args[0] != keeperName {
		return
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	socket, err := net.FileConn(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	if null, err := os.Open(os.DevNull); err == nil {
		_ = unix.Dup3(int(null.Fd()), 0, 0) // no program is to get the socket
		null.Close()
	}
	c := kept.NewConn(socket.(*net.UnixConn))
	q, err := c.Read()
	o := &keeperOrder{}
	if err == nil {
		err = json.Unmarshal(q.Order, o)
	}
	if err == nil {
		err = o.serve(ctx, os.Args[1], c, q)
	}
	if err != nil {
		c.Answer(q, kept.Answer(err))
	}
	os.Exit(0)
}

// serve serves what a key names to its end. The error says why there is nothing.
func (o *keeperOrder) serve(ctx context.Context, key string, c *kept.Conn, q *kept.Request) error {
	ln, err := o.Dir.Listen(key, time.Second)
	if err != nil {
		return err
	}
	defer o.Dir.Keepers(key) // removes the socket
	defer ln.Close()
	h := &host{room: frames.NewRoom(), languages: map[string]*language{}, opts: o.Options}
	choose := func() error {
		context.AfterFunc(ctx, h.cancel) // which ends imports
		return o.choose(h)
	}
	if err := h.open(choose); err != nil {
		return err
	}
	config := h.config()
	config.Relay = true
	s := &kept.Server{Contexts: driver.NewStateful(h, config), Spool: o.Spool, Shared: strings.HasPrefix(key, runKey)}
	of := codeinterp.ContextOptions{Cwd: o.Cwd, Env: o.Env}
	s.Hello = kept.Hello{Language: h.names[0], Context: of}
	if strings.HasPrefix(key, contextKey) {
		s.ID, err = s.Contexts.CreateContext(ctx, h.names[0], &of)
		if err == nil {
			err = s.Contexts.BetweenRuns(ctx, "keep", s.ID, func(of driver.Session) error {
				c := of.(*session)
				s.Late, s.Hello.Dir, s.Hello.Inside = c.place.late, c.place.dir, c.Cwd()
				return nil
			})
		}
		if err != nil {
			return errors.Join(err, s.Contexts.Close())
		}
	}
	s.Serve(ctx, ln, c, q)
	return nil
}

// choose gives the host the languages of the order.
func (o *keeperOrder) choose(h *host) error {
	for _, of := range o.Languages {
		l := &language{Language: of.Language, knownLanguage: of.Known}
		l.kind = of.Kind
		h.names, h.languages[l.Name] = append(h.names, l.Name), l
		if err := l.show(h.sandbox); err != nil {
			return err
		}
	}
	return nil
}
