package kernel

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/pytools"
)

// maxArgs bounds the arguments of one call; the prompt that carries them can be
// three times as large.
const maxArgs = 1 << 30

// An offer is what a kernel's process knows of the functions of the host.
type offer struct {
	names []string
	nonce string // at the beginning of prompts that call
}

// CanCall reports whether programs of the kind can call functions of the host.
func (k Kind) CanCall() bool { return k.dialect.offer != nil }

// Offer says what the next programs can call. Kernels whose programs cannot call
// are ErrInvalid, unless there is nothing.
func (k *Kernel) Offer(ctx context.Context, functions []codeinterp.Function) error {
	names := pytools.Names(functions)
	k.mu.Lock()
	known, d, client := slices.Equal(names, k.offer.names), k.dialect, k.name
	k.mu.Unlock()
	switch {
	case known:
		return nil
	case d.offer == nil:
		return fmt.Errorf("%w: programs of kernel %q cannot call functions", codeinterp.ErrInvalid, k.Kind.Name)
	}
	o := offer{names: names, nonce: "toolcell-" + rand.Text() + ":"}
	args := map[string]any{"names": names, "nonce": o.nonce, "client": client + "_",
		"args": max(min(k.cfg.MaxMessage/3-2<<20, maxArgs), 4<<10)}
	if err := k.Hidden(ctx, d.offer(args)); err != nil {
		return refusedSurroundings(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	// Another process may have taken its place meanwhile, which knows of no functions.
	k.setOffer(o)
	return nil
}
