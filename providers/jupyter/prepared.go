package jupyter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// errNeverRan: the kernel died before it took the request; it has been
// deleted, and the run can be made elsewhere.
var errNeverRan = errors.New("the kernel died before the run began")

// leaveTimeout bounds the restoring of what a run changed.
const leaveTimeout = 10 * time.Second

// runPrepared runs code in a kernel that is ready, in the surroundings that its
// options ask for, and restores the former ones afterwards. A private run
// starts in a directory of its own.
func (it *Interpreter) runPrepared(ctx context.Context, k *kernel, code string, o codeinterp.RunOptions, private bool, ctl control) (codeinterp.Result, error) {
	d := k.rt.dialect
	s := surroundings{env: o.Env, stdin: o.Stdin, private: private && d.enter != nil && !k.isPrivate()}
	special := len(s.env) > 0 || s.stdin != nil || s.private
	if special {
		if d.enter == nil || s.stdin != nil && d.noStdin {
			return codeinterp.NotRun(), noSurroundings(k)
		}
		within, cancel := it.bound(ctx)
		err := k.hidden(within, d.enter(s))
		cancel()
		if err != nil {
			return codeinterp.NotRun(), enterError(err)
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

// enterError tells a directory that cannot be entered from other failures.
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
