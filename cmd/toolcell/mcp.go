package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

type mcpFlags struct {
	providerFlags
	directory  directoryFlags
	stateless  bool
	manage     bool
	artifacts  bool
	readOutput bool
	only       []string
	tools      string
	http       string
	hosts      []string
	origins    []string
	timeout    time.Duration
	maxTimeout time.Duration
	limits     mcpserver.Limits
	operation  operationFlags
	idlePause  time.Duration

	gateway *gateway // of tools
}

func (f *mcpFlags) registerAll(fs *pflag.FlagSet, getenv func(string) string) {
	group(fs, "Tools", "", func() {
		fs.StringSliceVar(&f.only, "languages", nil, "offer only these `languages`, such as python,bash")
		f.directory.register(fs)
		fs.StringVar(&f.tools, "tools", "", "connect to the MCP servers of this `file` ({\"mcpServers\": {...}}) and serve one tool that runs programs which call theirs")
		fs.BoolVar(&f.stateless, "stateless", false, "offer no code contexts: every run starts empty")
		fs.BoolVar(&f.manage, "manage", false, "also offer to list, restart and interrupt code contexts")
		fs.BoolVar(&f.forks, "fork", false, "also offer to copy code contexts of Python: those of the embedded engine, or processes without bubblewrap")
		fs.BoolVar(&f.artifacts, "artifacts", false, "name the files that a program created or changed in its answer; with jupyter in Python only")
		fs.BoolVar(&f.readOutput, "read-output", false, "also offer to read long output page by page")
	})
	group(fs, "HTTP", "", func() {
		fs.StringVar(&f.http, "http", "", "serve HTTP at /mcp of this `address`, such as :8080; without a host only this machine can connect")
		fs.Func("http-host", "accept this host `name`, such as that of a proxy; repeatable", each(&f.hosts))
		fs.Func("http-origin", "accept web pages of this `origin`, such as https://app.example; repeatable", each(&f.origins))
		f.operation.registerHTTP(fs)
	})
	group(fs, "Operation", "", func() { f.operation.register(fs) })
	group(fs, "Limits of runs and contexts", "", func() {
		fs.DurationVar(&f.timeout, "timeout", mcpserver.DefaultTimeout, "end a run after this `duration` if it asks for no other")
		fs.DurationVar(&f.maxTimeout, "max-timeout", tools.DefaultMaxTimeout, "the longest `duration` that a run may ask for")
		fs.IntVar(&f.limits.Contexts, "max-contexts", mcpserver.DefaultContexts, "the `number` of contexts of one client, 0 for no limit")
		fs.DurationVar(&f.limits.Idle, "context-idle", mcpserver.DefaultIdle, "delete a context that was not used for this `duration`, 0 for never")
	})
	group(fs, "Limits of runs and contexts", "subprocess", func() {
		fs.DurationVar(&f.idlePause, "idle-pause", 0, "stop all processes when nothing ran for this `duration`, until the next call")
	})
	f.register(fs, getenv)
}

// mcpCommand serves the tools.
func (a *app) mcpCommand() *cobra.Command {
	f := &mcpFlags{}
	c := a.command("mcp [flags]", "Serve the tools over MCP", f.registerAll,
		func(ctx context.Context, fs *pflag.FlagSet, _ []string) int { return a.mcp(ctx, f, fs) })
	c.Example = `  toolcell mcp --dir . --with pandas
  toolcell mcp --http :8080 --languages python

--http also serves /healthz and /readyz, and with a token /metrics. To operate a server, see
docs/operate.md, or https://github.com/toolcell/toolcell/blob/main/docs/operate.md`
	return c
}

// mcp serves the tools until standard input ends, or a signal comes.
func (a *app) mcp(ctx context.Context, f *mcpFlags, fs *pflag.FlagSet) int {
	if err := f.check(fs); err != nil {
		return a.usageError("%s", plain(err))
	}
	if len(f.only) > 0 {
		f.language = f.only[0]
	}
	if err := f.choose(fs); err != nil {
		return a.usageError("%s", plain(err))
	}
	f.progress = a.progress
	caps, err := f.directory.open(ctx, &f.providerFlags, !f.stateless)
	if err != nil && ctx.Err() != nil {
		return 0
	} else if err != nil {
		return a.refuse(ctx, f, err)
	}
	if f.tools != "" {
		if f.gateway, err = a.openGateway(ctx, f, caps.Code); err != nil {
			caps.Code.Close()
			return a.refuse(ctx, f, err)
		}
		defer f.gateway.set.Close()
		caps.Code = f.gateway.mode.Interpreter() // closes the former one
	}
	if err := a.serveTools(ctx, f, caps); err != nil {
		return a.fail(err)
	}
	return 0
}

// refuse is fail that also answers the client on standard input with the reason.
func (a *app) refuse(ctx context.Context, f *mcpFlags, err error) int {
	code := a.fail(err)
	if in, ok := a.stdin.(*os.File); f.http == "" && !(ok && isatty.IsTerminal(in.Fd())) {
		mcpserver.Refuse(ctx, a.stdin, a.stdout, errors.New(plain(err)))
	}
	return code
}

// serveTools serves the tools of caps, and closes it.
func (a *app) serveTools(ctx context.Context, f *mcpFlags, caps workspace.Capabilities) (err error) {
	caps.Declared = workspace.Declaration{}
	if caps.Code, err = f.narrow(caps.Code); err != nil {
		return errors.Join(err, caps.Code.Close())
	}
	ws, err := workspace.New("toolcell", caps, &workspace.Options{Tools: f.toolOptions(), IdlePause: max(f.idlePause, 0), AutoResume: f.idlePause > 0})
	if err != nil {
		return errors.Join(err, caps.Code.Close())
	}
	defer ws.Close()
	server, err := mcpserver.New(ws, f.options(a))
	if err != nil {
		return err
	}
	if f.gateway != nil {
		f.gateway.server.Store(server)
		server.Update() // the tools may have changed since New
	}
	return a.serve(ctx, server, f)
}

func (f *mcpFlags) toolOptions() tools.Options {
	o := tools.Options{Timeout: f.timeout, MaxTimeout: f.maxTimeout, ManageContexts: f.manage, ForkContexts: f.forks, ReadOutput: f.readOutput, Artifacts: f.artifacts, Background: f.directory.background, Terminals: f.directory.terminals}
	if f.gateway != nil {
		o.Secrets = f.gateway.secrets
	}
	return o
}

// narrow returns ci with the languages of --languages, all of it without that.
func (f *mcpFlags) narrow(ci codeinterp.CodeInterpreter) (codeinterp.CodeInterpreter, error) {
	var languages []string
	for _, name := range f.only {
		language, err := codeinterp.ResolveLanguage(name, ci.Languages())
		if err != nil {
			return ci, fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
		}
		languages = append(languages, language)
	}
	return codeinterp.Narrow(ci, &codeinterp.NarrowOptions{Languages: languages, Contexts: true, Manager: true})
}

// check refuses flags that exclude each other.
func (f *mcpFlags) check(fs *pflag.FlagSet) error {
	if err := f.operation.check(); err != nil {
		return err
	}
	for _, name := range []string{"http-token-file", "http-host", "http-origin", "drain"} {
		if f.http == "" && fs.Changed(name) {
			return fmt.Errorf("--%s goes with --http", name)
		}
	}
	if err := f.directory.check(&f.providerFlags, fs.Changed("url")); err != nil {
		return err
	}
	if f.tools != "" && (f.directory.dir != "" || f.directory.files || f.directory.shell || f.manage || len(f.only) > 1) {
		return errors.New("--tools serves one tool, for programs in one language; it goes without --dir, --files, --shell and --manage")
	}
	if !fs.Changed("timeout") {
		f.timeout = min(f.timeout, f.maxTimeout)
	}
	if !fs.Changed("max-timeout") {
		f.maxTimeout = max(f.maxTimeout, f.timeout)
	}
	switch {
	case min(f.timeout, f.maxTimeout, f.limits.Idle) < 0 || f.limits.Contexts < 0:
		return errors.New("a limit is negative")
	case f.timeout > f.maxTimeout:
		return fmt.Errorf("--timeout %v is longer than --max-timeout %v", f.timeout, f.maxTimeout)
	}
	return nil
}

func (f *mcpFlags) options(a *app) *mcpserver.Options {
	o := &mcpserver.Options{
		Limits: mcpserver.Limits{
			Contexts: zeroIsNone(f.limits.Contexts), Idle: zeroIsNone(f.limits.Idle),
			Runs: zeroIsNone(f.operation.maxRuns), Queue: zeroIsNone(f.operation.queue),
		},
		Logger: f.operation.logger(a.stderr),
	}
	if f.gateway != nil {
		o.Tools = f.gateway.mode.Extend
	}
	return o
}

// zeroIsNone makes zero mean no limit.
func zeroIsNone[T int | time.Duration](n T) T {
	if n == 0 {
		return -1
	}
	return n
}

// reachable returns an address by which a client on this machine reaches a listener.
func reachable(at net.Addr) string {
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return at.String()
}

// serve serves until the input or ctx ends, and closes the server.
func (a *app) serve(ctx context.Context, server *mcpserver.Server, f *mcpFlags) error {
	if f.http == "" {
		if in, ok := a.stdin.(*os.File); ok && isatty.IsTerminal(in.Fd()) {
			fmt.Fprintln(a.stderr, "toolcell: waiting for an MCP client on standard input; Ctrl-D ends this")
		}
		return server.ServeStream(ctx, a.stdin, a.stdout)
	}
	ln, err := mcpserver.Listen(ctx, f.http)
	if err != nil {
		server.Close()
		return err
	}
	tokens, err := f.operation.tokens(a.getenv("TOOLCELL_MCP_TOKEN"))
	if err != nil {
		return errors.Join(err, ln.Close(), server.Close())
	}
	// Serve refuses this too, but after the address is printed.
	if at, ok := ln.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() && len(tokens) == 0 {
		return errors.Join(fmt.Errorf("%w: set TOOLCELL_MCP_TOKEN, or leave the host out of --http", mcpserver.ErrInsecure), ln.Close(), server.Close())
	}
	fmt.Fprintf(a.stderr, "toolcell: serving MCP at http://%v%s\n", reachable(ln.Addr()), mcpserver.Path)
	if len(tokens) == 0 {
		fmt.Fprintln(a.stderr, "toolcell: there is no token, so every user of this machine can run code with it; set TOOLCELL_MCP_TOKEN")
	}
	return server.Serve(ctx, ln, &mcpserver.HTTPOptions{Tokens: tokens, Hosts: f.hosts, Origins: f.origins, Drain: f.operation.drain})
}
