//go:build unix

package subprocess

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// StartTerminal implements driver.TerminalStarter.
func (h *host) StartTerminal(_ context.Context, o codeinterp.TerminalOptions) (driver.Session, error) {
	l, err := h.shell()
	if err != nil {
		return nil, err
	}
	return &command{h: h, lang: l, o: o.CommandOptions, term: &terminal{size: o.Size, resizes: o.Resizes}}, nil
}

// A terminal is what a command has on a terminal.
type terminal struct {
	size    codeinterp.TerminalSize
	resizes <-chan codeinterp.TerminalSize
	host    *os.File // its end; the process's pump owns it
}

// open makes the terminal. The program's end is a descriptor that blocks.
func (t *terminal) open() (child *os.File, err error) {
	host, child, err := pty.Open()
	if err != nil {
		return nil, noDescriptors(err)
	}
	// pty has made it block, and os.NewFile gives deadlines to what is non-blocking only.
	defer host.Close()
	fd, err := unix.FcntlInt(host.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = syscall.SetNonblock(fd, true)
	}
	if err != nil {
		child.Close()
		return nil, noDescriptors(err)
	}
	t.host = os.NewFile(uintptr(fd), "terminal")
	return child, t.resize(t.size)
}

// resize sets the size, of which the kernel tells the programs.
func (t *terminal) resize(s codeinterp.TerminalSize) error {
	raw, err := t.host.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(s.Rows), Col: uint16(s.Columns)})
	})
	if err == nil {
		err = failed
	}
	return err
}

// change sets a size of the caller's. What is no size is ignored.
func (t *terminal) change(s codeinterp.TerminalSize) {
	if s, err := s.Check(); err == nil {
		_ = t.resize(s)
	}
}

// A typed is where input for a terminal is written. Its end closes nothing.
type typed struct{ *os.File }

// Close ends a Write that waits for the program.
func (t typed) Close() error { return t.SetWriteDeadline(time.Unix(1, 0)) }

// ends returns the ends of a process whose three streams are the terminal. There is no
// second stream: what the host reads of it has ended.
func (t *terminal) ends(child *os.File) (*ends, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, noDescriptors(err)
	}
	e := &ends{}
	e.host[0], e.host[1], e.child[0], e.child[1] = t.host, null, child, child
	return e, nil
}

// interactive returns the command that replaces a shell of a terminal by one for a person.
func (h *host) interactive(l *language) string {
	line := fmt.Sprintf("exec %s -l -i", l.Path)
	if h.sandbox.Mode() == sandbox.Landlock && l.Name == "bash" {
		// It would say at its start that it has no job control.
		line = "PROMPT_COMMAND='exec 2>&0; unset PROMPT_COMMAND' " + line + " 2>/dev/null"
	}
	return line
}
