package subprocess

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/internal/keeper"
)

const (
	keeperEnd   = 10 * time.Second // for a keeper to end, whatever keeps it
	holdLimit   = 2 * time.Second  // for the host before to be gone
	maxKeptLate = 1 << 20          // bytes of output between runs
)

// runKeeper runs a keeper if this process is one.
func runKeeper() {
	if len(os.Args) != 2 || os.Args[0] != keeperName {
		return
	}
	k := &keptContext{}
	k.life, k.end = context.WithCancel(context.Background())
	ln, err := k.open(os.Args[1])
	_ = gob.NewEncoder(os.Stdout).Encode(&keptReply{Err: newKeptError(err)})
	os.Stdout.Close()
	if err == nil {
		k.serve(ln)
	}
	err = k.close()
	for _, c := range k.closers {
		_ = c.out.Encode(&keptReply{Err: newKeptError(err)})
	}
	os.Exit(0)
}

// A keptContext is a context in its keeper.
type keptContext struct {
	order keeperOrder
	claim *keeper.Claim
	h     *host
	s     driver.Session
	life  context.Context // ends with the keeper
	end   context.CancelFunc

	mu      sync.Mutex
	holder  chan struct{} // closed when the host that has the context has gone; nil without one
	lease   *time.Timer
	run     *keptRun // the last one, nil if a host has got its end
	started bool     // a program has begun
	runs    int      // since the state was empty
	late    *driver.Output
	closers []*keptConn // hosts that wait for the end
}

// open starts the context of the order on standard input.
func (k *keptContext) open(key string) (*net.UnixListener, error) {
	o := &k.order
	if err := gob.NewDecoder(os.Stdin).Decode(o); err != nil {
		return nil, fmt.Errorf("%w: the keeper's order: %w", codeinterp.ErrInvalid, err)
	}
	os.Stdin.Close()
	var err error
	if k.claim, err = o.Dir.Claim(key); err != nil {
		return nil, err
	}
	l := &language{Language: o.Language, path: o.Path, boot: o.Boot, roots: o.Roots}
	l.kind = o.Kind
	k.h = &host{room: frames.NewRoom(), names: []string{l.Name}, opts: Options{Sandbox: o.Sandbox, Dir: o.Shared, Network: o.Network,
		ReadOnly: o.ReadOnly, Writable: o.Writable, Limits: o.Limits, Env: o.HostEnv, Grace: o.Grace}}
	err = k.h.open(func() error {
		k.h.languages = map[string]*language{l.Name: l}
		return l.show(k.h.sandbox)
	})
	if err != nil {
		return nil, err
	}
	d := driver.Options{Language: l.Name, Late: k.keepLate, ContextOptions: codeinterp.ContextOptions{Cwd: o.Cwd, Env: o.Env}}
	if k.s, err = k.h.Start(k.life, d); err != nil {
		return nil, errors.Join(err, k.h.Close(k.life))
	}
	k.lease = time.AfterFunc(o.Lease, k.end)
	return k.claim.Listen()
}

// serve serves hosts until the lease ends, or a host or a signal ends the keeper.
func (k *keptContext) serve(ln *net.UnixListener) {
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	signaled := make(chan os.Signal, 1)
	signal.Notify(signaled, syscall.SIGTERM)
	go func() { <-signaled; k.end() }()
	context.AfterFunc(k.life, func() { ln.Close() })
	for {
		conn, err := keeper.Accept(ln)
		if err != nil {
			return
		}
		go k.answer(newKeptConn(conn))
	}
}

// close ends the context. The process ends too, even if this does not return.
func (k *keptContext) close() (err error) {
	keeper.EndWithin(keeperEnd)
	k.end()
	if k.s != nil {
		if r := k.last(); r != nil {
			<-r.done
		}
		err = errors.Join(k.s.Close(context.Background()), k.h.Close(context.Background()))
	}
	if k.claim != nil {
		k.claim.Close()
	}
	return err
}

// keepLate takes output that is no run's.
func (k *keptContext) keepLate(o codeinterp.Output) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.late == nil {
		k.late = driver.NewOutput(&codeinterp.RunOptions{MaxOutput: maxKeptLate})
	}
	o.Late = true
	o.Data = slices.Clone(o.Data)
	k.late.Add(o)
}

// takeLate returns and removes it.
func (k *keptContext) takeLate() (res codeinterp.Result) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.late != nil {
		k.late.Finish(&res)
		k.late = nil
	}
	return res
}

// answer serves one connection.
func (k *keptContext) answer(c *keptConn) {
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(keptPatience))
	var q keptRequest
	if c.in.Decode(&q) != nil {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	r := &keptReply{}
	var err error
	switch q.Op {
	case "hold":
		k.hold(c)
		return
	case "run":
		var run *keptRun
		if run, err = k.start(&q); err == nil {
			run.stream(c, 0)
			return
		}
	case "follow":
		if run := k.last(); run != nil {
			run.stream(c, q.After)
			return
		}
		err = codeinterp.ErrNoRun
	case "interrupt":
		err = k.s.Interrupt(k.life)
	case "stop":
		if run := k.last(); run != nil {
			run.cancel()
		}
	case "reset":
		if run := k.last(); run != nil {
			run.cancel()
			<-run.done
		}
		err = k.s.Reset(k.life)
		k.mu.Lock()
		k.run, k.started = nil, false
		k.mu.Unlock()
	case "release": // the host goes in good order
		for _, o := range q.Outputs {
			k.keepLate(o)
		}
		k.mu.Lock()
		k.run = nil
		k.mu.Unlock()
	case "complete":
		r.Completion = new(codeinterp.Completion)
		*r.Completion, err = k.h.Complete(k.life, k.s, q.Code, q.Cursor)
	case "close":
		k.mu.Lock()
		k.closers = append(k.closers, c)
		k.mu.Unlock()
		k.end()
		select {} // the process ends
	}
	r.Err = newKeptError(err)
	_ = c.out.Encode(r)
}

func (k *keptContext) last() *keptRun {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.run
}

// hold gives the context to a host until its connection ends. The lease runs while no host
// has it.
func (k *keptContext) hold(c *keptConn) {
	limit := time.NewTimer(holdLimit)
	defer limit.Stop()
	mine := make(chan struct{})
	for taken := false; !taken; {
		k.mu.Lock()
		before := k.holder
		if taken = before == nil && k.lease.Stop(); taken {
			k.holder = mine
		}
		k.mu.Unlock()
		if before == nil && !taken {
			_ = c.out.Encode(&keptReply{Err: newKeptError(fmt.Errorf("%w: its lease has ended", codeinterp.ErrContext))})
			return
		}
		if !taken {
			select {
			case <-before:
			case <-limit.C:
				_ = c.out.Encode(&keptReply{Err: newKeptError(fmt.Errorf("%w: another process has the context", codeinterp.ErrCapacity))})
				return
			}
		}
	}
	k.mu.Lock()
	hello := &keptHello{Language: k.order.Language.Name, Cwd: k.order.Cwd, Env: k.order.Env, Dir: k.s.(*session).place.dir,
		Inside: k.s.(*session).Cwd(), Empty: !k.started, Pending: k.run != nil && !k.run.got}
	k.mu.Unlock()
	if c.out.Encode(&keptReply{Hello: hello}) == nil {
		_, _ = io.Copy(io.Discard, c)
	}
	k.mu.Lock()
	k.holder = nil
	k.lease.Reset(k.order.Lease)
	k.mu.Unlock()
	close(mine)
}
