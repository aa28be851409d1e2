package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

const (
	// DefaultTimeout bounds a run whose call does not set timeoutMs, where the
	// workspace's options do not say. It is below the 60 seconds after which
	// several hosts give a call up.
	DefaultTimeout = 45 * time.Second

	// DefaultKeepAlive is how often a call that is silent shows life.
	DefaultKeepAlive = 5 * time.Second
)

// Options tunes [New]. The zero value is ready to use.
type Options struct {
	// Name and Version are what the server says it is. Empty means
	// "toolcell" and the version of this module.
	Name, Version string

	// LongNames names the tools workspace__<name>__run_code and so on. Else
	// they have short names, since hosts put a prefix of their own in front.
	// Where the workspace's options have a Namer, that decides.
	LongNames bool

	// More are further tools to serve. What they do, and for whom, is their
	// own business: Limits are about the code tools.
	More []tools.Tool

	// Wrap, if set, is given all tools and returns those to serve in their
	// place, as oteltools.Tools does to trace their calls.
	Wrap func([]tools.Tool) []tools.Tool

	// Limits says how much each client gets.
	Limits Limits

	// KeepAlive is how often a call that asked for progress, and has nothing
	// to tell, is sent some. Zero means DefaultKeepAlive; negative never.
	KeepAlive time.Duration

	// Logger sees sessions and faults, never code or output. Nil is silent.
	Logger *slog.Logger
}

// A Server serves a workspace's tools to clients of the Model Context
// Protocol, over any number of transports at once. Create it with [New].
type Server struct {
	opts    Options
	set     *tools.Set
	scrub   func(string) string // secrets of the workspace
	clients *clients
	mcp     *mcp.Server

	resources *resources

	ctx  context.Context // ends with Close
	stop context.CancelCauseFunc

	mu       sync.Mutex
	closed   bool
	calls    sync.WaitGroup
	known    map[*mcp.ServerSession]*session
	carriers map[string]*carrier
	watches  sync.WaitGroup // of sessions
}

var errServerClosed = errors.New("the server is shutting down")

// New makes a server for ws, which stays the caller's and has to outlive it.
// What clients run is in its event stream. opts may be nil.
func New(ws *workspace.Workspace, opts *Options) (*Server, error) {
	if ws == nil {
		return nil, fmt.Errorf("mcpserver: %w: no workspace", codeinterp.ErrInvalid)
	}
	if opts == nil {
		opts = &Options{}
	}
	s := &Server{
		opts:     *opts,
		scrub:    ws.Scrub,
		known:    map[*mcp.ServerSession]*session{},
		carriers: map[string]*carrier{},

		resources: newResources(),
	}
	s.opts.complete()
	s.clients = newClients(s.opts.Limits)
	list, err := s.tools(ws)
	if err != nil {
		return nil, err
	}
	// Ids of JSON-RPC are unique on one connection only: remembered, they would
	// give one client the answer of another.
	if s.set, err = tools.NewSet(list, nil); err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: s.opts.Name, Title: "Toolcell", Version: s.opts.Version}, &mcp.ServerOptions{
		Instructions: instructions(list, ws.Files() != nil),
		Logger:       s.opts.Logger,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}},
		SetCacheable: cacheable,
	})
	s.mcp.AddReceivingMiddleware(s.answers, onlyOurs, s.sessions, s.listResources)
	s.mcp.AddResourceTemplate(template, s.readResource)
	for _, t := range list {
		if err := addTool(s.mcp, definition(t), s.handler(t.Name)); err != nil {
			s.stop(errServerClosed)
			return nil, fmt.Errorf("mcpserver: %w", err)
		}
	}
	return s, nil
}

func (o *Options) complete() {
	o.Name = cmp.Or(o.Name, "toolcell")
	o.Version = cmp.Or(o.Version, version())
	o.Limits = o.Limits.complete()
	o.KeepAlive = cmp.Or(o.KeepAlive, DefaultKeepAlive)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// tools returns the code tools, with what becomes of contexts added to the
// descriptions, and the further ones, all of them wrapped.
func (s *Server) tools(ws *workspace.Workspace) ([]tools.Tool, error) {
	front := workspace.FrontOptions{
		Namer: tools.Unprefixed, Timeout: DefaultTimeout,
		Middlewares: []codeinterp.Middleware{s.resources.middleware, s.clients.middleware, s.opts.Limits.total()},
	}
	if s.opts.LongNames {
		front.Namer = tools.Prefixed
	}
	list, err := ws.Front(front)
	if err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	if ends := s.opts.Limits.describe(); ends != "" {
		for i := range list {
			if op := list[i].Op; op.Creates() || op == codeinterp.OpRunIn {
				list[i].Description += "\n\n" + ends
			}
		}
	}
	list = slices.Concat(list, s.opts.More)
	if s.opts.Wrap != nil {
		list = s.opts.Wrap(list)
	}
	return list, nil
}

// instructions is what the server says about itself as a whole.
func instructions(list []tools.Tool, files bool) string {
	has := func(what func(tools.Tool) bool) bool { return slices.ContainsFunc(list, what) }
	var says []string
	if has(func(t tools.Tool) bool { return t.Op.Runs() && t.Op != codeinterp.OpCommand }) {
		if has(func(t tools.Tool) bool { return t.Op.Creates() }) {
			says = append(says, "Runs code. Use run_code for a program that stands alone, and a code context for work in several steps: its variables are kept from call to call.")
		} else {
			says = append(says, "Runs code. Every call starts from nothing.")
		}
	}
	if files {
		says = append(says, "Reads, searches and changes files.")
	}
	if has(func(t tools.Tool) bool { return t.Op == codeinterp.OpCommand }) {
		says = append(says, "Runs commands of a shell.")
	}
	return strings.Join(says, " ")
}

// onlyOurs refuses the methods of features that the server does not have. The
// SDK would answer some of them as if it had.
func onlyOurs(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch feature, rest, _ := strings.Cut(method, "/"); {
		case feature == "prompts", feature == "completion", feature == "logging", feature == "resources" && strings.HasSuffix(rest, "subscribe"):
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("this server has no method %q", method)}
		}
		return next(ctx, method, req)
	}
}

// cacheable lets clients keep the list of tools, which never changes, and is
// the same for all of them; resources are a client's own.
func cacheable(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
	switch req.GetParams().(type) {
	case *mcp.ListResourcesParams, *mcp.ReadResourceParams:
		c.TTLMs, c.CacheScope = 0, "private"
		return
	}
	c.TTLMs = int((5 * time.Minute).Milliseconds())
	c.CacheScope = "public"
}

// version is the version of this module in the program's build.
func version() string {
	const path = "github.com/toolcell/toolcell"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == path && m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return "devel"
}

// Close ends every call and every session, deletes the contexts that clients
// made, and returns when all of that is done. It does not close the
// workspace. It is idempotent.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop(errServerClosed)
	// Before the sessions are closed, by which the answers go out.
	s.calls.Wait()
	var sessions sync.WaitGroup
	for session := range s.mcp.Sessions() {
		sessions.Go(func() { session.Close() })
	}
	s.clients.close()
	sessions.Wait()
	s.watches.Wait()
	return nil
}

// Connect serves one client over any transport of the SDK, such as one in
// memory. The session ends with the transport or the server.
func (s *Server) Connect(ctx context.Context, t mcp.Transport) (*mcp.ServerSession, error) {
	ss, err := s.mcp.Connect(ctx, t, nil)
	if err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	// A Close in the meantime has not seen this session.
	if s.ctx.Err() != nil {
		ss.Close()
		return nil, fmt.Errorf("mcpserver: %w", errServerClosed)
	}
	return ss, nil
}
