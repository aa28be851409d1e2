package kernel

import (
	"context"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

const (
	// spillLimit bounds the wait for each piece of a spool: a thread of the
	// program's can keep the kernel from answering for ever.
	spillLimit = 30 * time.Second

	// maxSpill is what is taken of a spool. The hook that writes it writes no more;
	// a program can forge one that does.
	maxSpill = 1<<30 + 64<<20
)

// fetchSpill gets what the kernel spooled beyond the server's rate limit. What
// it cannot get is told.
func (r *runner) fetchSpill() {
	r.noteDeadSpool()
	p := r.e.progress()
	if !p.spilled && !p.spilledLate {
		return
	}
	if r.killed || r.k.IsDown() || r.k.dialect.spool == nil {
		r.lostToRate()
		return
	}
	s := r.spool()
	for size := 0; size < maxSpill; {
		pieces, err := r.nextPieces()
		over := pieces == "" || pieces == "!"
		if err == nil && over && s.rest == 0 && (pieces == "" || !p.spilled) {
			return
		}
		if err != nil || over {
			break
		}
		n, err := s.take(pieces)
		if err != nil {
			break
		}
		size += max(n, 1<<10) // of empty pieces there is no end else
	}
	r.lostToRate()
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
		show: func(typ string, content []byte) { r.e.show(typ, content, false) },
		lost: func(kind codeinterp.Kind, n int64) {
			r.Out.Lost(codeinterp.Truncation{Stream: kind.String(), Bytes: n, Reason: codeinterp.TruncatedByLimit})
		},
	}
}

// Succeed has k, which takes former's place, tell what went with that.
func (k *Kernel) Succeed(former *Kernel) {
	former.mu.Lock()
	of := former.spilling
	former.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spilling = of
}

// noteDeadSpool tells of what was spooled between two runs by a process that is
// gone.
func (r *runner) noteDeadSpool() {
	r.k.mu.Lock()
	of, is := r.k.spilling, r.k.identity
	r.k.spilling = ""
	r.k.mu.Unlock()
	if of != "" && of != is {
		r.Out.MayLack(codeinterp.TruncatedByExit, codeinterp.Stdout, codeinterp.Stderr)
	}
}

func (r *runner) nextPieces() (string, error) {
	ctx, cancel := context.WithTimeout(r.ctx, spillLimit)
	defer cancel()
	out, err := r.k.evaluate(ctx, "", map[string]string{"next": r.k.dialect.spool(r.e.id)})
	switch {
	case err != nil:
		return "", err
	case out["next"].Status != "ok":
		return "", errPiece
	}
	// A user expression gives the repr of the string, in quotes.
	return strings.Trim(out["next"].Data.Text, `'"`), nil
}

// lostToRate tells that what was spooled may be missing: text, and of the program's
// own also what it showed behind that.
func (r *runner) lostToRate() {
	if r.e.progress().spilled {
		r.Out.MayLack(codeinterp.TruncatedByRate)
		return
	}
	r.Out.MayLack(codeinterp.TruncatedByRate, codeinterp.Stdout, codeinterp.Stderr)
}
