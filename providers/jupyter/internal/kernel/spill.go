package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

const (
	// spillLimit bounds the wait for each piece of a spool: a thread of the
	// program's can keep the kernel from answering for ever.
	spillLimit = 30 * time.Second
)

// A bound is what is taken of a spool. The hook that writes it writes no more, with 64
// bytes for each piece in 1.5 MiB of an answer; a program can forge one that does.
type bound struct{ bytes, answers int }

var (
	ofRun  = bound{1<<30 + 64<<20, 4 << 10}
	ofLate = bound{4 << 20, 1 << 8}
)

// fetchSpill gets what the kernel spooled beyond the server's rate limit. What
// it cannot get is told.
func (r *runner) fetchSpill() {
	r.noteLateSpool()
	if !r.e.progress().spilled {
		return
	}
	if r.killed || r.k.IsDown() || r.k.dialect.spool == nil || r.k.takeSpool(r.ctx, r.e.id, r.spool(), ofRun) != nil {
		// Of the program's own also what it showed behind what it printed.
		r.Out.MayLack(codeinterp.TruncatedByRate)
	}
}

// FetchLate gets what was spooled since the last run, which stands before the next one's
// output. What it cannot get that run tells. ErrNeverRan is a kernel that was lost meanwhile.
func (k *Kernel) FetchLate(ctx context.Context) error {
	k.mu.Lock()
	of, is, late, d := k.spilling, k.identity, k.late, k.dialect
	k.mu.Unlock()
	if of == "" || of != is || late == nil || d.spool == nil {
		return nil
	}
	err := k.takeSpool(ctx, "", &spool{
		max:  k.cfg.MaxMessage,
		text: func(kind codeinterp.Kind, p []byte, _ bool) { late(codeinterp.Output{Kind: kind, Data: p, Late: true}) },
		show: func(typ string, content []byte, _ bool) {
			if o, ok := wire.OutputOf(typ, content, d.value); ok {
				o.Late = true
				late(o)
			}
		},
		lost: k.unspilled.lose,
	}, ofLate)
	k.mu.Lock()
	k.spilling = ""
	k.mu.Unlock()
	k.unspilled.lacks = k.unspilled.lacks || err != nil
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errDied), errors.Is(err, errSocketLost):
		return fmt.Errorf("%w: %w", ErrNeverRan, err)
	}
	return nil
}

// unspilled is what the next run tells of what was spooled before it: what there was no
// room for, and whether more may be missing.
type unspilled struct {
	lost  []loss
	lacks bool
}

type loss struct {
	kind  codeinterp.Kind
	bytes int64
}

func (u *unspilled) lose(kind codeinterp.Kind, n int64) {
	if len(u.lost) < maxLosses {
		u.lost = append(u.lost, loss{kind, n})
	} else {
		u.lacks = true
	}
}

// maxLosses is more than a kernel tells of, which adds them up.
const maxLosses = 1 << 6

// takeSpool takes the pieces of a run, or with no id those of no run, to their end.
func (k *Kernel) takeSpool(ctx context.Context, id string, s *spool, most bound) error {
	size := 0
	for range most.answers {
		pieces, err := k.nextPieces(ctx, id)
		switch {
		case err != nil:
			return err
		case pieces == "" && s.rest == 0:
			return nil
		case pieces == "", pieces == "!":
			return errPiece
		}
		n, err := s.take(pieces)
		if size += n; err != nil {
			return err
		}
		if size > most.bytes {
			break
		}
	}
	return errPiece
}

// spool puts among the outputs what was spooled.
func (r *runner) spool() *spool {
	return &spool{
		max: r.k.cfg.MaxMessage,
		text: func(kind codeinterp.Kind, text []byte, late bool) {
			if late {
				r.Out.Add(codeinterp.Output{Kind: kind, Data: text, Late: true})
				return
			}
			r.Out.Write(kind, text)
		},
		show: r.e.show,
		lost: r.lost,
	}
}

// Succeed has k, which takes former's place, tell what went with that.
func (k *Kernel) Succeed(former *Kernel) {
	former.mu.Lock()
	of := former.spilling
	former.mu.Unlock()
	k.unspilled = former.unspilled
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spilling = of
}

// lost tells of what there was no room for.
func (r *runner) lost(kind codeinterp.Kind, n int64) {
	r.Out.Lost(codeinterp.Truncation{Stream: kind.String(), Bytes: n, Reason: codeinterp.TruncatedByLimit})
}

// noteLateSpool tells of what was spooled before the run and could not be had, also since
// its process is gone, and has the next one fetch what was spooled behind the run.
func (r *runner) noteLateSpool() {
	k := r.k
	un := k.unspilled
	k.unspilled = unspilled{}
	k.mu.Lock()
	dead := k.spilling != "" && k.spilling != k.identity
	if dead {
		k.spilling = ""
	}
	if r.e.progress().spilledLate {
		k.spilling = k.identity
		un.lacks = un.lacks || k.identity == "" // it went with its process
	}
	k.mu.Unlock()
	for _, l := range un.lost {
		r.lost(l.kind, l.bytes)
	}
	if un.lacks {
		r.Out.MayLack(codeinterp.TruncatedByRate)
	}
	if dead {
		r.Out.MayLack(codeinterp.TruncatedByExit, codeinterp.Stdout, codeinterp.Stderr, codeinterp.Display)
	}
}

func (k *Kernel) nextPieces(ctx context.Context, id string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, spillLimit)
	defer cancel()
	out, err := k.evaluate(ctx, "", map[string]string{"next": k.dialect.spool(id)})
	switch {
	case err != nil:
		return "", err
	case out["next"].Status != "ok":
		return "", errPiece
	}
	// A user expression gives the repr of the string, in quotes.
	return strings.Trim(out["next"].Data.Text, `'"`), nil
}
