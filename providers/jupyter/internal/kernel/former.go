package kernel

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// Mark returns a mark for Expect: after it come the present run and later ones.
func (k *Kernel) Mark() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.seq
	if k.run != nil {
		if _, seq := k.number(k.run.id); seq > 0 {
			n = seq - 1
		}
	}
	return fmt.Sprintf("%s_%d", k.nonce, n)
}

// number returns what makes the id of one of our runs different from others.
func (k *Kernel) number(id string) (nonce string, seq int) {
	rest, ok := strings.CutPrefix(id, k.name+"_")
	nonce, last, two := strings.Cut(rest, "_")
	seq, err := strconv.Atoi(last)
	if !ok || !two || err != nil || strings.HasPrefix(nonce, "h") {
		return "", 0
	}
	return nonce, seq
}

// since reports whether an id is that of a run after the mark.
func (k *Kernel) since(id string) bool {
	nonce, seq := k.number(id)
	before, last, _ := strings.Cut(k.mark, "_")
	n, err := strconv.Atoi(last)
	return seq > 0 && err == nil && (nonce != before || seq > n)
}

// Expect keeps what the server sends of a run that began after the mark, for Follow. It
// is called before the kernel is connected.
func (k *Kernel) Expect(mark string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mark = mark
	k.run = k.blankExecution()
	k.run.former, k.run.st.gap = true, true
}

// Unexpect ends what Expect began.
func (k *Kernel) Unexpect() {
	if e, _ := k.present(); e != nil {
		e.finish()
	}
}

// expected notes a message of the run that Expect waits for. k.mu is held.
func (k *Kernel) expected(f *frame) {
	e, m := k.run, &f.Msg
	if e == nil || !e.former {
		return
	}
	if e.id == "" && k.since(m.Parent.ID) {
		e.id = m.Parent.ID
	}
}

// Follow is Run for the run that Expect waits for. It returns codeinterp.ErrNoRun if there
// is none.
func (k *Kernel) Follow(ctx context.Context, o Order) (Ending, error) {
	e, s := k.present()
	e.out, e.program = o.Out, o.Program
	e.pump.Go(e.work)
	r := &runner{k: k, ctx: ctx, Order: o, e: e}
	if st, err := k.check(ctx); err == nil && st.State == "busy" {
		e.begin()
	}
	err := r.watch(s, true)
	if err == nil && !e.hasBegun() {
		err = r.findFormer()
	}
	if err != nil {
		e.finish()
		if !errors.Is(err, codeinterp.ErrNoRun) {
			k.Expect(k.mark)
		}
		return Ending{}, err
	}
	o.Program.End()
	return r.finish()
}

// findFormer looks for a run of which no message came. The kernel knows how its last
// program ended.
func (r *runner) findFormer() error {
	switch {
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	case r.away != nil:
		return r.away
	case r.e.progress().death:
		return codeinterp.ErrNoRun // the next run reports the loss of the state
	}
	reply := r.outcome("")
	if reply == nil || !r.k.since(reply.ID) {
		return codeinterp.ErrNoRun
	}
	r.e.begin()
	r.e.update(func(p *progress) { p.reply = reply })
	return nil
}
