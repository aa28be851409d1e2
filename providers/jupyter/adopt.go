package jupyter

import (
	"context"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// Adopt makes a context of a kernel that somebody else started. which is its id or the
// path of its notebook. A kernel that is gone is ErrContext. Such a kernel is left as it is: nothing is set up in it, programs get no
// environment, directory, files or functions, and it is never restarted or deleted.
// Programs of its other clients are waited for, and their output is not shown. A timeout
// interrupts our own program; if that does not help, the error says that it may still be
// running.
func (s *Stateful) Adopt(ctx context.Context, which string) (codeinterp.ContextID, error) {
	r, err := s.rt.foreignRef(ctx, which)
	if err != nil {
		return "", wrap("adopt", err)
	}
	a, _ := codeinterp.Attaches(s)
	return a.Attach(ctx, r.String())
}

// foreignRef returns the reference of the kernel with an id, or of a notebook.
func (rt *runtime) foreignRef(ctx context.Context, which string) (*ref, error) {
	specs, err := rt.c.Specs(ctx)
	if err != nil {
		return nil, err
	}
	sessions, err := rt.c.Sessions(ctx) // gateways have none by default
	for _, s := range sessions {
		if s.Path == which {
			which = s.Kernel.ID
		}
	}
	if !isID().MatchString(which) {
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: the server has no kernel or open notebook %q", codeinterp.ErrContext, which)
	}
	k, err := rt.c.State(ctx, which)
	if err != nil {
		return nil, asContextError(err)
	}
	language := canonical(specs.Specs[k.Name].Spec.Language)
	return &ref{Kernel: k.ID, Language: language, Spec: k.Name, Foreign: true}, nil
}
