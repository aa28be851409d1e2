package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
	"github.com/toolcell/toolcell/tools/codemode/mcptools"
	"github.com/toolcell/toolcell/workspace"
)

// A toolbox is the tools of MCP servers, which programs call. It is empty where the
// command line names no servers.
type toolbox struct {
	servers *mcptools.Set
	mode    *codemode.Mode
}

// toolbox starts the servers, and returns an interpreter whose programs have their
// tools. It closes ci where it fails.
func (c *config) toolbox(ctx context.Context, ci codeinterp.CodeInterpreter) (*toolbox, codeinterp.CodeInterpreter, error) {
	if c.tools == "" {
		return &toolbox{}, ci, nil
	}
	b, err := openToolbox(ctx, c.tools, ci)
	if err != nil {
		return nil, nil, errors.Join(err, ci.Close())
	}
	return b, b.mode.Interpreter(), nil
}

func openToolbox(ctx context.Context, file string, ci codeinterp.CodeInterpreter) (*toolbox, error) {
	config, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	list, err := mcptools.Parse(config, os.LookupEnv)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	b := &toolbox{}
	if b.servers, err = mcptools.Open(ctx, list, nil); err != nil {
		return nil, err
	}
	if b.mode, err = codemode.Open(ci, b.servers.Entries(), nil); err != nil {
		return nil, errors.Join(err, b.servers.Close())
	}
	b.servers.OnChange(func(list []codemode.Entry) { b.mode.Set(list) })
	return b, nil
}

// around returns the tools of a workspace, with what programs can call told to the
// model, and what serves them.
func (b *toolbox) around(ws *workspace.Workspace) ([]tools.Tool, dispatcher, error) {
	list := ws.Tools()
	if b.mode == nil {
		return list, ws, nil
	}
	for i, t := range list {
		if t.Op == codeinterp.OpRun {
			list[i] = b.mode.Wrap(t)
		}
	}
	list = append(list, b.mode.Direct()...)
	set, err := tools.NewSet(list, nil)
	return list, set, err
}

func (b *toolbox) close() {
	if b.servers != nil {
		b.servers.Close()
	}
}
