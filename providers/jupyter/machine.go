package jupyter

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
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
	name string      // names this client to kernels

	mu      sync.Mutex
	kernels []*kernel.Kernel       // the last one gets new commands; those before were attached
	left    map[*kernel.Kernel]int // those that have commands for others
}

func newMachine(rt *runtime) *machine {
	return &machine{rt: rt, turn: kernel.NewTurn(), name: rand.Text(), left: map[*kernel.Kernel]int{}}
}

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
	if len(m.kernels) == 0 {
		return nil
	}
	return m.kernels[len(m.kernels)-1]
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
	m.kernels = append(m.kernels, k)
	m.mu.Unlock()
	return nil
}

// of returns the kernel with an id that another process has started.
func (m *machine) of(ctx context.Context, id, process string) (*kernel.Kernel, error) {
	m.mu.Lock()
	i := slices.IndexFunc(m.kernels, func(k *kernel.Kernel) bool { return k.ID == id })
	if i >= 0 {
		defer m.mu.Unlock()
		return m.kernels[i], nil
	}
	m.mu.Unlock()
	_, err := m.rt.c.State(ctx, id)
	k := kernel.New(m.rt.c, m.rt.kinds[commandLanguage], id)
	k.Resume("", process)
	if err == nil {
		err = k.Ensure(ctx, nil)
	}
	if err != nil {
		k.Drop()
		return nil, asContextError(err)
	}
	return k, nil
}

// adopt makes the kernel of a command that was left this process's to end.
func (m *machine) adopt(k *kernel.Kernel) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left[k] = max(m.left[k]-1, 0)
	if !slices.Contains(m.kernels, k) {
		m.kernels = slices.Insert(m.kernels, 0, k)
	}
}

// leave leaves a kernel to others.
func (m *machine) leave(k *kernel.Kernel) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left[k]++
}

// close ends the kernels but those in which commands were left.
func (m *machine) close() (err error) {
	for k := m.current(); k != nil; k = m.current() {
		err = errors.Join(err, m.drop(k))
	}
	return err
}

// drop ends a kernel, if it is there, and with it all commands that it has but those that
// were left.
func (m *machine) drop(k *kernel.Kernel) error {
	m.mu.Lock()
	i, left := slices.Index(m.kernels, k), m.left[k] > 0
	if i >= 0 {
		m.kernels = slices.Delete(m.kernels, i, i+1)
	}
	m.mu.Unlock()
	if i < 0 || left {
		k.Drop()
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
	q.Client = m.name
	for {
		one, cancel := context.WithTimeout(ctx, commandLimit)
		a, err := k.Command(one, q)
		cancel()
		switch {
		case err == nil && a.Busy():
			return nil, fmt.Errorf("%w: another process has the command", codeinterp.ErrCapacity)
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
