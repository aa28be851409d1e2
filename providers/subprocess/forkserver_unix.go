//go:build unix

package subprocess

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A forkServer is a driver that has imported the preloaded modules and forks others.
type forkServer struct {
	h *host
	l *language
	p *process

	mu       sync.Mutex
	asked    int                      // number of the last request
	requests map[int]*forkRequest     // open ones
	children map[int]*sandbox.Process // by pid, until they have ended
	retired  bool                     // it ends with its last child
}

// A forkRequest waits for a child. One that is never adopted reads the end of its
// channel, and exits.
type forkRequest struct {
	fork  *sandbox.Fork
	child chan forkedChild
}

type forkedChild struct {
	sb  *sandbox.Process
	err error
}

// maxFork bounds the time that a fork server has to fork.
const maxFork = 10 * time.Second

var errNoServer = fmt.Errorf("%w: the fork server is gone", codeinterp.ErrUnavailable)

// startServer starts a fork server that has imported modules.
func startServer(ctx context.Context, h *host, l *language) (*forkServer, error) {
	dir, err := h.sandbox.TempDir()
	if err != nil {
		return nil, err
	}
	release := func() { h.sandbox.Discard(dir) }
	s := &forkServer{h: h, l: l, requests: map[int]*forkRequest{}, children: map[int]*sandbox.Process{}}
	pl := &place{dir: dir, forks: s}
	c := h.command(l, pl)
	c.ForkServer = true
	// The children have limits of their own.
	c.Limits = sandbox.Limits{Memory: -1, Processes: -1, CPU: -1, FileSize: -1, Disk: -1, Inodes: -1, OpenFiles: -1}
	if s.p, err = h.spawn(l, pl, c, nil, release); err != nil {
		release()
		return nil, l.unstarted(err)
	}
	_ = s.p.write(l.forkBoot) // where it fails, so does the next frame
	if err = s.p.preload(ctx, h.preloads(l)); err == nil {
		_, err = s.p.readHello(ctx)
	}
	if err != nil {
		s.p.kill()
		return nil, err
	}
	s.p.sb.Rest() // it has no limits
	return s, nil
}

// report takes what the server reports of its children.
func (s *forkServer) report(f *frames.Frame) {
	if f.Kind == frames.Forked {
		s.forked(f.Number(0), f.Number(1))
	} else {
		s.waited(f.Number(0), uint32(f.Number(1)))
	}
}

// forked adopts a child for the caller who waits for it.
func (s *forkServer) forked(request, pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.requests[request]
	if r == nil {
		return
	}
	delete(s.requests, request)
	sb, err := r.fork.Adopt(pid)
	if err == nil {
		s.children[pid] = sb
	}
	r.child <- forkedChild{sb, err}
}

// waited notes the end of a child. It ignores other processes, which programs can leave
// to the server: their pids are used again.
func (s *forkServer) waited(pid int, status uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sb := s.children[pid]; sb != nil {
		sb.Finish(status)
		delete(s.children, pid)
	}
	s.endIfUnused()
}

// retire ends the server with its last child.
func (s *forkServer) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = true
	s.endIfUnused()
}

// endIfUnused ends a retired server without children. s.mu is held.
func (s *forkServer) endIfUnused() {
	if s.retired && len(s.children) == 0 && len(s.requests) == 0 {
		go s.p.kill()
	}
}

// fork returns a driver in a new place, which waits for its configuration.
func (s *forkServer) fork(ctx context.Context) (_ *process, err error) {
	dir, err := s.h.sandbox.TempDir()
	if err != nil {
		return nil, err
	}
	release := func() { s.h.sandbox.Discard(dir) }
	defer func() {
		if err != nil {
			release()
		}
	}()
	pl := &place{dir: dir}
	c := s.h.command(s.l, pl)
	fork, err := s.h.sandbox.Fork(s.p.sb, c)
	if err != nil {
		return nil, err
	}
	defer fork.Close()
	ends, err := newEnds(true)
	if err != nil {
		return nil, err
	}
	sb, err := s.ask(ctx, fork, c.Env, ends)
	ends.closeChild()
	if err != nil {
		ends.closeHost()
		return nil, err
	}
	p, err := newProcess(s.h.room, s.l, sb, ends, pl, s.h.sandbox.WorkdirInside(dir, nil), release)
	if err == nil {
		p.modules = s.p.modules
	}
	return p, err
}

// ask requests a child and waits for it.
func (s *forkServer) ask(ctx context.Context, fork *sandbox.Fork, env []string, e *ends) (*sandbox.Process, error) {
	files := e.child[:]
	if fork.Layer.Ruleset != nil {
		files = append(files[:len(files):len(files)], fork.Layer.Ruleset)
	}
	r := &forkRequest{fork, make(chan forkedChild, 1)}
	s.mu.Lock()
	s.asked++
	number := s.asked
	s.requests[number] = r
	s.mu.Unlock()
	failed := func(err error) (*sandbox.Process, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.requests, number); len(r.child) > 0 {
			if c := <-r.child; c.err == nil { // too late
				c.sb.Kill()
			}
		}
		s.endIfUnused()
		return nil, err
	}
	if err := s.p.sendFiles(frames.Encode(frames.Fork, layerFields(number, &fork.Layer, env)...), files); err != nil {
		s.p.kill() // it may have read a part of it
		return failed(errNoServer)
	}
	timer := time.NewTimer(maxFork)
	defer timer.Stop()
	select {
	case c := <-r.child:
		return c.sb, c.err
	case <-s.p.gone:
		return failed(errNoServer)
	case <-ctx.Done():
		return failed(context.Cause(ctx))
	case <-timer.C:
		s.p.kill()
		return failed(fmt.Errorf("%w: the fork server does not answer, and was ended", codeinterp.ErrUnavailable))
	}
}

// sendFiles sends a frame with descriptors, which go with its first bytes.
func (p *process) sendFiles(b []byte, files []*os.File) error {
	fds := make([]int, len(files))
	for n, f := range files {
		fds[n] = int(f.Fd())
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	_ = p.ctl.SetWriteDeadline(time.Now().Add(maxWrite))
	var n int
	var failed error
	err := p.raw.Write(func(fd uintptr) bool {
		n, failed = syscall.SendmsgN(int(fd), b, syscall.UnixRights(fds...), nil, 0)
		return failed != syscall.EAGAIN && failed != syscall.EINTR
	})
	if err != nil || failed != nil {
		return errNoServer
	}
	for b = b[n:]; len(b) > 0; b = b[n:] {
		if n, err = p.writeChunk(b); err != nil {
			return err
		}
	}
	return nil
}

// layerFields are the fields of a fork frame.
func layerFields(request int, l *sandbox.Layer, env []string) []string {
	limits := make([]string, len(l.Rlimits))
	for n, r := range l.Rlimits {
		limits[n] = fmt.Sprintf("%d:%d:%d", r.Resource, r.Soft, r.Hard)
	}
	fields := []string{strconv.Itoa(request), strconv.Itoa(l.Group), strconv.Itoa(l.DeathSignal), l.Workdir, strings.Join(limits, " "), string(l.Seccomp)}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		fields = append(fields, k, v)
	}
	return fields
}
