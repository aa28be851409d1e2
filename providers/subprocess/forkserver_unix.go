//go:build unix

package subprocess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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

	asking sync.Mutex // one request at a time
	forked chan int   // the pid that answers it

	mu       sync.Mutex
	children map[int]*sandbox.Process // by pid, until they have ended
	retired  bool                     // it ends with its last child
}

// maxFork bounds the time that a fork server has to fork.
const maxFork = 10 * time.Second

var errNoServer = fmt.Errorf("%w: the fork server is gone", codeinterp.ErrUnavailable)

// startServer starts a fork server that has imported modules.
func startServer(ctx context.Context, h *host, l *language) (*forkServer, error) {
	dir, release, err := h.tempDir()
	if err != nil {
		return nil, err
	}
	s := &forkServer{h: h, l: l, forked: make(chan int, 1), children: map[int]*sandbox.Process{}}
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

// report takes what the server reports of its children.
func (s *forkServer) report(f *frames.Frame) {
	pid := f.Number(0)
	if f.Kind == frames.Forked {
		select {
		case s.forked <- pid:
		default: // no request
		}
		return
	}
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
func (s *forkServer) fork() (_ *process, err error) {
	dir, release, err := s.h.tempDir()
	if err != nil {
		return nil, err
	}
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
	sb, err := s.ask(fork, c.Env, ends)
	ends.closeChild()
	if err != nil {
		ends.closeHost()
		return nil, err
	}
	p, err := newProcess(s.h, s.l, sb, ends, pl, s.h.sandbox.WorkdirInside(dir, nil), release)
	if err == nil {
		p.modules = s.p.modules
	}
	return p, err
}

// A forkRequest is the content of a fork frame.
type forkRequest struct {
	sandbox.Layer
	Ruleset bool   // comes as a descriptor
	Env     []byte // name=value, separated by NUL
}

// ask requests a child and waits for it. A child that is not adopted reads the end of its
// channel, and exits.
func (s *forkServer) ask(fork *sandbox.Fork, env []string, e *ends) (*sandbox.Process, error) {
	files, rules := e.child[:], fork.Layer.Ruleset
	if rules != nil {
		files = append(files[:len(files):len(files)], rules)
	}
	request, err := json.Marshal(forkRequest{fork.Layer, rules != nil, []byte(strings.Join(env, "\x00"))})
	if err != nil {
		return nil, err
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	if s.h.pauses.paused() {
		return nil, codeinterp.ErrPaused
	}
	if s.p.sendFiles(frames.Encode(frames.Fork, string(request)), files) == nil {
		timer := time.NewTimer(maxFork)
		defer timer.Stop()
		select {
		case pid := <-s.forked:
			return s.adopt(fork, pid)
		case <-s.p.gone:
		case <-timer.C:
		}
	}
	s.p.sb.Kill() // it may have read a part of the request
	return nil, errNoServer
}

func (s *forkServer) adopt(fork *sandbox.Fork, pid int) (*sandbox.Process, error) {
	sb, err := fork.Adopt(pid)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired {
		sb.Kill()
		return nil, errNoServer
	}
	s.children[pid] = sb
	return sb, nil
}

// sendFiles sends a frame with descriptors, which go with its first byte.
func (p *process) sendFiles(b []byte, files []*os.File) error {
	fds := make([]int, len(files))
	for n, f := range files {
		fds[n] = int(f.Fd())
	}
	_ = p.ctl.SetWriteDeadline(time.Now().Add(maxWrite))
	var failed error
	err := p.raw.Write(func(fd uintptr) bool {
		failed = syscall.Sendmsg(int(fd), b[:1], syscall.UnixRights(fds...), nil, 0)
		return failed != syscall.EAGAIN && failed != syscall.EINTR
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return p.write(b[1:])
}
