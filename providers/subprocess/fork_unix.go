//go:build unix

package subprocess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/internal/sandbox"
)

const (
	maxFork   = 10 * time.Second // that a driver has to fork,
	forkGrace = time.Second      // and once the caller does not wait any more
)

var (
	errUnasked = fmt.Errorf("%w: the process does not fork", codeinterp.ErrUnavailable)
	errNoState = fmt.Errorf("%w: the context has lost its state", codeinterp.ErrUnavailable)
)

// A forking is a request to fork.
type forking struct {
	asking sync.Mutex // one at a time

	mu     sync.Mutex
	number int      // that cannot be known before; 0 without a request
	answer chan int // gets a pid, 0 for none
}

// begin announces a request.
func (f *forking) begin() (number int, answer <-chan int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.number, f.answer = 1+rand.IntN(math.MaxInt), make(chan int, 1)
	return f.number, f.answer
}

// take takes the first answer to the request, and no other.
func (f *forking) take(pid, number int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.number != 0 && number == f.number {
		f.answer <- pid
		f.number = 0
	}
}

// fork returns a process that p has forked, in a place: of a fork server's driver one that
// waits for its configuration, of a context's, which lives in the directory from, a copy.
func (p *process) fork(ctx context.Context, pl *place, from string, release func()) (n *process, err error) {
	defer func() {
		if err != nil {
			pl.net.Close()
			if release != nil {
				release()
			}
		}
	}()
	c := p.h.command(p.lang, pl)
	fork, err := p.h.sandbox.Fork(p.sb, c)
	if err != nil {
		return nil, err
	}
	defer fork.Close()
	ends, err := newEnds(true)
	if err != nil {
		return nil, err
	}
	sb, err := p.ask(ctx, fork, from, c.Env, ends)
	ends.closeChild()
	if err != nil {
		ends.closeHost()
		return nil, err
	}
	if n, err = newProcess(p.h, p.lang, sb, ends, pl, p.h.sandbox.WorkdirInside(pl.dir, pl.cwd), release); err == nil {
		n.modules = p.modules
	}
	return n, err
}

// ask requests a child and waits for it. A child that is not adopted reads the end of its
// channel, and exits.
func (p *process) ask(ctx context.Context, fork *sandbox.Fork, from string, env []string, e *ends) (*sandbox.Process, error) {
	l := &fork.Layer
	files := e.child[:]
	if l.Ruleset != nil {
		files = append(files[:len(files):len(files)], l.Ruleset)
	}
	rest, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	p.forking.asking.Lock()
	defer p.forking.asking.Unlock()
	if p.h.pauses.paused() {
		return nil, codeinterp.ErrPaused
	}
	number, answer := p.forking.begin()
	request := frames.Encode(frames.Fork, strconv.Itoa(number), strconv.Itoa(l.Group), l.Workdir, from, strings.Join(env, "\x00"), string(rest))
	if err := p.sendFiles(request, files); err != nil {
		p.kill() // it may have read a part
		return nil, errUnasked
	}
	timer := time.NewTimer(maxFork)
	defer timer.Stop()
	for canceled := ctx.Done(); ; {
		select {
		case pid := <-answer:
			if pid > 0 {
				return fork.Adopt(pid)
			}
			return nil, errUnasked
		case <-canceled: // a copy that is about to be there is better known
			canceled = nil
			timer.Reset(forkGrace)
		case <-p.gone:
			return nil, errUnasked
		case <-timer.C:
			return nil, errUnasked
		}
	}
}

// sendFiles sends a frame with descriptors, which go with its first byte.
func (p *process) sendFiles(b []byte, files []*os.File) error {
	fds := make([]int, len(files))
	for n, f := range files {
		fds[n] = int(f.Fd())
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	_ = p.ctl.SetWriteDeadline(time.Now().Add(maxWrite))
	var failed error
	err := p.raw.Write(func(fd uintptr) bool {
		failed = syscall.Sendmsg(int(fd), b[:1], syscall.UnixRights(fds...), nil, 0)
		return failed != syscall.EAGAIN && failed != syscall.EINTR
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return p.writeHeld(b[1:])
}

var _ driver.Forker = (*host)(nil)

// forks reports whether contexts of l can be copied.
func (h *host) forks(l *language) bool {
	return h.opts.Forks && l.kind == pythonKind && l.Driver != nil
}

// Fork implements driver.Forker.
func (h *host) Fork(ctx context.Context, of driver.Session, o driver.Options) (_ driver.Session, err error) {
	s, ok := of.(*session)
	if !ok || s.p == nil || !alive(s.p.sb) {
		return nil, errNoState
	}
	p, runs, offered := s.p, s.p.runs, s.p.offered // before ctx ends, after which the next run may begin
	n := &session{h: h, lang: s.lang, used: true}
	pl := place{id: o.ID, env: o.Env, late: o.Late}
	if pl.cwd = s.place.cwd; pl.cwd != nil && pl.cwd != h.dir {
		if pl.cwd, err = pl.cwd.Again(); err != nil {
			return nil, err
		}
	}
	if pl.dir, err = h.sandbox.ForkDir(s.place.dir); err == nil {
		n.p, err = p.fork(ctx, &pl, p.inside, nil)
	}
	n.place = pl
	if err == nil {
		_, err = n.p.readHello(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, n.Close(ctx))
	}
	n.p.mu.Lock()
	n.p.runs, n.p.offered = runs, offered
	n.p.mu.Unlock()
	return n, nil
}
