package jupyter

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// commandLanguage is the language whose kernels can run commands.
const commandLanguage = "python"

const (
	// commandLimit is how long one request about a command may take.
	commandLimit = time.Minute

	// leaseSlack is how much longer than the wait for a lost server commands go on
	// whose client is silent.
	leaseSlack = 30 * time.Second
)

// A machine is the kernel of all commands, which are its children. The first command
// starts it.
type machine struct {
	rt   *runtime
	turn kernel.Turn // to start or reconnect the kernel

	mu sync.Mutex
	k  *kernel.Kernel // nil if there is none
}

func newMachine(rt *runtime) *machine { return &machine{rt: rt, turn: kernel.NewTurn()} }

// kernel returns the kernel, ready to serve. One that is gone is replaced.
func (m *machine) kernel(ctx context.Context) (*kernel.Kernel, error) {
	if err := m.turn.Take(ctx); err != nil {
		return nil, err
	}
	defer m.turn.Give()
	for range maxStarts {
		k := m.current()
		if k != nil {
			err := k.Ensure(ctx, nil)
			if err == nil && k.IsFurnished() {
				return k, nil
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			// Its commands end with an error.
			_ = m.drop(k)
		}
		if err := m.start(ctx); err != nil {
			return nil, err
		}
	}
	return nil, server.Unavailable("the kernel for commands died again and again")
}

func (m *machine) current() *kernel.Kernel {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.k
}

// start starts the kernel. The caller has the turn.
func (m *machine) start(ctx context.Context) error {
	k, err := m.rt.newKernel(ctx, m.rt.kinds[commandLanguage])
	if err != nil {
		return err
	}
	if err = k.Furnish(ctx, kernel.Surroundings{Cwd: m.rt.opts.Dir}); err == nil {
		err = k.ServeCommands(ctx, kernel.ReconnectTimeout+leaseSlack)
	}
	if err != nil {
		_ = m.rt.takeBack(ctx, k)
		return err
	}
	m.mu.Lock()
	m.k = k
	m.mu.Unlock()
	return nil
}

// drop ends the kernel, if it is k, and with it all commands that it has.
func (m *machine) drop(k *kernel.Kernel) error {
	m.mu.Lock()
	same := m.k == k && k != nil
	if same {
		m.k = nil
	}
	m.mu.Unlock()
	if !same {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return m.rt.discard(ctx, k)
}

// reconnect connects to k again, if need be.
func (m *machine) reconnect(ctx context.Context, k *kernel.Kernel) error {
	ctx, cancel := context.WithTimeoutCause(ctx, kernel.ReconnectTimeout,
		server.Unavailable("the server did not come back within %v", kernel.ReconnectTimeout))
	defer cancel()
	if err := m.turn.Take(ctx); err != nil {
		return err
	}
	defer m.turn.Give()
	return k.Ensure(ctx, nil)
}

// ask makes a request, again if the connection was lost.
func (m *machine) ask(ctx context.Context, k *kernel.Kernel, q *kernel.CommandRequest) (*kernel.CommandAnswer, error) {
	for {
		one, cancel := context.WithTimeout(ctx, commandLimit)
		a, err := k.Command(one, q)
		cancel()
		switch {
		case err == nil && a.Fault != "":
			return nil, fmt.Errorf("%w: the kernel's host failed: %.200q", codeinterp.ErrUnavailable, a.Fault)
		case !kernel.IsCut(err):
			return a, err
		}
		if err := m.reconnect(ctx, k); err != nil {
			return nil, err
		}
	}
}
