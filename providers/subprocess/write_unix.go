//go:build unix

package subprocess

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/providers/subprocess/internal/pump"
)

func (p *process) send(kind byte, fields ...string) error {
	return p.write(frames.Encode(kind, fields...))
}

// maxWrite is how long a driver may take to read a chunk. One that waits for
// its host reads at once, so it is generous; but its program may have taken the
// channel over, and must not hold the host up.
const maxWrite = 10 * time.Second

var errNotReading = errors.New("the driver does not read")

func (p *process) write(b []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	return p.writeHeld(b)
}

// writeHeld writes all of b. p.writing is held.
func (p *process) writeHeld(b []byte) error {
	for len(b) > 0 {
		n, err := p.writeChunk(b)
		if err != nil {
			return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
		}
		b = b[n:]
	}
	return nil
}

// writeChunk writes the beginning of b, and returns how much. p.writing is held.
func (p *process) writeChunk(b []byte) (int, error) {
	b = b[:min(len(b), pump.Chunk)]
	if n := p.writeNow(b); n > 0 {
		return n, nil
	}
	// For each chunk anew: one that reads slowly does read.
	n, err := p.writeWithin(maxWrite, b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errNotReading
	}
	return n, err
}

// writeNow writes what the channel takes at once, as mostly it does: a deadline
// costs more than that.
func (p *process) writeNow(b []byte) (n int) {
	// What is wrong with the channel, the Write that follows tells.
	_ = p.raw.Control(func(fd uintptr) { n, _ = syscall.Write(int(fd), b) })
	return n
}

// sendFor sends a small frame that is of use while r goes on, however long that takes,
// and reports whether it did.
func (p *process) sendFor(r *run, kind byte, fields ...string) bool {
	p.writing.Lock()
	defer p.writing.Unlock()
	b := frames.Encode(kind, fields...)
	for {
		if isDone(r.done) {
			return false
		}
		switch n, err := p.writeChunk(b); {
		case n == len(b):
			return true
		case n > 0:
			p.sb.Kill()
			return false
		case !errors.Is(err, errNotReading):
			return false
		}
	}
}

// trySend sends a small frame to a driver that may have stopped to read, and reports
// whether it did: if not it is dropped, or, where a part of it was sent, the driver
// is given up.
func (p *process) trySend(kind byte, fields ...string) bool {
	for end := time.Now().Add(signalAfter); !p.writing.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	defer p.writing.Unlock()
	b := frames.Encode(kind, fields...)
	sent := max(0, p.writeNow(b)) // a deadline may be over before a busy machine comes to write
	if sent == len(b) {
		return true
	}
	n, err := p.writeWithin(signalAfter, b[sent:])
	if err != nil && sent+n > 0 {
		p.sb.Kill()
	}
	return err == nil
}
