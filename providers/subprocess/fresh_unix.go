//go:build unix

package subprocess

import "context"

// fresh returns an unused process for one program.
func (h *host) fresh(ctx context.Context, l *language, pl *place) (*process, error) {
	if w := h.warm[l.Name]; w != nil {
		if p, err := w.get(ctx, true, nil); p != nil || err != nil {
			return p, err
		}
	}
	return h.launch(l, pl)
}

// processIn returns a process for a context in pl, whose working directory outlives the
// process.
func (h *host) processIn(ctx context.Context, l *language, pl *place) (*process, error) {
	// Warm processes have started where all programs do, and cannot be copied.
	newDir := h.sandbox.TempDir
	if h.forks(l) {
		newDir = h.sandbox.FamilyDir
	} else if w := h.warm[l.Name]; w != nil && pl.cwd == h.dir {
		p, err := w.get(ctx, false, pl.env)
		if err != nil {
			return nil, err
		}
		if p != nil {
			p.keepDir()
			p.setOwner(pl.late)
			p.place.id = pl.id
			return p, nil
		}
	}
	dir, err := newDir()
	if err != nil {
		return nil, err
	}
	pl.dir = dir
	p, err := h.launch(l, pl)
	if err != nil {
		h.sandbox.Discard(dir)
	}
	return p, err
}
