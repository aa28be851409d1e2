package jupyter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// errNeverRan: the kernel died before it took the request, and the run can be
// made elsewhere.
var errNeverRan = fmt.Errorf("%w before the run began", errDied)

// leaveTimeout bounds the restoring of what a run changed.
const leaveTimeout = 10 * time.Second

// runPrepared runs code in a kernel that is ready, in the surroundings that its
// options ask for, and restores the former ones afterwards. A private run
// starts in a directory of its own.
func (it *Interpreter) runPrepared(ctx context.Context, k *kernel, code string, o codeinterp.RunOptions, private bool, ctl control) (codeinterp.Result, error) {
	d := k.rt.dialect
	s := surroundings{env: o.Env, stdin: o.Stdin, private: private && d.enter != nil && !k.isPrivate()}
	special := len(s.env) > 0 || s.stdin != nil || s.private
	if special || k.isUnsettled() {
		if err := it.enterRun(ctx, k, s); err != nil {
			return codeinterp.NotRun(), err
		}
	}
	res, err := k.runCode(ctx, code, o, ctl)
	if special && !private && res.Status != codeinterp.StatusLost && !k.isDown() {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
		defer cancel()
		if lerr := k.hidden(within, d.leave); lerr != nil {
			k.kill()
		}
	}
	return res, err
}

// enterRun sets a run's surroundings. Where that is given up while the kernel
// may still do it, the next run comes back to it.
func (it *Interpreter) enterRun(ctx context.Context, k *kernel, s surroundings) error {
	d := k.rt.dialect
	if d.enter == nil || s.stdin != nil && d.noStdin {
		return noSurroundings(k)
	}
	within, cancel := it.bound(ctx)
	defer cancel()
	within, late := k.inTime(within)
	defer late()
	err := k.hidden(within, d.enter(s))
	k.mu.Lock()
	k.unsettled = err != nil
	k.mu.Unlock()
	return enterError(err)
}

func (k *kernel) isUnsettled() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.unsettled
}

// enterPrivate has the kernel's program start in a directory of its own,
// before there is one.
func (k *kernel) enterPrivate(ctx context.Context) error {
	if k.rt.dialect.enter == nil {
		return nil
	}
	if err := k.hidden(ctx, k.rt.dialect.enter(surroundings{private: true})); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.private = true
	return nil
}

func (k *kernel) isPrivate() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.private
}

// enterError tells a directory that cannot be entered from other failures; nil
// stays nil.
func enterError(err error) error {
	if e, ok := errors.AsType[*errorContent](err); ok {
		return fmt.Errorf("%w: %s", codeinterp.ErrInvalid, stripANSI(e.Error()))
	}
	if errors.Is(err, errDied) {
		return errNeverRan
	}
	return err
}

// isDown reports whether the kernel has to be prepared anew, or is gone.
func (k *kernel) isDown() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dead || k.unready || !k.connected()
}

// kill marks the kernel as one that must be replaced.
func (k *kernel) kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dead, k.stateLost = true, true
}

// idleExpression names the user expression of a dialect's idle.
const idleExpression = "idle"

// idle asks whether nothing that the program started runs on. Not knowing
// counts as no.
func (k *kernel) idle() bool {
	expr := k.rt.dialect.idle
	if expr == "" || k.isDown() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	out, err := k.evaluate(ctx, "", map[string]string{idleExpression: expr})
	return err == nil && out[idleExpression].isTrue()
}
