package mcptools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/codemode"
	"github.com/toolcell/toolcell/tools/secret"
)

// Defaults of [Options].
const (
	DefaultTimeout = 5 * time.Minute
	DefaultWait    = 5 * time.Second

	startTimeout = time.Minute // of a server, with the list of its tools
)

// A Server is an MCP server: either Command or URL is set.
type Server struct {
	// Name and an underscore are put before the names of its tools. It may be empty if
	// there is one server.
	Name string

	// Command is started with Args in Dir and speaks over its standard input and
	// output. Env is added to the few variables that every server gets.
	Command string
	Args    []string
	Env     map[string]string
	Dir     string

	// URL is the address of a server over streamable HTTP. Headers are sent with each
	// request to its host.
	URL     string
	Headers map[string]string

	// Rules say how its tools may be called, by the names that the server uses.
	// Programs may call tools without a rule.
	Rules map[string]Rule

	transport func(stray func([]byte)) (t mcp.Transport, end func(), err error) // for tests
}

// A Rule says who may call a tool; its fields are those of [codemode.Entry].
type Rule struct {
	Direct, Hidden bool
	Reason         string
}

// Options configures [Open]. The zero value is ready to use.
type Options struct {
	// Timeout bounds each call of a tool. Zero means DefaultTimeout; a negative value
	// leaves only the bound of the run.
	Timeout time.Duration

	// Wait is how long Open waits for the servers. The tools of slower ones are added
	// later. Zero means DefaultWait.
	Wait time.Duration

	// Secrets are replaced in all that servers list and answer. Nil means none.
	Secrets *secret.Scrubber

	// Stderr receives the standard error of servers. Nil discards it.
	Stderr io.Writer

	// Logger records faults of servers, and the first line that each prints beside the
	// protocol. Nil discards them.
	Logger *slog.Logger

	grace time.Duration // for a process to end; zero means 2 seconds
}

// A Set is a group of servers. It is safe for concurrent use.
type Set struct {
	opts    Options
	ctx     context.Context // ends with Close
	stop    context.CancelCauseFunc
	servers []*server
	work    sync.WaitGroup

	closed    sync.Once
	mu        sync.Mutex
	onChange  func([]codemode.Entry)
	reporting sync.Mutex // serializes calls of onChange
}

var errClosed = fmt.Errorf("%w: the servers were closed", codeinterp.ErrClosed)

// Open connects to all servers in parallel and lists their tools. A server that fails or
// is slow is not an error; see [Set.Problems]. ctx bounds Open only. opts may be nil.
func Open(ctx context.Context, servers []Server, opts *Options) (*Set, error) {
	if err := check(servers); err != nil {
		return nil, err
	}
	s := &Set{}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Timeout = cmp.Or(s.opts.Timeout, DefaultTimeout)
	s.opts.Wait = cmp.Or(s.opts.Wait, DefaultWait)
	s.opts.grace = cmp.Or(s.opts.grace, 2*time.Second)
	if s.opts.Logger == nil {
		s.opts.Logger = slog.New(slog.DiscardHandler)
	}
	s.ctx, s.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	var tried []<-chan struct{}
	for i, prefix := range prefixes(servers) {
		one := newServer(servers[i], prefix, s)
		s.servers, tried = append(s.servers, one), append(tried, one.tried)
		s.work.Go(one.follow)
	}
	wait, cancel := context.WithTimeout(ctx, s.opts.Wait)
	defer cancel()
	for i, one := range s.servers {
		select {
		case <-tried[i]:
		case <-wait.Done():
			one.slow(s.opts.Wait)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func check(servers []Server) error {
	seen := map[string]bool{}
	for _, c := range servers {
		switch {
		case (c.Command == "") == (c.URL == "") && c.transport == nil:
			return fmt.Errorf("mcptools: %w: server %.80q must have either a command or a URL", codeinterp.ErrInvalid, c.Name)
		case c.Name == "" && len(servers) > 1 || seen[c.Name]:
			return fmt.Errorf("mcptools: %w: the server name %.80q is empty or used twice", codeinterp.ErrInvalid, c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

// OnChange calls fn with all entries now, and again whenever the tools of a server have
// changed, one call at a time. fn must not call Close.
func (s *Set) OnChange(fn func([]codemode.Entry)) {
	s.mu.Lock()
	s.onChange = fn
	s.mu.Unlock()
	s.changed()
}

func (s *Set) changed() {
	// Locked before the entries are read: the last call has the newest list.
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.mu.Lock()
	fn := s.onChange
	s.mu.Unlock()
	if fn != nil && s.ctx.Err() == nil {
		fn(s.Entries())
	}
}

// Problems returns what is wrong with the servers now: those that cannot be reached, and
// tools that were left out. The errors may contain commands and URLs.
func (s *Set) Problems() (list []error) {
	for _, one := range s.servers {
		one.mu.Lock()
		for _, err := range one.problems {
			list = append(list, fmt.Errorf("server %s: %w", one.Name, err))
		}
		one.mu.Unlock()
	}
	return list
}

// How long Retry waits for a server that was away, and for one that is still starting.
const (
	retryWait = 500 * time.Millisecond
	startWait = 30 * time.Second
)

// Retry tries to connect to servers that are away, unless they failed within the last
// second, and waits up to half a second for each. It waits up to 30 seconds for one that
// is still starting if code, the program that is about to run, names its tools. It is for
// [codemode.Options].OnRun.
func (s *Set) Retry(ctx context.Context, code string) {
	for _, one := range s.servers {
		tried, wait := one.retry(code)
		if tried == nil {
			continue
		}
		select {
		case <-tried:
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
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

// Close ends all sessions and the processes that were started for them, and waits for
// them. It is idempotent.
func (s *Set) Close() error {
	s.closed.Do(func() {
		s.stop(errClosed)
		s.work.Wait()
	})
	return nil
}
