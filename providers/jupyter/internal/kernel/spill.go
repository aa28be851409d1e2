package kernel

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
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

var errPiece = errors.New("malformed piece of a spool")

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
	for size := 0; size < maxSpill; {
		piece, err := r.nextPiece()
		switch {
		case err == nil && piece == "", err == nil && piece == "!" && !p.spilled:
			return
		case err != nil || piece == "!":
			r.lostToRate()
			return
		}
		n, err := r.takePiece(piece)
		if err != nil {
			break
		}
		size += max(n, 1<<10) // of empty pieces there is no end else
	}
	r.lostToRate()
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

func (r *runner) nextPiece() (string, error) {
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

// takePiece puts a piece among the outputs and returns how many bytes it has.
func (r *runner) takePiece(piece string) (int, error) {
	name, data, ok := strings.Cut(piece, ":")
	if !ok {
		return 0, errPiece
	}
	name, late := strings.CutPrefix(name, "late ")
	if name, lost := strings.CutPrefix(name, "lost "); lost {
		n, err := strconv.ParseInt(data, 10, 64)
		if err == nil && n > 0 {
			r.Out.Lost(codeinterp.Truncation{Stream: StreamKind(name).String(), Bytes: n, Reason: codeinterp.TruncatedByLimit})
		}
		return 0, err
	}
	text, err := base64.StdEncoding.DecodeString(data)
	switch {
	case err != nil:
		return 0, err
	case late:
		r.Out.Add(codeinterp.Output{Kind: StreamKind(name), Data: text, Late: true})
	default:
		r.Out.Write(StreamKind(name), text)
	}
	return len(text), nil
}

func (r *runner) lostToRate() {
	r.Out.MayLack(codeinterp.TruncatedByRate, codeinterp.Stdout, codeinterp.Stderr)
}
