package jupyter

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp/driver"
)

// help passes input, sizes and signals on until over is called.
func (t *terminal) help(s *shell, p *driver.Program) (over func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var helpers sync.WaitGroup
	helpers.Go(func() { t.resize(ctx, s) })
	helpers.Go(func() { t.pass(ctx, leftTerminal{s.name, t.id, s.pid}) })
	fed := make(chan struct{})
	in := cmp.Or[io.Reader](t.o.Input, bytes.NewReader(p.Stdin))
	go func() { defer close(fed); t.feed(ctx, s, in) }()
	return func() {
		cancel()
		if c, ok := in.(io.Closer); ok {
			c.Close()
		}
		helpers.Wait()
		select {
		case <-fed:
		case <-time.After(maxLinger):
		}
	}
}

// resize passes on the caller's sizes. One that is no size is ignored.
func (t *terminal) resize(ctx context.Context, s *shell) {
	for {
		select {
		case size, ok := <-t.o.Resizes:
			if !ok {
				return
			}
			if size, err := size.Check(); err == nil {
				_ = s.Send("set_size", size.Rows, size.Columns)
			}
		case <-ctx.Done():
			return
		}
	}
}

// typeAhead is how much is typed at most that the program has not read. Terminals take
// more; a server whose terminal is full stands still as a whole.
const typeAhead = 4 << 10

// waitRead is a script that ends once all that was typed was read.
const waitRead = `python3 -c 'import fcntl, os, struct, sys, termios, time
fd = os.open("/proc/%s/fd/0" % sys.argv[1], os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
while struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0]: time.sleep(0.02)' $sid && say 0`

// feed types the input. What is no UTF-8 becomes U+FFFD: the API's frames are text.
func (t *terminal) feed(ctx context.Context, s *shell, in io.Reader) {
	buf := make([]byte, typeAhead/utf8.UTFMax) // U+FFFD is longer than what it replaces
	for kept, typed := 0, 0; ; {
		n, err := in.Read(buf[kept:])
		if n += kept; ctx.Err() != nil {
			return
		}
		whole := n
		if err == nil { // the rest of a last character may follow
			for i := n - 1; i >= max(n-utf8.UTFMax+1, 0); i-- {
				if utf8.RuneStart(buf[i]) {
					if !utf8.FullRune(buf[i:n]) {
						whole = i
					}
					break
				}
			}
		}
		if whole > 0 {
			text := strings.ToValidUTF8(string(buf[:whole]), "\ufffd")
			if typed += len(text); typed > typeAhead {
				if typed = len(text); t.t.serve(ctx, leftTerminal{s.name, t.id, s.pid}, waitRead) != nil {
					return
				}
			}
			if s.Send("stdin", text) != nil {
				return
			}
		}
		if kept = copy(buf, buf[whole:n]); err != nil {
			return
		}
	}
}

// pass sends the caller's signals to all that the terminal has started.
func (t *terminal) pass(ctx context.Context, l leftTerminal) {
	for {
		select {
		case sig, ok := <-t.o.Signals:
			if !ok {
				return
			}
			if sig.Check() != nil {
				continue
			}
			t.mu.Lock()
			t.sent = sig
			t.mu.Unlock()
			_ = t.t.serve(ctx, l, "each "+string(sig)+"; say 0")
		case <-ctx.Done():
			return
		}
	}
}
