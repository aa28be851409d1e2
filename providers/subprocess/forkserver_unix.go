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
)

// A server is one running fork server.
type server struct {
	sb       *sandbox.Process
	conn     *net.UnixConn
	dir      string
	modules  *moduleFiles  // that it has imported; set before the first fork
	readDone chan struct{} // closed at the end of its messages
	ended    func()        // end, once

	asking sync.Mutex // one fork at a time

	mu       sync.Mutex
	asked    int            // number of the last request
	pids     chan int       // for the answer to it
	children map[int]*child // that it forked, by pid, until they have ended
	ready    bool           // it has imported the modules
	retired  bool           // it ends with its last child
}

// A child is what is known of a process that the server forked.
type child struct {
	sb     *sandbox.Process // nil until it is adopted
	ended  bool
	status uint32 // if it ended before it was adopted
}

// maxAnswer bounds the time that a fork server has to fork, and to read what it
// is sent: one that takes longer is given up, since another could not be told
// from it by what it answers.
const maxAnswer = 10 * time.Second

func startServer(ctx context.Context, h *host, l *language) (*server, error) {
	dir, err := h.sandbox.TempDir()
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, readDone: make(chan struct{}), children: map[int]*child{}}
	s.ended = sync.OnceFunc(s.shut)
	started := time.Now()
	errs, err := s.start(h, l)
	if err != nil {
		h.sandbox.Discard(dir)
		return nil, err
	}
	_ = s.conn.SetWriteDeadline(time.Now().Add(maxProbe))
	_, err = s.conn.Write(append(bytes.Clone(l.forkBoot), encode(framePreload, h.opts.Warm.Preload...)...))
	hello := make(chan string, 1)
	// Also where the write failed: end waits for it.
	go s.listen(hello, started)
	if err == nil {
		select {
		case v := <-hello:
			if problem, failed := strings.CutPrefix(v, "!"); failed {
				err = preloadError(problem)
			}
		case <-s.readDone:
			err = s.unstarted(h, l, cmp.Or(errs(), "it ended without a word"))
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

// unstarted says why a server ended that has not said hello.
func (s *server) unstarted(h *host, l *language, said string) error {
	if modules := h.preloads(l); len(modules) > 0 && !s.ready {
		return preloadError(strings.Join(modules, ", ") + ": " + said)
	}
	return l.unstarted(fmt.Errorf("%w: the fork server for %s did not start: %s", codeinterp.ErrUnavailable, l.Name, said))
}

// start starts the process. The function that it returns returns the last
// of what a server printed that has ended.
func (s *server) start(h *host, l *language) (func() string, error) {
	host, child, err := socketpair()
	if err != nil {
		return nil, noDescriptors(err)
	}
	defer host.Close()
	defer child.Close()
	errR, errW, err := os.Pipe()
	if err != nil {
		return nil, noDescriptors(err)
	}
	defer errW.Close()
	c := h.command(l, &place{dir: s.dir})
	c.ForkServer = true
	// The children have limits of their own.
	c.Limits = sandbox.Limits{Memory: -1, Processes: -1, CPU: -1, FileSize: -1, Disk: -1, Inodes: -1, OpenFiles: -1}
	c.Files = []*os.File{nil, nil, errW, child}
	conn, err := net.FileConn(host)
	if err != nil {
		errR.Close()
		return nil, noDescriptors(err)
	}
	s.conn = conn.(*net.UnixConn)
	if s.sb, err = h.sandbox.Start(c); err != nil {
		errR.Close()
		s.conn.Close()
		return nil, l.unstarted(err)
	}
	last := make(chan string, 1)
	go func() {
		last <- endOf(errR)
		errR.Close()
	}()
	return func() string {
		// Its children, or a preload that closed the channel, may keep it open.
		_ = errR.SetReadDeadline(time.Now().Add(time.Second))
		return <-last
	}, nil
}

// endOf reads r to its end and returns the last of it.
func endOf(r *os.File) string {
	var tail []byte
	buf := make([]byte, 1024)
	for {
		n, err := r.Read(buf)
		if tail = append(tail, buf[:n]...); len(tail) > 500 {
			tail = bytes.Clone(tail[len(tail)-500:])
		}
		if err != nil {
			return strings.TrimSpace(string(tail))
		}
	}
}

// listen hands on what the server says, until it ends.
func (s *server) listen(hello chan<- string, started time.Time) {
	defer close(s.readDone)
	for {
		f, err := readFrame(s.conn, nil)
		if err != nil {
			return
		}
		switch f.kind {
		case frameReady:
			s.modules = newModuleFiles(f.field(0), started) // before hello
			s.mu.Lock()
			s.ready = true
			s.mu.Unlock()
		case frameHello:
			select {
			case hello <- string(f.field(0)):
			default:
			}
		case frameForked:
			s.forked(f.number(0), f.number(1))
		case frameWaited:
			s.waited(f.number(0), uint32(f.number(1)))
		}
	}
}

// forked notes a child, and hands it to who asked for it.
func (s *server) forked(request, pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.children[pid] = &child{}
	if s.pids != nil && request == s.asked {
		s.pids <- pid
		s.pids = nil
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
	if s.retired && len(s.children) == 0 && s.pids == nil {
		go s.end()
	}
}

// end kills the server and waits until it is gone.
func (s *server) end() { s.ended() }

func (s *server) shut() {
	s.sb.Kill()
	s.sb.Wait()
	s.conn.Close()
	<-s.readDone
	_ = sandbox.RemoveAll(s.dir)
}

// fork makes a child of the server a driver in a place; nil means a new one, which goes
// with the child.
func (s *server) fork(h *host, l *language, pl *place) (_ *process, err error) {
	var release func()
	if pl != nil {
		own := *pl
		pl = &own
	} else {
		dir, err := h.sandbox.TempDir()
		if err != nil {
			return nil, err
		}
		pl = &place{dir: dir}
		release = func() { h.sandbox.Discard(dir) }
	}
	pl.server = s
	defer func() {
		if err != nil && release != nil {
			release()
		}
	}()
	c := h.command(l, pl)
	fork, err := h.sandbox.Fork(s.sb, c)
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
	p, err := newProcess(h.budget, l, sb, ends, pl, h.sandbox.WorkdirInside(pl.dir, pl.cwd), release)
	if err == nil {
		p.modules = s.modules
	}
	return p, err
}

// ask has the server fork, and adopts the child.
func (s *server) ask(fork *sandbox.Fork, env []string, e *ends) (*sandbox.Process, error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	files := e.child[:]
	if fork.Layer.Ruleset != nil {
		files = append(files[:len(files):len(files)], fork.Layer.Ruleset)
	}
	request, pids := s.expect()
	if err := s.send(encode(frameFork, layerFields(request, &fork.Layer, env)...), files); err != nil {
		s.giveUp() // it may have read a part of it
		return nil, errNoServer
	}
	timer := time.NewTimer(maxAnswer)
	defer timer.Stop()
	select {
	case pid := <-pids:
		return s.adopt(fork, pid)
	case <-s.readDone:
		return nil, errNoServer
	case <-timer.C:
		s.giveUp()
		return nil, fmt.Errorf("%w: the fork server does not answer, and was ended", codeinterp.ErrUnavailable)
	}
}

// giveUp ends a server that cannot be asked any more, so that another is
// started.
func (s *server) giveUp() {
	s.sb.Kill()
	s.sb.Wait()
}

var errNoServer = fmt.Errorf("%w: the fork server is gone", codeinterp.ErrUnavailable)

// expect announces a request. Only the answer to the last one counts.
func (s *server) expect() (request int, pids <-chan int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	s.pids = make(chan int, 1)
	return s.asked, s.pids
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
	// waited came first, and had nobody to tell it to.
	case c.ended:
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
