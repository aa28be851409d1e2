package keeper

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// A Service is what a keeper does.
type Service struct {
	Own   string        // its own Standing, as it was at its start
	Idle  time.Duration // how long it stays without a call
	Check func() error  // says whether what it was started with is still so

	// Admit says whether a call, of a caller who is in the directory, is one that it can
	// serve, and makes ready for it; Leave comes after it.
	Admit func(order *Order, dir *os.File) error
	Leave func()

	// Serve runs the call and returns its exit code. ctx ends when the program is to.
	Serve func(ctx context.Context, order *Order, s Streams) int
}

// checkEvery is how often a keeper that nobody calls looks whether it is to stay.
const checkEvery = 2 * time.Second

// A desk is where calls are taken, one at a time.
type desk struct {
	*Service
	lock     *Lock
	greeting chan struct{}
	calls    sync.WaitGroup

	mu   sync.Mutex
	busy bool
	over bool
	stay time.Duration // after the next call
	idle *time.Timer
}

// Serve serves calls until none has come for a while, ctx ends or what it was
// started with has changed, and returns when the last one has ended.
func (l *Lock) Serve(ctx context.Context, s *Service) error {
	if err := l.listen(); err != nil {
		return err
	}
	d := &desk{Service: s, lock: l, greeting: make(chan struct{}, maxGreeting), stay: s.Idle}
	d.mu.Lock()
	d.idle = time.AfterFunc(s.Idle, d.end)
	d.mu.Unlock()
	defer d.idle.Stop()
	defer context.AfterFunc(ctx, d.end)()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go d.watch(ctx)
	for {
		conn, err := l.ln.AcceptUnix()
		if err != nil {
			d.calls.Wait()
			if errors.Is(err, net.ErrClosed) {
				err = nil
			}
			return err
		}
		select {
		case d.greeting <- struct{}{}:
			d.calls.Go(func() { d.answer(conn) })
		default:
			// Nothing has begun, so that the caller runs it by itself.
			conn.Close()
		}
	}
}

// end takes no more calls.
func (d *desk) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.over {
		d.over = true
		d.lock.ln.Close()
	}
}

func (d *desk) watch(ctx context.Context) {
	every := time.NewTicker(checkEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			if d.unfit() != nil {
				d.end()
			}
		}
	}
}

func (d *desk) unfit() error { return errors.Join(d.Check(), d.lock.there()) }

// take makes the caller the one that is served.
func (d *desk) take() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.over:
		return errors.New("it ends")
	case d.busy:
		return errors.New("it is busy")
	}
	d.busy = true
	d.idle.Stop()
	return nil
}

// leave has the keeper stay for a while.
func (d *desk) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy = false
	d.idle = time.AfterFunc(d.stay, d.end)
}

// answer serves a caller, if it is one to be served.
func (d *desk) answer(conn *net.UnixConn) {
	defer conn.Close()
	greeted := sync.OnceFunc(func() { <-d.greeting })
	defer greeted()
	_ = conn.SetDeadline(time.Now().Add(maxHandshake))
	g, err := d.greet(conn)
	defer g.close()
	if err == nil && g.order.stop {
		d.end()
	}
	if err == nil {
		err = d.take()
	}
	left := func() {}
	if err == nil {
		left = sync.OnceFunc(func() { d.Leave(); d.leave() })
		defer left()
		err = d.begin(conn, g)
	}
	if err != nil {
		_ = conn.SetDeadline(time.Now().Add(maxHandshake)) // the one before may be over
		_ = writeFrame(conn, frameRefused, []byte(err.Error()))
		return
	}
	// Others are greeted, and told that it is busy, while this one is served.
	greeted()
	r, ctx := newRelay(conn, g.in, g.order.Seen)
	code := d.Serve(ctx, g.order, r.streams())
	d.lock.served()
	left() // before the caller knows of the end, and calls again
	r.exit(code)
}

// begin agrees with the caller that its call is served here. Until the caller says
// so, it may have given up, and run the program itself.
func (d *desk) begin(conn *net.UnixConn, g *greeting) error {
	if err := d.unfit(); err != nil {
		d.end()
		return err
	}
	if err := d.Admit(g.order, g.dir); err != nil {
		return err
	}
	// The caller has given up before this, or says go at once.
	_ = conn.SetDeadline(time.Now().Add(maxSend))
	if err := writeFrame(conn, frameReady); err != nil {
		return err
	}
	if kind, _, err := readFrame(g.in, 1); err != nil || kind != frameGo {
		return errors.Join(errFrame, err)
	}
	if g.order.Keep > 0 {
		d.mu.Lock()
		d.stay = g.order.Keep
		d.mu.Unlock()
	}
	return conn.SetDeadline(time.Time{})
}
