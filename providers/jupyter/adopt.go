package jupyter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// A KernelInfo describes a kernel of the server, whoever started it.
type KernelInfo struct {
	ID           string
	Spec         string // its kernelspec's name
	Language     string
	Path         string // of its notebook; empty if unknown
	State        string // as the server says: idle, busy, starting, ...
	Connections  int    // clients that are connected
	LastActivity time.Time
}

// Kernels lists the kernels of the server. One that refuses to list them, as
// gateways do by default, does so with a *StatusError.
func (s *Stateful) Kernels(ctx context.Context) ([]KernelInfo, error) {
	list, err := s.rt.kernels(ctx)
	return list, wrap("list kernels", err)
}

func (rt *runtime) kernels(ctx context.Context) ([]KernelInfo, error) {
	specs, err := rt.c.Specs(ctx)
	if err != nil {
		return nil, err
	}
	list, err := rt.c.Kernels(ctx)
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	sessions, err := rt.c.Sessions(ctx)
	if _, refused := errors.AsType[*StatusError](err); err != nil && !refused {
		return nil, err
	}
	for _, s := range sessions {
		paths[s.Kernel.ID] = s.Path
	}
	infos := make([]KernelInfo, 0, len(list))
	for _, k := range list {
		infos = append(infos, KernelInfo{ID: k.ID, Spec: k.Name, Language: languageOf(specs, k.Name), Path: paths[k.ID],
			State: k.State, Connections: k.Connections, LastActivity: k.LastActivity})
	}
	return infos, nil
}

// Adopt makes a context of an existing kernel. A kernel that is gone is ErrContext.
//
// If which is a reference of [Stateful.Detach], the context has its former state, and the
// kernel belongs to this client, which deletes it on Close. Output since then and lost
// state are reported as in one client.
//
// Otherwise which is the id of a kernel that somebody else started, or the path of its
// notebook. Such a kernel is left as it is:
// nothing is set up in it, programs get no environment, directory, files or functions, and
// it is never restarted or deleted. Programs of its other clients are waited for, and their
// output is not shown. A timeout interrupts our own program; if that does not help, the
// error says that it may still be running.
func (s *Stateful) Adopt(ctx context.Context, which string) (codeinterp.ContextID, error) {
	if strings.HasPrefix(which, "{") {
		return s.adopter.Attach(ctx, which)
	}
	r, err := s.rt.foreignRef(ctx, which)
	if err != nil {
		return "", wrap("adopt", err)
	}
	return s.adopter.Attach(ctx, r)
}

// foreignRef returns the reference of a kernel.
func (rt *runtime) foreignRef(ctx context.Context, which string) (string, error) {
	specs, err := rt.c.Specs(ctx)
	if err != nil {
		return "", err
	}
	k, err := rt.find(ctx, which)
	if err != nil {
		return "", err
	}
	return (&ref{Kernel: k.ID, Language: languageOf(specs, k.Name), Spec: k.Name, Foreign: true}).String(), nil
}

// find returns the kernel with an id, or of a notebook.
func (rt *runtime) find(ctx context.Context, which string) (server.Kernel, error) {
	if isID().MatchString(which) {
		k, err := rt.c.State(ctx, which)
		// A notebook may be called like an id.
		if err == nil || !server.IsGone(err) {
			return k, err
		}
	}
	sessions, err := rt.c.Sessions(ctx)
	if err != nil {
		return server.Kernel{}, err
	}
	for _, s := range sessions {
		if s.Path == which {
			return s.Kernel, nil
		}
	}
	return server.Kernel{}, fmt.Errorf("%w: the server has no kernel or open notebook %q", codeinterp.ErrContext, which)
}
