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
)

const (
	// DefaultTimeout bounds a run whose call does not set timeoutMs. It is
	// below the 60 seconds after which several hosts give a call up.
	DefaultTimeout = 45 * time.Second

	// DefaultKeepAlive is how often a call that is silent shows life.
	DefaultKeepAlive = 5 * time.Second
)

// Options tunes [New]. The zero value is ready to use.
type Options struct {
	// Name and Version are what the server says it is. Empty means
	// "toolcell" and the version of this module.
	Name, Version string

	// Workspace gives the tools the long names
	// workspace__<Workspace>__run_code and so on. Empty means short names:
	// hosts put a prefix of their own in front.
	Workspace string

	// Code tunes the code tools. Its Namer, where Workspace is empty and it
	// has none, is [tools.Unprefixed], and its Timeout DefaultTimeout.
	Code tools.Options

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

// A Server serves an interpreter's tools to clients of the Model Context
// Protocol, over any number of transports at once. Create it with [New].
type Server struct {
	opts    Options
	set     *tools.Set
	clients *clients
	mcp     *mcp.Server

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

// New makes a server for ci, which stays the caller's and has to outlive it.
// opts may be nil.
func New(ci codeinterp.CodeInterpreter, opts *Options) (*Server, error) {
	if opts == nil {
		opts = &Options{}
	}
	s := &Server{
		opts:     *opts,
		known:    map[*mcp.ServerSession]*session{},
		carriers: map[string]*carrier{},
	}
	s.opts.complete()
	s.clients = newClients(s.opts.Limits)
	list, err := s.tools(codeinterp.Wrap(ci, s.clients.middleware, s.opts.Limits.total()))
	if err != nil {
		return nil, err
	}
	if s.set, err = tools.NewSet(list, &tools.SetOptions{RememberCalls: -1}); err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: s.opts.Name, Title: "Toolcell", Version: s.opts.Version}, &mcp.ServerOptions{
		Instructions: instructions(ci),
		Logger:       s.opts.Logger,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SetCacheable: cacheable,
	})
	s.mcp.AddReceivingMiddleware(toolsOnly, s.sessions)
	for _, t := range list {
		s.mcp.AddTool(definition(t), s.handler(t.Name))
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
	if o.Workspace == "" && o.Code.Namer == nil {
		o.Code.Namer = tools.Unprefixed
	}
	if o.Code.Timeout == 0 {
		o.Code.Timeout = DefaultTimeout
		if o.Code.MaxTimeout > 0 {
			o.Code.Timeout = min(o.Code.Timeout, o.Code.MaxTimeout)
		}
	}
}

// tools returns the code tools, with what becomes of contexts added to the
// descriptions, and the further ones, all of them wrapped.
func (s *Server) tools(ci codeinterp.CodeInterpreter) ([]tools.Tool, error) {
	list, err := tools.ForCode(s.opts.Workspace, ci, &s.opts.Code)
	if err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	ends, most := s.opts.Limits.describe()
	for i := range list {
		switch list[i].Name {
		case s.opts.toolName("create_code_context"):
			appendTo(&list[i].Description, ends, most)
		case s.opts.toolName("run_in_code_context"):
			appendTo(&list[i].Description, ends)
		}
	}
	list = slices.Concat(list, s.opts.More)
	if s.opts.Wrap != nil {
		list = s.opts.Wrap(list)
	}
	return list, nil
}

func appendTo(description *string, texts ...string) {
	for _, text := range texts {
		if text != "" {
			*description += "\n\n" + text
		}
	}
}

func (o *Options) toolName(op string) string {
	if o.Code.Namer != nil {
		return o.Code.Namer(o.Workspace, op)
	}
	return tools.Prefixed(o.Workspace, op)
}

// instructions is what the server says about itself as a whole.
func instructions(ci codeinterp.CodeInterpreter) string {
	if _, ok := codeinterp.Stateful(ci); ok {
		return "Runs code. Use run_code for a program that stands alone, and a code context for work in several steps: its variables are kept from call to call."
	}
	return "Runs code. Every call starts from nothing."
}

// toolsOnly refuses the methods of features that the server does not have. The
// SDK would answer some of them as if it had.
func toolsOnly(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch feature, _, _ := strings.Cut(method, "/"); feature {
		case "prompts", "resources", "completion", "logging":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("this server has no method %q", method)}
		}
		return next(ctx, method, req)
	}
}

// cacheable lets clients keep the list of tools, which never changes, and is
// the same for all of them.
func cacheable(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
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
// interpreter. It is idempotent.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop(errServerClosed)
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
	if s.ctx.Err() != nil {
		ss.Close()
		return nil, fmt.Errorf("mcpserver: %w", errServerClosed)
	}
	return ss, nil
}
