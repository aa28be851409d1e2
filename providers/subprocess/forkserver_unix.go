//go:build unix

package subprocess

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
	"github.com/toolcell/toolcell/providers/subprocess/internal/frames"
)

// A server is one running fork server.
type server struct {
	h       *host
	l       *language
	sb      *sandbox.Process
	conn    *net.UnixConn
	dir     string
	modules *moduleFiles  // set before the first fork
	closed  chan struct{} // closed at the end of its messages
	ended   func()        // end, once
	writing sync.Mutex    // one request at a time

	mu       sync.Mutex
	asked    int              // number of the last request
	waiting  map[int]chan int // who waits for the pid of a request
	children map[int]*child   // by pid, until they have ended
	ready    bool             // it has imported the modules
	retired  bool             // it ends with its last child
}

// A child is a process that the server forked. One that is never adopted reads the end
// of its channel, and exits.
type child struct {
	sb     *sandbox.Process // nil until it is adopted
	ended  bool
	status uint32 // if it ended before it was adopted
}

// maxAnswer bounds the time that a fork server has to fork, and to read a request.
const maxAnswer = 10 * time.Second

var errNoServer = fmt.Errorf("%w: the fork server is gone", codeinterp.ErrUnavailable)

// startServer starts a fork server that has imported the preloaded modules.
func startServer(ctx context.Context, h *host, l *language) (*server, error) {
	dir, err := h.sandbox.TempDir()
	if err != nil {
		return nil, err
	}
	s := &server{h: h, l: l, dir: dir, closed: make(chan struct{}), waiting: map[int]chan int{}, children: map[int]*child{}}
	s.ended = sync.OnceFunc(s.shut)
	started := time.Now()
	printed, err := s.start()
	if err != nil {
		h.sandbox.Discard(dir)
		return nil, err
	}
	hello := make(chan string, 1)
	go s.listen(hello, started)
	_ = s.conn.SetWriteDeadline(time.Now().Add(maxProbe))
	if _, err = s.conn.Write(append(bytes.Clone(l.forkBoot), frames.Encode(frames.Preload, h.opts.Warm.Preload...)...)); err == nil {
		select {
		case v := <-hello:
			if problem, failed := strings.CutPrefix(v, "!"); failed {
				err = preloadError(problem)
			}
		case <-s.closed:
			err = s.unstarted(cmp.Or(printed(), "it ended without a word"))
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		s.end()
		return nil, err
	}
	s.sb.Rest() // it has no limits
	return s, nil
}

// unstarted is the error of a server that ended before its hello.
func (s *server) unstarted(printed string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if modules := s.h.preloads(s.l); len(modules) > 0 && !s.ready {
		return preloadError(strings.Join(modules, ", ") + ": " + printed)
	}
	return s.l.unstarted(fmt.Errorf("%w: the fork server for %s did not start: %s", codeinterp.ErrUnavailable, s.l.Name, printed))
}

// start starts the process. printed returns the last of what it wrote to standard error,
// once it has ended.
func (s *server) start() (printed func() string, err error) {
	host, child, err := socketpair()
	if err != nil {
		return nil, noDescriptors(err)
	}
	defer host.Close()
	defer child.Close()
	conn, err := net.FileConn(host)
	if err != nil {
		return nil, noDescriptors(err)
	}
	s.conn = conn.(*net.UnixConn)
	r, w, err := os.Pipe()
	if err != nil {
		s.conn.Close()
		return nil, noDescriptors(err)
	}
	defer w.Close()
	c := s.h.command(s.l, &place{dir: s.dir})
	c.ForkServer = true
	// The children have limits of their own.
	c.Limits = sandbox.Limits{Memory: -1, Processes: -1, CPU: -1, FileSize: -1, Disk: -1, Inodes: -1, OpenFiles: -1}
	c.Files = []*os.File{nil, nil, w, child}
	if s.sb, err = s.h.sandbox.Start(c); err != nil {
		r.Close()
		s.conn.Close()
		return nil, s.l.unstarted(err)
	}
	last := make(chan string, 1)
	go func() {
		var tail []byte
		buf := make([]byte, 1024)
		for n, err := 0, error(nil); err == nil; {
			n, err = r.Read(buf)
			tail = lastOf(append(tail, buf[:n]...), 500)
		}
		r.Close()
		last <- strings.TrimSpace(string(tail))
	}()
	return func() string {
		// Its children, or a module that closed the channel, may keep it open.
		_ = r.SetReadDeadline(time.Now().Add(time.Second))
		return <-last
	}, nil
}

// listen reads the server's messages until it ends.
func (s *server) listen(hello chan<- string, started time.Time) {
	defer close(s.closed)
	for {
		f, err := frames.Read(s.conn, nil)
		if err != nil {
			return
		}
		switch f.Kind {
		case frames.Ready:
			s.modules = newModuleFiles(f.Field(0), started) // before hello
			s.mu.Lock()
			s.ready = true
			s.mu.Unlock()
		case frames.Hello:
			select {
			case hello <- string(f.Field(0)):
			default:
			}
		case frames.Forked:
			s.forked(f.Number(0), f.Number(1))
		case frames.Waited:
			s.waited(f.Number(0), uint32(f.Number(1)))
		}
	}
}

// forked notes a child, and tells its pid to the caller who waits for it.
func (s *server) forked(request, pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if to := s.waiting[request]; to != nil {
		s.children[pid] = &child{}
		to <- pid
	}
}

// waited notes the end of a child. It ignores other processes, which programs can leave
// to the server: their pids are used again.
func (s *server) waited(pid int, status uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.children[pid]
	switch {
	case c == nil:
	case c.sb != nil:
		c.sb.Finish(status)
		delete(s.children, pid)
	default:
		c.ended, c.status = true, status
	}
	s.endIfUnused()
}

// retire ends the server with its last child.
func (s *server) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = true
	s.endIfUnused()
}

// endIfUnused ends a retired server without children. s.mu is held.
func (s *server) endIfUnused() {
	if s.retired && len(s.children) == 0 && len(s.waiting) == 0 {
		go s.end()
	}
}

// end kills the server and waits until it is gone.
func (s *server) end() { s.ended() }

func (s *server) shut() {
	s.sb.Kill()
	s.sb.Wait()
	s.conn.Close()
	<-s.closed
	_ = sandbox.RemoveAll(s.dir)
}

// fork returns a driver in a place, which is a child of the server; nil means a new
// place, which goes with the child.
func (s *server) fork(ctx context.Context, pl *place) (_ *process, err error) {
	var release func()
	if pl != nil {
		own := *pl
		pl = &own
	} else {
		dir, err := s.h.sandbox.TempDir()
		if err != nil {
			return nil, err
		}
		pl = &place{dir: dir}
		release = func() { s.h.sandbox.Discard(dir) }
	}
	pl.server = s
	defer func() {
		if err != nil && release != nil {
			release()
		}
	}()
	c := s.h.command(s.l, pl)
	fork, err := s.h.sandbox.Fork(s.sb, c)
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
	p, err := newProcess(s.h.budget, s.l, sb, ends, pl, s.h.sandbox.WorkdirInside(pl.dir, pl.cwd), release)
	if err == nil {
		p.modules = s.modules
	}
	return p, err
}

// ask requests a child, and adopts it.
func (s *server) ask(ctx context.Context, fork *sandbox.Fork, env []string, e *ends) (*sandbox.Process, error) {
	files := e.child[:]
	if fork.Layer.Ruleset != nil {
		files = append(files[:len(files):len(files)], fork.Layer.Ruleset)
	}
	pids := make(chan int, 1)
	s.mu.Lock()
	s.asked++
	request := s.asked
	s.waiting[request] = pids
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, request)
		select {
		case pid := <-pids: // too late
			delete(s.children, pid)
		default:
		}
		s.endIfUnused()
	}()
	if err := s.send(frames.Encode(frames.Fork, layerFields(request, &fork.Layer, env)...), files); err != nil {
		s.sb.Kill() // it may have read a part of it
		s.sb.Wait()
		return nil, errNoServer
	}
	timer := time.NewTimer(maxAnswer)
	defer timer.Stop()
	select {
	case pid := <-pids:
		return s.adopt(fork, pid)
	case <-s.closed:
		return nil, errNoServer
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-timer.C:
		s.sb.Kill()
		s.sb.Wait()
		return nil, fmt.Errorf("%w: the fork server does not answer, and was ended", codeinterp.ErrUnavailable)
	}
}

func (s *server) adopt(fork *sandbox.Fork, pid int) (*sandbox.Process, error) {
	sb, err := fork.Adopt(pid)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.children[pid]
	switch {
	case err != nil:
		delete(s.children, pid)
		return nil, err
	case c.ended: // waited came first
		delete(s.children, pid)
		sb.Finish(c.status)
	default:
		c.sb = sb
	}
	return sb, nil
}

// send writes a frame with descriptors.
func (s *server) send(b []byte, files []*os.File) error {
	fds := make([]int, len(files))
	for n, f := range files {
		fds[n] = int(f.Fd())
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.conn.SetWriteDeadline(time.Now().Add(maxAnswer))
	// The descriptors go with the first bytes; the rest needs none.
	n, _, err := s.conn.WriteMsgUnix(b, syscall.UnixRights(fds...), nil)
	if err == nil && n < len(b) {
		_, err = s.conn.Write(b[n:])
	}
	return err
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
