//go:build unix

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"sync"

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
	children map[int]*sandbox.Process // by pid, until they have ended
	retired  bool                     // it ends with its last child
}

var errNoServer = fmt.Errorf("%w: the fork server is gone", codeinterp.ErrUnavailable)

// startServer starts a fork server that has imported modules.
func startServer(ctx context.Context, h *host, l *language) (*forkServer, error) {
	dir, release, err := h.tempDir()
	if err != nil {
		return nil, err
	}
	s := &forkServer{h: h, l: l, children: map[int]*sandbox.Process{}}
	pl := &place{dir: dir, forks: s}
	c := h.command(l, pl)
	c.ForkServer = true
	// The children have limits of their own.
	c.Limits = sandbox.Limits{Memory: -1, Processes: -1, CPU: -1, FileSize: -1, Disk: -1, Inodes: -1, OpenFiles: -1}
	if s.p, err = h.spawn(nil, l, pl, c, nil, release); err != nil {
		return nil, l.unstarted(err)
	}
	if err = s.p.write(l.ForkBoot); err != nil {
		s.p.sb.Kill()
	}
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

// report takes what the server reports of the end of a child.
func (s *forkServer) report(f *frames.Frame) {
	pid := f.Number(0)
	// Programs can leave other processes to the server, whose pids are used again.
	s.mu.Lock()
	defer s.mu.Unlock()
	if sb := s.children[pid]; sb != nil {
		sb.Finish(uint32(f.Number(1)))
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
	if s.retired && len(s.children) == 0 {
		s.p.sb.Kill()
	}
}

// fork returns a driver in a new place, which waits for its configuration.
func (s *forkServer) fork() (*process, error) {
	dir, release, err := s.h.tempDir()
	if err != nil {
		return nil, err
	}
	p, err := s.p.fork(s.h.life, &place{dir: dir}, "", release)
	if errors.Is(err, errUnasked) {
		s.p.sb.Kill()
		return nil, errNoServer
	}
	if err == nil && !s.add(p.sb) {
		p.kill()
		return nil, errNoServer
	}
	return p, err
}

// add reports whether the server still has children.
func (s *forkServer) add(sb *sandbox.Process) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.retired {
		s.children[sb.Pid()] = sb
	}
	return !s.retired
}
