package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/tools/codemode"
	"github.com/toolcell/toolcell/tools/codemode/mcptools"
	"github.com/toolcell/toolcell/tools/secret"
)

// A gateway is one code tool instead of the tools of MCP servers.
type gateway struct {
	set     *mcptools.Set
	mode    *codemode.Mode
	secrets *secret.Scrubber
	server  atomic.Pointer[mcpserver.Server] // updated when tools change
}

// openGateway starts the servers of a file, whose tools programs of ci call.
func (a *app) openGateway(ctx context.Context, f *mcpFlags, ci codeinterp.CodeInterpreter) (g *gateway, err error) {
	language := ""
	if len(f.only) > 0 {
		if language, err = codeinterp.ResolveLanguage(f.only[0], ci.Languages()); err != nil {
			return nil, err
		}
	}
	servers, err := a.readServers(f.tools)
	if err != nil {
		return nil, err
	}
	g = &gateway{}
	if g.secrets, err = secret.New(mcptools.Credentials(servers)...); err != nil {
		return nil, err
	}
	opts := &mcptools.Options{Secrets: g.secrets}
	opts.Logger = f.operation.logger(a.stderr)
	if opts.Logger != nil {
		opts.Stderr = a.stderr
	}
	if g.set, err = mcptools.Open(ctx, servers, opts); err != nil {
		return nil, err
	}
	problems := g.set.Problems()
	for _, problem := range problems {
		fmt.Fprintln(a.stderr, "toolcell:", g.secrets.Scrub(problem.Error()))
	}
	if len(problems) > 0 && opts.Logger == nil {
		fmt.Fprintln(a.stderr, "toolcell: --log text shows what the servers of --tools print")
	}
	_, files := codeinterp.Files(ci)
	if g.mode, err = codemode.New(ci, g.set.Entries(), &codemode.Options{Language: language, Files: files && !f.stateless, OnRun: g.set.Retry}); err != nil {
		g.set.Close()
		return nil, err
	}
	g.set.OnChange(func(list []codemode.Entry) {
		err := g.mode.Set(list)
		if server := g.server.Load(); err == nil && server != nil {
			err = server.Update()
		}
		if err != nil && opts.Logger != nil {
			opts.Logger.Warn("the changed tools cannot be served", "err", err)
		}
	})
	return g, nil
}

func (a *app) readServers(name string) ([]mcptools.Server, error) {
	config, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: --tools: %w", codeinterp.ErrInvalid, err)
	}
	servers, err := mcptools.Parse(config, func(name string) (string, bool) {
		v := a.getenv(name)
		return v, v != ""
	})
	if err != nil {
		return nil, fmt.Errorf("--tools %s: %w", name, err)
	}
	return servers, nil
}
