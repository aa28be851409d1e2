//go:build unix

// Package pump carries what a program writes to its streams to the host, as it comes,
// without a call for each small piece.
package pump

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// Chunk is how much is read from a pipe at once: what a pipe holds by default.
const Chunk = 64 << 10

// terminalChunk is how much is read from a terminal at once.
const terminalChunk = 4 << 10

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// pause is the shortest time between two deliveries of little.
const pause = 2 * time.Millisecond

var chunks = sync.Pool{New: func() any { return new([Chunk]byte) }}

// A Sink takes what pumps carry. It keeps no b.
type Sink interface {
	Deliver(kind codeinterp.Kind, b []byte)
}

// A Pump carries what a program writes to one of its streams. What is in the
// pipe is read by the pump's own goroutine as it comes, or by Drain.
type Pump struct {
	kind codeinterp.Kind
	file *os.File
	raw  syscall.RawConn
	sink Sink
	done chan struct{} // closed at the end of the pipe

	flush chan struct{} // closed when waiting for more makes no sense
	last  time.Time     // of the loop's last delivery
	much  int           // a delivery of so many bytes is not paced

	delivering atomic.Bool // it waits for the receiver, not for the pipe

	mu  sync.Mutex // held while reading and delivering: one chunk at a time
	eof bool
}

// New starts to read from file, which is non-blocking, and owns it.
func New(kind codeinterp.Kind, file *os.File, sink Sink) (*Pump, error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	p := &Pump{kind: kind, file: file, raw: raw, sink: sink, done: make(chan struct{}), flush: make(chan struct{})}
	if p.much = Chunk / 2; isTerminal(file) {
		p.much = terminalChunk / 2
	}
	go p.loop()
	return p, nil
}

func (p *Pump) loop() {
	defer close(p.done)
	_ = p.raw.Read(func(fd uintptr) bool {
		for {
			p.pace()
			p.mu.Lock()
			n := p.take(fd)
			end := p.eof
			p.mu.Unlock()
			if n == 0 {
				// False makes Read wait until there is more.
				return end
			}
			if p.last = time.Now(); n >= p.much {
				p.last = time.Time{} // a program that prints much is not paced
			}
		}
	})
}

// pace lets a little come together after a delivery, so that a program that
// prints small pieces does not cost a call for each. Drain does not wait.
func (p *Pump) pace() {
	wait := pause - time.Since(p.last)
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.flush:
	}
}

// take reads and delivers one chunk. It returns 0 if there is none now.
func (p *Pump) take(fd uintptr) int {
	buf := chunks.Get().(*[Chunk]byte)
	defer chunks.Put(buf)
	n := p.read(fd, buf[:])
	if n > 0 {
		p.delivering.Store(true)
		p.sink.Deliver(p.kind, buf[:n])
		p.delivering.Store(false)
	}
	return n
}

// read reads what has been written, and notes the end.
func (p *Pump) read(fd uintptr, buf []byte) int {
	for {
		n, err := syscall.Read(int(fd), buf)
		switch {
		case n > 0:
			return n
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			return 0
		}
		// Any other error is an end too: nothing more can be read.
		p.eof = true
		return 0
	}
}

// maxPipe is at least what a pipe holds.
const maxPipe = 1 << 20

// Drain delivers all that the program has written by now, and at most a little more, so
// that a program that goes on writing cannot hold it up.
func (p *Pump) Drain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.raw.Control(func(fd uintptr) {
		for left := maxPipe; left > 0; {
			n := p.take(fd)
			if n == 0 {
				return
			}
			left -= n
		}
	})
}

// ended reports whether all was delivered that there will ever be.
func (p *Pump) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.eof
}

// Close ends the pump and waits for its goroutine.
func (p *Pump) Close() {
	p.file.Close()
	<-p.done
}

// Flush ends the wait for more to come together, for good.
func (p *Pump) Flush() { close(p.flush) }

// Drained waits until the pumps have ended, and reports whether they did within d, which
// does not count while a receiver takes output. What was written by then is delivered.
func Drained(d time.Duration, pumps ...*Pump) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for _, p := range pumps {
		for done := false; !done; {
			select {
			case <-p.done:
				done = true
			case <-timer.C:
				if !p.delivering.Load() {
					if p.Drain(); !p.ended() {
						return false
					}
					done = true
				}
				timer.Reset(d)
			}
		}
	}
	return true
}
