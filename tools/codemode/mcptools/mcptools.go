package mcptools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/codemode"
	"github.com/toolcell/toolcell/tools/secret"
)

// Defaults of [Options].
const (
	DefaultTimeout      = 5 * time.Minute
	DefaultStartTimeout = time.Minute
)

// A Server is an MCP server: a Command, a URL or a Session.
type Server struct {
	// Name is put before the names of its tools, with an underscore; with two
	// where another server's Name begins with it, so that no tool ever takes
	// another server's name. It may be empty where there is one server.
	Name string

	// Command is started with Args in Dir, and speaks on its standard input
	// and output. Env is added to the few variables that it has anyway.
	Command string
	Args    []string
	Env     map[string]string
	Dir     string

	// URL is that of a server over streamable HTTP, or with SSE over the
	// older transport of that name. Headers are sent with each request to its
	// host.
	URL     string
	Headers map[string]string
	SSE     bool

	// Session is one that is open. It stays the caller's, and is not opened
	// again when it ends.
	Session *mcp.ClientSession

	// Rules say how its tools may be called, by the names that the server
	// gives them. Programs may call those of which there is nothing.
	Rules map[string]Rule
}

// A Rule says how a tool may be called; see [codemode.Entry].
type Rule struct {
	Use       codemode.Use
	Reason    string
	Exclusive []string
}

// Options tunes [Open]. The zero value is ready to use.
type Options struct {
	// Timeout bounds each call of a tool. Zero means DefaultTimeout, negative
	// no bound but the run's.
	Timeout time.Duration

	// StartTimeout bounds the start of a server until it has listed its tools.
	// Zero means DefaultStartTimeout.
	StartTimeout time.Duration

	// Secrets are replaced in all that servers answer. Nil means none.
	Secrets *secret.Scrubber

	// Stderr gets what servers print there. Nil means nobody does.
	Stderr io.Writer

	// Logger sees what becomes of servers, with all that is known of faults.
	// Nil is silent.
	Logger *slog.Logger
}

// A Set is a number of servers. It is safe for concurrent use.
type Set struct {
	opts    Options
	ctx     context.Context // ends with Close
	stop    context.CancelCauseFunc
	servers []*server
	work    sync.WaitGroup
	room    room

	closed   sync.Once
	mu       sync.Mutex
	onChange func([]codemode.Entry)
	telling  sync.Mutex // held while onChange is called
}

var errClosed = fmt.Errorf("%w: the servers were closed", codeinterp.ErrClosed)

// Open connects to all servers at once and lists their tools. A server that fails
// is no error; see [Set.Problems]. ctx bounds the call only. opts may be nil.
func Open(ctx context.Context, servers []Server, opts *Options) (*Set, error) {
	if err := check(servers); err != nil {
		return nil, err
	}
	s := &Set{}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Timeout = cmp.Or(s.opts.Timeout, DefaultTimeout)
	s.opts.StartTimeout = cmp.Or(s.opts.StartTimeout, DefaultStartTimeout)
	if s.opts.Logger == nil {
		s.opts.Logger = slog.New(slog.DiscardHandler)
	}
	// ctx bounds the opening; the set lives until Close.
	s.ctx, s.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	var starts sync.WaitGroup
	before := prefixes(servers)
	for i, config := range servers {
		one := &server{Server: config, prefix: before[i], set: s, dirty: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
		s.servers = append(s.servers, one)
		starts.Go(func() { one.start(ctx) })
	}
	starts.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for _, one := range s.servers {
		s.work.Go(one.follow)
	}
	return s, nil
}

func check(servers []Server) error {
	seen := map[string]bool{}
	for _, c := range servers {
		ways := 0
		for _, is := range []bool{c.Command != "", c.URL != "", c.Session != nil} {
			if is {
				ways++
			}
		}
		switch {
		case ways != 1:
			return fmt.Errorf("mcptools: %w: server %.80q has to have one of a command, a URL and a session", codeinterp.ErrInvalid, c.Name)
		case c.Name == "" && len(servers) > 1 || seen[c.Name]:
			return fmt.Errorf("mcptools: %w: several servers, and the name %.80q is not for one", codeinterp.ErrInvalid, c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

// OnChange has fn called with all entries whenever the tools of a server have
// changed, from now on, one call at a time; it must not call Close.
func (s *Set) OnChange(fn func([]codemode.Entry)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onChange = fn
}

func (s *Set) changed() {
	// Held from before the entries are read, so that the last list told is the
	// newest.
	s.telling.Lock()
	defer s.telling.Unlock()
	s.mu.Lock()
	fn := s.onChange
	s.mu.Unlock()
	if fn != nil && s.ctx.Err() == nil {
		fn(s.Entries())
	}
}

// Problems are what is wrong with the servers now: those that cannot be reached,
// tools that were left out, and output that is none of the protocol. They may tell of
// commands and URLs.
func (s *Set) Problems() (list []error) {
	for _, one := range s.servers {
		one.mu.Lock()
		for _, err := range one.problems {
			list = append(list, fmt.Errorf("server %s: %w", one.Name, err))
		}
		if one.strays != nil {
			if err := one.strays.problem(); err != nil {
				list = append(list, fmt.Errorf("server %s: %w", one.Name, err))
			}
		}
		one.mu.Unlock()
	}
	return list
}

// Refresh lists the tools of all servers again, as where a Session does not tell
// of changes.
func (s *Set) Refresh(ctx context.Context) error {
	var errs []error
	for _, one := range s.servers {
		errs = append(errs, one.refresh(ctx))
	}
	s.changed()
	return errors.Join(errs...)
}

// Entries returns the tools of all servers, as they are now.
func (s *Set) Entries() []codemode.Entry {
	n := newNames()
	var all []codemode.Entry
	for _, one := range s.servers {
		one.mu.Lock()
		list := one.list
		one.mu.Unlock()
		if room := maxTools - len(all); len(list) > room {
			list = list[:max(room, 0)]
			s.opts.Logger.Warn("too many tools", "server", one.Name, "kept", len(list))
		}
		for _, t := range list {
			all = append(all, one.entry(t, n))
		}
		if len(list) == 0 {
			all = append(all, one.absent(n))
		}
	}
	return all
}

// Close ends all sessions and the processes that were started for them, and waits
// for that. It is idempotent.
func (s *Set) Close() error {
	s.closed.Do(func() { // which a second call waits for
		s.stop(errClosed)
		for _, one := range s.servers {
			s.work.Go(one.close)
		}
		s.work.Wait()
	})
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
