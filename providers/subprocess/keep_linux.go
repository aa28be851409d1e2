package subprocess

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/probecache"
	"github.com/toolcell/toolcell/providers/subprocess/internal/kept"
)

const (
	maxLease     = 24 * time.Hour
	defaultSpool = 8 << 20

	// What keys begin with.
	contextKey = "context-"
	commandKey = "command-"
	runKey     = "run-"

	// handshake is how long a shared keeper has to answer. One that starts does not.
	handshake = 200 * time.Millisecond

	patience = 5 * time.Second // for another keeper
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
	case h.opts.Forks:
		return nil, fmt.Errorf("%w: Keep goes without Forks: a keeper has one context", codeinterp.ErrInvalid)
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
	k.keepers.Keepers("*") // sweeps
	return k, nil
}

// Describe implements driver.Runtime.
func (h *keepingHost) Describe() codeinterp.Info {
	info := h.host.Describe()
	for n := range info.Languages {
		l := &info.Languages[n]
		l.Functions, l.Completion = false, false
	}
	if h.opts.Warm != nil {
		info.Pause = "" // runs of others would stop too
	}
	info.Isolation.Reasons = append(info.Isolation.Reasons, fmt.Sprintf("contexts and kept commands outlive the host, for %v", h.Lease))
	return info
}

// Start implements driver.Runtime. It starts contexts below keepers.
func (h *keepingHost) Start(ctx context.Context, o driver.Options) (driver.Session, error) {
	if o.Once {
		if s := h.single(ctx, h.languages[o.Language]); s != nil {
			return s, nil
		}
		return h.host.Start(ctx, o)
	}
	s := &keptContext{keptSession: h.session(contextKey + rand.Text()), lang: h.languages[o.Language], opts: o.ContextOptions}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// single returns a session of the keeper that runs programs for all hosts with these
// options. It is nil without Options.Warm, and if no keeper is ready; it starts one then.
func (h *keepingHost) single(ctx context.Context, l *language) *keptRun {
	if h.opts.Warm == nil || l.Driver == nil {
		return nil
	}
	order := h.order([]string{l.Name}, codeinterp.ContextOptions{})
	order.Options.Warm = h.opts.Warm
	text, err := json.Marshal([]any{order.Options, order.Spool, l.Language, h.stamps(l)})
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(text)
	s := &keptRun{keptSession: h.session(runKey + hex.EncodeToString(sum[:12]))}
	ctx, cancel := context.WithTimeout(ctx, handshake)
	defer cancel()
	if err = s.attach(ctx); err == nil {
		return s
	}
	if errors.Is(err, codeinterp.ErrContext) { // there is none
		if conn, _, err := s.launch(order); err == nil {
			conn.Close()
		}
	}
	return nil
}

// stamps change when what a shared keeper has opened, imported or from its host does.
func (h *keepingHost) stamps(l *language) (list []string) {
	nice, _ := unix.Getpriority(unix.PRIO_PROCESS, 0)
	list = append(list, probecache.Machine(), fmt.Sprint(nice))
	for _, path := range append([]string{h.Program, l.Path}, l.Files...) {
		list = append(list, path, probecache.Stamp(path))
	}
	for _, path := range slices.Concat(h.opts.ReadOnly, h.opts.Writable, []string{h.opts.Dir}) {
		var st unix.Stat_t
		_ = unix.Stat(path, &st) // the run reports what is missing
		list = append(list, fmt.Sprint(st.Dev, st.Ino))
	}
	return list
}

// KeepCommand implements driver.CommandKeeper. It starts commands below keepers.
func (h *keepingHost) KeepCommand(ctx context.Context, o codeinterp.CommandOptions) (driver.Session, error) {
	c := &keptCommand{h.session(commandKey + rand.Text()), o}
	var err error
	if o.Kept.Ref == "" {
		err = c.start(ctx, h.order(h.names, codeinterp.ContextOptions{}))
	} else if c.key, err = keyOf(o.Kept.Ref, commandKey); err == nil {
		err = c.attach(ctx)
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
		err = errors.Join(err, s.Ask(ctx, &kept.Request{Op: op}))
	}
	return err
}

// refPrefix begins references; what follows are a user's id and a key.
const refPrefix = "toolcell-keeper:"

func (s *keptSession) ref() codeinterp.Ref {
	return codeinterp.Ref(fmt.Sprintf("%s%d:%s", refPrefix, os.Geteuid(), s.key))
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
func (h *keepingHost) Detach(ctx context.Context, of driver.Session, _ func() bool) (codeinterp.Ref, error) {
	s := of.(*keptContext)
	if err := s.Ask(ctx, &kept.Request{Op: kept.Release}); err != nil {
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
	if err = s.attach(ctx); err != nil {
		return driver.Attached{}, err
	}
	s.opts, s.lang = s.Hello.Context, h.languages[s.Hello.Language]
	if err = s.open(); err == nil && s.lang == nil {
		err = fmt.Errorf("%w: %s", codeinterp.ErrLanguage, s.Hello.Language)
		s.leave()
	}
	if err != nil {
		return driver.Attached{}, err
	}
	return driver.Attached{Session: s, Language: s.lang.Name, Options: s.opts, Empty: s.Hello.Empty}, nil
}

// order returns the order of a keeper with languages. o is a context's.
func (h *keepingHost) order(languages []string, o codeinterp.ContextOptions) keeperOrder {
	order := keeperOrder{Dir: h.keepers, Options: h.opts, Spool: h.Spool, Cwd: o.Cwd, Env: o.Env}
	for _, name := range languages {
		l := h.languages[name]
		order.Languages = append(order.Languages, keeperLanguage{l.Language, l.kind, l.knownLanguage})
	}
	order.Options.Keep, order.Options.Warm, order.Options.Languages = nil, nil, nil
	order.Options.Sandbox.Mode = h.sandbox.Mode()
	return order
}
