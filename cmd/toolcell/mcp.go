package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

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
	only       list
	tools      string
	workspace  string
	http       string
	tokens     list
	hosts      list
	origins    list
	timeout    time.Duration
	maxTimeout time.Duration
	limits     mcpserver.Limits
	verbose    bool

	gateway *gateway // of tools
}

// A list is a flag that may be given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(s string) error {
	if s == "" {
		return errors.New("empty")
	}
	*l = append(*l, s)
	return nil
}

func (f *mcpFlags) registerAll(fs *flag.FlagSet, getenv func(string) string) {
	f.register(fs, getenv)
	f.registerAdopt(fs)
	f.directory.register(fs)
	fs.BoolVar(&f.stateless, "stateless", false, "offer no code contexts: every run starts from nothing")
	fs.BoolVar(&f.manage, "manage", false, "also offer to list, restart and interrupt code contexts; over HTTP without a token, clients without a session get no list")
	fs.Var(&f.only, "languages", "offer these `languages` only, such as python,bash; others are refused")
	fs.StringVar(&f.tools, "tools", "", "connect to the MCP servers of this `file` ({\"mcpServers\": {...}}) and serve one tool in place of theirs, which runs programs that call them")
	fs.BoolVar(&f.artifacts, "artifacts", false, "have answers name the files that a program created or changed; with jupyter in Python alone")
	fs.BoolVar(&f.readOutput, "read-output", false, "also offer to read long output page by page")
	fs.StringVar(&f.workspace, "workspace", "", "give the tools long names, with this `name`: workspace__NAME__run_code")
	fs.StringVar(&f.http, "http", "", "serve HTTP at /mcp of this `address`, such as :8080, instead of standard input and output; without a host it is this machine only")
	fs.Var(&f.tokens, "http-token", "let only holders of this bearer `token` in (environment: TOOLCELL_MCP_TOKEN, which other users do not see); each of several is a client of its own")
	fs.Var(&f.hosts, "http-host", "a further host `name` under which the server is reached, as through a proxy")
	fs.Var(&f.origins, "http-origin", "a web `origin` whose pages may use the server, such as https://app.example")
	fs.DurationVar(&f.timeout, "timeout", mcpserver.DefaultTimeout, "end a run that asks for no other time after this `duration`")
	fs.DurationVar(&f.maxTimeout, "max-timeout", tools.DefaultMaxTimeout, "the longest `duration` that a run may ask for")
	fs.IntVar(&f.limits.Contexts, "max-contexts", mcpserver.DefaultContexts, "the `number` of contexts that one client may have, 0 for any")
	fs.DurationVar(&f.limits.Idle, "context-idle", mcpserver.DefaultIdle, "delete a context that was not used for this `duration`, 0 for never")
	fs.DurationVar(&f.limits.Lifetime, "context-lifetime", mcpserver.DefaultLifetime, "delete a context that is older than this `duration`, 0 for never")
	fs.BoolVar(&f.verbose, "verbose", false, "log sessions and faults on standard error")
}

// mcp serves the tools until standard input ends, or a signal comes.
func (a *app) mcp(ctx context.Context, args []string) int {
	var f mcpFlags
	fs := flag.NewFlagSet("mcp", flag.ContinueOnError)
	f.registerAll(fs, a.getenv)
	operands, code, done := a.parse(fs, "mcp [flags]", args)
	if done {
		return code
	}
	if len(operands) > 0 {
		return a.usageError("mcp takes no %q; see toolcell mcp --help", operands[0])
	}
	if err := f.check(fs); err != nil {
		return a.usageError("%s", plain(err))
	}
	if err := f.choose(fs); err != nil {
		return a.usageError("%s", plain(err))
	}
	f.waiting, f.spawning = a.waiting, a.spawning
	ci, err := f.directory.openIn(ctx, &f.providerFlags, !f.stateless)
	if err != nil && ctx.Err() != nil {
		return 0
	} else if err != nil {
		return a.fail(err)
	}
	if f.tools != "" {
		if f.gateway, err = a.openGateway(ctx, &f, ci); err != nil {
			ci.Close()
			return a.fail(err)
		}
		defer f.gateway.set.Close()
		// Its Close closes ci.
		ci = f.gateway.mode.Interpreter()
	}
	declared, err := f.declare(ci)
	if err != nil {
		ci.Close()
		return a.usageError("%s", plain(err))
	}
	opts := tools.Options{Timeout: f.timeout, MaxTimeout: f.maxTimeout, ManageContexts: f.manage, ReadOutput: f.readOutput, Artifacts: f.artifacts, Background: f.directory.background}
	if f.gateway != nil {
		opts.Secrets = f.gateway.secrets
	}
	caps := workspace.Capabilities{Code: ci, Declared: declared}
	dir, err := f.directory.add(&caps, ci)
	if err != nil {
		ci.Close()
		return a.fail(err)
	}
	// Deferred before ws.Close, so that it runs after it.
	defer dir.Close()
	ws, err := workspace.New(cmp.Or(f.workspace, "toolcell"), caps, &workspace.Options{Tools: opts})
	if err != nil {
		ci.Close()
		return a.fail(err)
	}
	defer ws.Close()
	server, err := mcpserver.New(ws, f.options(a))
	if err != nil {
		return a.fail(err)
	}
	if f.provider == "jupyter" {
		defer f.sweepBeside(ctx)()
	}
	if err := a.serve(ctx, server, &f); err != nil {
		return a.fail(err)
	}
	return 0
}

// declare returns what is offered of ci: all of it unless languages are named.
func (f *mcpFlags) declare(ci codeinterp.CodeInterpreter) (workspace.Declaration, error) {
	if len(f.only) == 0 {
		return workspace.Declaration{}, nil
	}
	d := &workspace.CodeDeclaration{}
	for name := range strings.SplitSeq(f.only.String(), ",") {
		language, err := codeinterp.ResolveLanguage(name, ci.Languages())
		if err != nil {
			return workspace.Declaration{}, err
		}
		d.Languages = append(d.Languages, language)
	}
	d.Stateful = slices.ContainsFunc(codeinterp.Describe(ci).Languages, func(l codeinterp.LanguageInfo) bool {
		return l.Contexts && slices.Contains(d.Languages, l.Name)
	})
	_, managed := codeinterp.Manager(ci)
	d.Managed = d.Stateful && managed
	return workspace.Declaration{Code: d}, nil
}

// check finds the flags that make no sense together.
func (f *mcpFlags) check(fs *flag.FlagSet) error {
	if f.workspace != "" {
		if err := tools.CheckWorkspaceName(f.workspace); err != nil {
			return err
		}
	}
	for _, name := range []string{"http-token", "http-host", "http-origin"} {
		if f.http == "" && isSet(fs, name) {
			return fmt.Errorf("--%s goes with --http", name)
		}
	}
	if err := f.directory.check(&f.providerFlags, isSet(fs, "url")); err != nil {
		return err
	}
	if f.adopt != "" && (f.stateless || f.tools != "") {
		return errors.New("--adopt is for code contexts, which --stateless and --tools do not offer")
	}
	if f.tools != "" && (f.directory.dir != "" || f.directory.files || f.directory.shell) {
		return errors.New("--dir, --files and --shell are for code, files and commands, which --tools does not offer")
	}
	if f.tools != "" && f.manage {
		return errors.New("--manage is about code contexts, which --tools does not offer")
	}
	if f.tools != "" && (len(f.only) > 1 || strings.Contains(f.only.String(), ",")) {
		return errors.New("--tools has programs in one language; name one in --languages")
	}
	return f.checkLimits(fs)
}

func (f *mcpFlags) checkLimits(fs *flag.FlagSet) error {
	for _, name := range []string{"timeout", "max-timeout", "max-contexts", "context-idle", "context-lifetime"} {
		if v := fs.Lookup(name).Value.String(); strings.HasPrefix(v, "-") {
			return fmt.Errorf("negative --%s %s", name, v)
		}
	}
	switch {
	case f.timeout <= f.maxTimeout:
	case !isSet(fs, "max-timeout"):
		f.maxTimeout = f.timeout
	case !isSet(fs, "timeout"):
		f.timeout = f.maxTimeout
	default:
		return fmt.Errorf("--timeout %v is longer than --max-timeout %v", f.timeout, f.maxTimeout)
	}
	return nil
}

func (f *mcpFlags) options(a *app) *mcpserver.Options {
	o := &mcpserver.Options{
		LongNames: f.workspace != "",
		Limits: mcpserver.Limits{
			Contexts: zeroIsNone(f.limits.Contexts), Idle: zeroIsNone(f.limits.Idle), Lifetime: zeroIsNone(f.limits.Lifetime),
		},
	}
	if f.gateway != nil {
		o.Wrap = f.gateway.wrap
	}
	if f.verbose {
		o.Logger = slog.New(slog.NewTextHandler(a.stderr, nil))
	}
	return o
}

// zeroIsNone turns a limit of zero into none at all.
func zeroIsNone[T int | time.Duration](n T) T {
	if n == 0 {
		return -1
	}
	return n
}

// reachable is an address by which a client on this machine reaches a listener:
// one that listens everywhere has none of its own.
func reachable(at net.Addr) string {
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return at.String()
}

// serve serves until there is no more to serve, and closes the server.
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
	tokens := slices.Clone(f.tokens)
	if t := a.getenv("TOOLCELL_MCP_TOKEN"); t != "" {
		tokens = append(tokens, t)
	}
	// As Serve does, but before it is said that there is a server.
	if at, ok := ln.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() && len(tokens) == 0 {
		return errors.Join(fmt.Errorf("%w: set TOOLCELL_MCP_TOKEN, or leave the host out of --http", mcpserver.ErrInsecure), ln.Close(), server.Close())
	}
	fmt.Fprintf(a.stderr, "toolcell: serving MCP at http://%v%s\n", reachable(ln.Addr()), mcpserver.Path)
	if len(tokens) == 0 {
		fmt.Fprintln(a.stderr, "toolcell: there is no token, so every user of this machine can run code with it; see --http-token")
	}
	return server.Serve(ctx, ln, &mcpserver.HTTPOptions{Tokens: tokens, Hosts: f.hosts, Origins: f.origins})
}
