package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
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

// DefaultTimeout bounds a run whose call does not set timeoutMs, unless the workspace's
// options do. Several hosts give up on a call after 60 seconds.
const DefaultTimeout = 45 * time.Second

// Options configures [New]. The zero value is ready to use.
type Options struct {
	// Name and Version are the server's. Empty means "toolcell" and the version of
	// this module.
	Name, Version string

	// Tools, if set, is called with the tools of the workspace and returns those to
	// serve, by New and by each [Server.Update]. Limits are about the workspace's.
	Tools func([]tools.Tool) []tools.Tool

	// Limits bound what each client gets.
	Limits Limits

	// KeepAlive is how often a call that asked for progress, and has no output, reports
	// some. Zero means five seconds; a negative value means never.
	KeepAlive time.Duration

	// Logger receives a line for each call and session and for refused requests, and
	// faults; never code or output. Nil discards them.
	Logger *slog.Logger
}

// A Server serves the tools of a workspace to MCP clients over any number of transports.
// It is safe for concurrent use. Create it with [New].
type Server struct {
	opts      Options
	base      []tools.Tool        // of the workspace
	scrub     func(string) string // secrets of the workspace
	clients   *clients
	mcp       *mcp.Server
	resources *resources
	requests  requests
	metrics   metrics

	updating sync.Mutex
	names    []string // of the tools that are served

	ctx  context.Context // ends with Close
	stop context.CancelCauseFunc

	mu       sync.Mutex
	draining bool // no new calls
	calls    sync.WaitGroup
	known    map[*mcp.ServerSession]*session
	watches  sync.WaitGroup // of sessions
}

var errServerClosed = errors.New("the server is shutting down")

// Run serves ws to one client over standard input and output until they end or ctx does.
func Run(ctx context.Context, ws *workspace.Workspace) error {
	s, err := New(ws, nil)
	if err != nil {
		return err
	}
	return s.ServeStream(ctx, os.Stdin, os.Stdout)
}

// New returns a server for ws, which stays the caller's and must outlive it. Runs of
// clients are in its event stream. opts may be nil.
func New(ws *workspace.Workspace, opts *Options) (*Server, error) {
	if ws == nil {
		return nil, fmt.Errorf("mcpserver: %w: no workspace", codeinterp.ErrInvalid)
	}
	s := &Server{scrub: ws.Scrub, known: map[*mcp.ServerSession]*session{}, resources: &resources{},
		metrics: metrics{calls: map[callKind]callCount{}, refused: map[string]int{}}}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.complete()
	s.clients = newClients(s.opts.Limits)
	var err error
	if s.base, err = s.front(ws); err != nil {
		return nil, err
	}
	list := s.tools()
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: s.opts.Name, Title: "Toolcell", Version: s.opts.Version}, &mcp.ServerOptions{
		Instructions: instructions(list, ws.Files() != nil),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}, Resources: &mcp.ResourceCapabilities{}},
	})
	s.mcp.AddReceivingMiddleware(onlyOurs, s.sessions, s.listResources)
	// Clients see no template without artifacts.
	s.resources.first = sync.OnceFunc(func() { s.mcp.AddResourceTemplate(template, s.readResource) })
	if err := s.serve(list); err != nil {
		s.stop(errServerClosed)
		return nil, err
	}
	return s, nil
}

func (o *Options) complete() {
	o.Name = cmp.Or(o.Name, "toolcell")
	o.Version = cmp.Or(o.Version, version())
	o.Limits = o.Limits.complete()
	o.KeepAlive = cmp.Or(o.KeepAlive, 5*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Update serves the tools that Options.Tools returns now, and notifies clients.
func (s *Server) Update() error { return s.serve(s.tools()) }

// tools returns the tools of the workspace as Options.Tools extends them.
func (s *Server) tools() []tools.Tool {
	list := slices.Clone(s.base)
	if s.opts.Tools != nil {
		list = s.opts.Tools(list)
	}
	return list
}

// front returns the tools of the workspace behind the clients and limits.
func (s *Server) front(ws *workspace.Workspace) ([]tools.Tool, error) {
	list, err := ws.Front(&workspace.FrontOptions{
		Namer: tools.Unprefixed, Timeout: DefaultTimeout,
		Middlewares: []codeinterp.Middleware{s.resources.middleware, s.clients.middleware, s.clients.total},
	})
	if err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	if ends := s.opts.Limits.describe(); ends != "" {
		for i := range list {
			if list[i].Op.Creates() {
				list[i].Description += "\n\n" + ends
			}
		}
	}
	return list, nil
}

// serve replaces the tools that are served.
func (s *Server) serve(list []tools.Tool) error {
	s.updating.Lock()
	defer s.updating.Unlock()
	set, err := tools.NewSet(list, nil)
	if err != nil {
		return fmt.Errorf("mcpserver: %w", err)
	}
	for _, t := range list {
		if err := addTool(s.mcp, definition(t), s.handler(set, t.Name)); err != nil {
			return fmt.Errorf("mcpserver: %w", err)
		}
	}
	for _, name := range s.names {
		if !slices.ContainsFunc(list, func(t tools.Tool) bool { return t.Name == name }) {
			s.mcp.RemoveTools(name)
		}
	}
	s.names = nil
	for _, t := range list {
		s.names = append(s.names, t.Name)
	}
	return nil
}

// instructions returns the description of the whole server.
func instructions(list []tools.Tool, files bool) string {
	var runs, creates, commands bool
	for _, t := range list {
		creates, commands = creates || t.Op.Creates(), commands || t.Op == codeinterp.OpCommand
		runs = runs || t.Op.Runs() && t.Op != codeinterp.OpCommand && t.Op != codeinterp.OpTerminal
	}
	var says []string
	if runs && creates {
		says = append(says, "Runs code. Use run_code for a program that stands alone, and a code context for work in several steps: its variables are kept from call to call.")
	} else if runs {
		says = append(says, "Runs code. Every call starts from nothing.")
	}
	if files {
		says = append(says, "Reads, searches and changes files.")
	}
	if commands {
		says = append(says, "Runs commands of a shell.")
	}
	return strings.Join(says, " ")
}

// onlyOurs refuses methods of features that the server does not have, some of which the SDK
// would answer.
func onlyOurs(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch feature, rest, _ := strings.Cut(method, "/"); {
		case feature == "prompts", feature == "completion", feature == "logging", feature == "resources" && strings.HasSuffix(rest, "subscribe"):
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("this server has no method %q", method)}
		}
		return next(ctx, method, req)
	}
}

// version is the version of this module in the program's build.
func version() string {
	const path = "github.com/toolcell/toolcell"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == path && m.Version != "" && m.Version != "(devel)" {
				return m.Version
			}
		}
	}
	return "devel"
}

// Drain refuses new calls and waits until those in progress have ended or ctx has.
func (s *Server) Drain(ctx context.Context) {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.calls.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Close ends every call and every session, deletes the contexts of clients, and returns
// when that is done. It does not close the workspace. It is idempotent.
func (s *Server) Close() error {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	busy := s.metrics.busy()
	s.stop(errServerClosed)
	s.calls.Wait()
	if busy { // the SDK writes the answers after the handlers have returned
		time.Sleep(flush)
	}
	var sessions sync.WaitGroup
	for session := range s.mcp.Sessions() {
		sessions.Go(func() { session.Close() })
	}
	s.clients.close()
	sessions.Wait()
	s.watches.Wait()
	return nil
}

// Connect serves one client over any transport of the SDK, such as one in memory. The
// session ends with the transport or the server.
func (s *Server) Connect(ctx context.Context, t mcp.Transport) (*mcp.ServerSession, error) {
	ss, err := s.mcp.Connect(ctx, t, nil)
	if err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	// A concurrent Close has not seen this session.
	if s.ctx.Err() != nil {
		ss.Close()
		return nil, fmt.Errorf("mcpserver: %w", errServerClosed)
	}
	return ss, nil
}
