package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/egress"
)

// askAbout lets the policy of o ask at the terminal.
func (f *networkFlags) askAbout(o *egress.Options) error {
	switch o.Policy.Mode {
	case egress.Off:
		if f.given {
			return errors.New("it goes without --net off")
		}
		o.Policy.Mode = egress.Hosts
	case egress.Open, egress.Host:
		return fmt.Errorf("the mode %v asks about no host", o.Policy.Mode)
	}
	if f.asker == nil {
		open := f.terminal
		if open == nil {
			open = func() (io.ReadWriteCloser, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
		}
		t, err := open()
		if err != nil {
			return fmt.Errorf("there is no terminal: %w", err)
		}
		f.asker = &asker{terminal: t, in: bufio.NewReader(t), lines: make(chan string, 1), turn: make(chan struct{}, 1)}
	}
	o.Approve = f.asker.approve
	return nil
}

// An asker asks at a terminal about hosts that no rule allows, one at a time.
type asker struct {
	terminal io.Writer
	in       *bufio.Reader
	reading  bool // a line, for a question that has ended perhaps
	lines    chan string
	turn     chan struct{} // full while a question waits
}

// approve is an egress.Options.Approve. Answers that it does not know refuse, as does the
// end of the terminal.
func (a *asker) approve(ctx context.Context, q egress.Question) egress.Answer {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return egress.Refuse
	}
	fmt.Fprintf(a.terminal, "toolcell: may the program reach %s? once, always or no: ", net.JoinHostPort(q.Host, strconv.Itoa(q.Port)))
	if !a.reading {
		a.reading = true
		go func() {
			line, _ := a.in.ReadString('\n')
			a.lines <- line
		}()
	}
	select {
	case line := <-a.lines:
		a.reading = false
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "o", "once":
			return egress.AllowOnce
		case "a", "always":
			return egress.AllowContext
		}
	case <-ctx.Done():
		fmt.Fprintln(a.terminal)
	}
	return egress.Refuse
}
