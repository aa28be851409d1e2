//go:build unix

package subprocess

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A forker is the host's side of a fork server. It starts the server again
// where that has died.
type forker struct {
	i *Interpreter
	l *language

	mu     sync.Mutex // held while the server is started
	server *server
	closed bool
}

func newForker(i *Interpreter, l *language) (*forker, error) {
	w := &forker{i: i, l: l}
	if _, err := w.running(i.life); err != nil {
		return nil, err
	}
	return w, nil
}

// running returns the server, a new one where the old one is gone.
func (w *forker) running(ctx context.Context) (*server, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, codeinterp.ErrClosed
	}
	if w.server != nil {
		if alive(w.server.sb) {
			return w.server, nil
		}
		w.server.end()
		w.server = nil
	}
	s, err := startServer(ctx, w.i, w.l)
	if err == nil {
		w.server = s
	}
	return s, err
}

// fork returns a new child of the server. It waits for its configuration.
func (w *forker) fork(ctx context.Context) (*process, error) {
	s, err := w.running(ctx)
	if err != nil {
		return nil, err
	}
	p, err := s.fork(w.i, w.l)
	if err != nil && !alive(s.sb) {
		if s, err = w.running(ctx); err == nil {
			p, err = s.fork(w.i, w.l)
		}
	}
	return p, err
}

func (w *forker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.server != nil {
		w.server.end()
		w.server = nil
	}
}

// A server is one running fork server.
type server struct {
	sb    *sandbox.Process
	conn  *net.UnixConn
	dir   string
	heard chan struct{} // closed when the server can say no more

	asking sync.Mutex // one fork at a time

	mu       sync.Mutex
	pids     chan int // answer to the fork that is asked for
	children map[int]*sandbox.Process
	waited   map[int]uint32 // of children that ended before they were adopted
}

func startServer(ctx context.Context, i *Interpreter, l *language) (*server, error) {
	dir, err := i.sandbox.TempDir()
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, heard: make(chan struct{}), children: map[int]*sandbox.Process{}, waited: map[int]uint32{}}
	errs, err := s.start(i, l)
	if err != nil {
		_ = sandbox.RemoveAll(dir)
		return nil, err
	}
	_, err = s.conn.Write(append(bytes.Clone(l.forkBoot), encode(framePreload, i.opts.Warm.Preload...)...))
	hello := make(chan string, 1)
	go s.listen(hello)
	if err == nil {
		select {
		case v := <-hello:
			if problem, failed := strings.CutPrefix(v, "!"); failed {
				err = fmt.Errorf("%w: preload of %s", codeinterp.ErrUnavailable, problem)
			}
		case <-s.heard:
			err = fmt.Errorf("%w: the fork server for %s did not start: %s", codeinterp.ErrUnavailable, l.Name, errs())
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// start starts the process. The function that it returns gives the last words
// of a server that has ended.
func (s *server) start(i *Interpreter, l *language) (func() string, error) {
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
	c := i.command(l, &place{dir: s.dir})
	c.ForkServer = true
	c.Limits = sandbox.Limits{Memory: -1, Processes: -1, CPU: -1, FileSize: -1, Disk: -1, Inodes: -1, OpenFiles: -1} // the children have theirs
	c.Files = []*os.File{nil, nil, errW, child}
	conn, err := net.FileConn(host)
	if err != nil {
		errR.Close()
		return nil, noDescriptors(err)
	}
	s.conn = conn.(*net.UnixConn)
	if s.sb, err = i.sandbox.Start(c); err != nil {
		errR.Close()
		s.conn.Close()
		return nil, err
	}
	said := make(chan string, 1)
	go func() {
		said <- lastWords(errR)
		errR.Close()
	}()
	return func() string { return <-said }, nil
}

// lastWords reads r to its end and returns the last of it.
func lastWords(r *os.File) string {
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
func (s *server) listen(hello chan<- string) {
	defer close(s.heard)
	for {
		f, err := readFrame(s.conn)
		if err != nil {
			return
		}
		switch f.kind {
		case frameHello:
			select {
			case hello <- string(f.field(0)):
			default:
			}
		case frameForked:
			s.mu.Lock()
			if s.pids != nil {
				s.pids <- f.number(1)
				s.pids = nil
			}
			s.mu.Unlock()
		case frameWaited:
			s.mu.Lock()
			if p := s.children[f.number(0)]; p != nil {
				p.Finish(uint32(f.number(1)))
				delete(s.children, f.number(0))
			} else {
				s.waited[f.number(0)] = uint32(f.number(1))
			}
			s.mu.Unlock()
		}
	}
}

// end kills the server and waits until it is gone.
func (s *server) end() {
	s.sb.Kill()
	s.sb.Wait()
	s.conn.Close()
	<-s.heard
	_ = sandbox.RemoveAll(s.dir)
}

// fork makes a child of the server a driver of its own.
func (s *server) fork(i *Interpreter, l *language) (_ *process, err error) {
	dir, err := i.sandbox.TempDir()
	if err != nil {
		return nil, err
	}
	pl := &place{dir: dir}
	defer func() {
		if err != nil {
			_ = sandbox.RemoveAll(dir)
		}
	}()
	c := i.command(l, pl)
	fork, err := i.sandbox.Fork(s.sb, c)
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
	return newProcess(l, sb, ends, pl, i.sandbox.WorkdirInside(dir), func() { _ = sandbox.RemoveAll(dir) })
}

// ask has the server fork, and adopts the child.
func (s *server) ask(fork *sandbox.Fork, env []string, e *ends) (*sandbox.Process, error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	pids := make(chan int, 1)
	s.mu.Lock()
	s.pids = pids
	s.mu.Unlock()
	files := e.child[:]
	if fork.Layer.Ruleset != nil {
		files = append(files[:len(files):len(files)], fork.Layer.Ruleset)
	}
	if err := s.send(encode(frameFork, layerFields(&fork.Layer, env)...), files); err != nil {
		return nil, fmt.Errorf("%w: the fork server is gone", codeinterp.ErrUnavailable)
	}
	select {
	case pid := <-pids:
		sb, err := fork.Adopt(pid)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if status, ended := s.waited[pid]; ended {
			delete(s.waited, pid)
			sb.Finish(status)
		} else {
			s.children[pid] = sb
		}
		return sb, nil
	case <-s.heard:
		return nil, fmt.Errorf("%w: the fork server is gone", codeinterp.ErrUnavailable)
	}
}

// send writes a frame with descriptors.
func (s *server) send(b []byte, files []*os.File) error {
	fds := make([]int, len(files))
	for n, f := range files {
		fds[n] = int(f.Fd())
	}
	n, _, err := s.conn.WriteMsgUnix(b, syscall.UnixRights(fds...), nil)
	if err == nil && n < len(b) {
		_, err = s.conn.Write(b[n:])
	}
	return err
}

// layerFields are the fields of a fork frame.
func layerFields(l *sandbox.Layer, env []string) []string {
	limits := make([]string, len(l.Rlimits))
	for n, r := range l.Rlimits {
		limits[n] = fmt.Sprintf("%d:%d:%d", r.Resource, r.Soft, r.Hard)
	}
	fields := []string{"0", strconv.Itoa(l.Group), strconv.Itoa(l.DeathSignal), l.Workdir, strings.Join(limits, " "), string(l.Seccomp)}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		fields = append(fields, k, v)
	}
	return fields
}
