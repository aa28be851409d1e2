package subprocess

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/providers/subprocess/internal/kept"
)

const (
	maxLease     = 24 * time.Hour
	defaultSpool = 8 << 20

	// What keys begin with.
	contextKey = "context-"
	commandKey = "command-"
)

// A keepingHost is a host whose contexts and commands outlive it.
type keepingHost struct {
	*host
	Keep
	keepers keeper.Dir

	mu   sync.Mutex
	held map[*kept.Client]bool
}

// keeping returns the runtime of Options.Keep, h without it.
func (h *host) keeping() (driver.Runtime, error) {
	o := h.opts.Keep
	switch {
	case o == nil:
		return h, nil
	case o.Lease <= 0 || o.Lease > maxLease || o.Spool < 0:
		return nil, fmt.Errorf("%w: Keep.Lease is %v; it is more than 0 and at most %v", codeinterp.ErrInvalid, o.Lease, maxLease)
	case h.opts.Egress != nil || h.opts.Install != nil:
		return nil, fmt.Errorf("%w: Keep goes without Egress and Install, which end with the host", codeinterp.ErrInvalid)
	case o.Program == "" && !canKeep.Load():
		return nil, fmt.Errorf("%w: Keep needs RunKeeper first in main, or the Program of a toolcell command", codeinterp.ErrInvalid)
	case o.Program != "" && !filepath.IsAbs(o.Program):
		return nil, fmt.Errorf("%w: Keep.Program %q is not absolute", codeinterp.ErrInvalid, o.Program)
	}
	k := &keepingHost{host: h, Keep: *o, held: map[*kept.Client]bool{}}
	k.Spool = cmp.Or(o.Spool, defaultSpool)
	k.Program = cmp.Or(o.Program, "/proc/self/exe")
	var err error
	if k.keepers, err = keeper.Open(os.Getenv); err != nil {
		return nil, fmt.Errorf("%w: no place for keepers: %w", codeinterp.ErrUnavailable, err)
	}
	k.keepers.Keepers("co*-*") // sweeps
	return k, nil
}

// Describe implements driver.Runtime.
func (h *keepingHost) Describe() codeinterp.Info {
	info := h.host.Describe()
	for n := range info.Languages {
		l := &info.Languages[n]
		l.Functions, l.Input, l.Completion = false, false, false
	}
	info.Isolation.Reasons = append(info.Isolation.Reasons, fmt.Sprintf("contexts and kept commands outlive the host, for %v", h.Lease))
	return info
}

// Start implements driver.Runtime. It starts contexts below keepers.
func (h *keepingHost) Start(ctx context.Context, o driver.Options) (driver.Session, error) {
	if o.Once {
		return h.host.Start(ctx, o)
	}
	s := &keptContext{keptSession: h.session(contextKey + rand.Text()), lang: h.languages[o.Language], opts: o}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// KeepCommand implements driver.CommandKeeper. It starts commands below keepers.
func (h *keepingHost) KeepCommand(ctx context.Context, o codeinterp.CommandOptions) (driver.Session, error) {
	c := &keptCommand{keptSession: h.session(commandKey + rand.Text()), o: o}
	var err error
	if o.Kept.Ref == "" {
		err = h.startKeeper(ctx, c.Key, h.names, codeinterp.ContextOptions{})
	} else {
		c.Key, err = keyOf(o.Kept.Ref, commandKey)
	}
	if err == nil {
		err = c.hold(ctx)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Pause implements driver.Pauser.
func (h *keepingHost) Pause(ctx context.Context) error {
	err := h.host.Pause(ctx)
	if err == nil {
		if err = h.each(ctx, kept.Pause); err != nil {
			err = errors.Join(err, h.Resume(context.WithoutCancel(ctx)))
		}
	}
	return err
}

// Resume implements driver.Pauser.
func (h *keepingHost) Resume(ctx context.Context) error {
	return errors.Join(h.host.Resume(ctx), h.each(ctx, kept.EndPause))
}

// each asks every keeper for something.
func (h *keepingHost) each(ctx context.Context, op string) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.held {
		err = errors.Join(err, s.Call(ctx, op))
	}
	return err
}

// refPrefix begins references; what follows are a user's id and a key.
const refPrefix = "toolcell-keeper:"

func (s *keptSession) ref() codeinterp.Ref {
	return codeinterp.Ref(fmt.Sprintf("%s%d:%s", refPrefix, os.Geteuid(), s.Key))
}

// keyOf returns the key of a reference of ours, which has a prefix.
func keyOf(ref codeinterp.Ref, prefix string) (string, error) {
	rest, ok := strings.CutPrefix(string(ref), refPrefix)
	user, key, _ := strings.Cut(rest, ":")
	id, err := strconv.Atoi(user)
	switch {
	case !ok || err != nil || !strings.HasPrefix(key, prefix) || strings.ContainsAny(key, "/.*?[\\"):
		return "", fmt.Errorf("%w: not the reference of a %s", codeinterp.ErrInvalid, strings.TrimSuffix(prefix, "-"))
	case id != os.Geteuid():
		return "", fmt.Errorf("%w: it belongs to another user", codeinterp.ErrRefused)
	}
	return key, nil
}

// Refer implements driver.Attacher.
func (h *keepingHost) Refer(s driver.Session) (codeinterp.Ref, error) {
	return s.(*keptContext).ref(), nil
}

// Detach implements driver.Attacher. Late output is the keeper's.
func (h *keepingHost) Detach(ctx context.Context, of driver.Session, _ func() codeinterp.Result) (codeinterp.Ref, error) {
	s := of.(*keptContext)
	if err := s.Call(ctx, kept.Release); err != nil {
		return "", err
	}
	s.leave()
	return s.ref(), nil
}

// Attach implements driver.Attacher.
func (h *keepingHost) Attach(ctx context.Context, ref codeinterp.Ref, _ func(codeinterp.Output)) (driver.Attached, error) {
	key, err := keyOf(ref, contextKey)
	if err != nil {
		return driver.Attached{}, err
	}
	s := &keptContext{keptSession: h.session(key)}
	if err := s.open(ctx); err != nil {
		return driver.Attached{}, err
	}
	o := codeinterp.ContextOptions{Cwd: s.Hello.Cwd, Env: s.Hello.Env}
	if s.lang = h.languages[s.Hello.Language]; s.lang == nil {
		s.leave()
		return driver.Attached{}, fmt.Errorf("%w: %s", codeinterp.ErrLanguage, s.Hello.Language)
	}
	s.opts = driver.Options{ContextOptions: o, Language: s.lang.Name}
	return driver.Attached{Session: s, Language: s.lang.Name, Options: o, Empty: s.Hello.Empty}, nil
}

// startKeeper starts the keeper of a key, with languages, and returns when that is ready. o
// is a context's.
func (h *keepingHost) startKeeper(ctx context.Context, key string, languages []string, o codeinterp.ContextOptions) error {
	order := &keeperOrder{Dir: h.keepers, Options: h.opts, Cwd: o.Cwd, Env: o.Env}
	for _, name := range languages {
		l := h.languages[name]
		order.Languages = append(order.Languages, keeperLanguage{l.Language, l.kind, l.path, l.boot, l.roots})
	}
	order.Options.Keep, order.Options.Warm, order.Options.Languages = &h.Keep, nil, nil
	order.Options.Sandbox.Mode = h.sandbox.Mode()
	var in bytes.Buffer
	if err := json.NewEncoder(&in).Encode(order); err != nil {
		return fmt.Errorf("%w: the keeper's order: %w", codeinterp.ErrUnavailable, err)
	}
	cmd := exec.Command(h.Program)
	cmd.Args, cmd.Dir, cmd.Stdin = []string{keeperName, key}, "/", &in
	for _, name := range []string{"HOME", "PATH", "TMPDIR", "GOCOVERDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = keeper.Start(cmd)
	}
	if err != nil {
		return fmt.Errorf("%w: the keeper did not start: %w", codeinterp.ErrUnavailable, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	var r kept.Reply
	err = gob.NewDecoder(out).Decode(&r)
	go func() { _ = cmd.Wait() }()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%w: the keeper ended while it started", codeinterp.ErrUnavailable)
	}
	if r.Err != nil {
		return r.Err
	}
	return nil
}
