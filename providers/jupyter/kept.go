package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

var _ driver.CommandKeeper = commandRuntime{}

// commandRef is the serialised form of a command.
type commandRef struct {
	Kernel  string `json:"kernel"`
	Process string `json:"process"`
	Command string `json:"command"`
}

// KeepCommand implements driver.CommandKeeper.
func (c commandRuntime) KeepCommand(ctx context.Context, o codeinterp.CommandOptions) (driver.Session, error) {
	s := c.newCommand(codeinterp.TerminalOptions{CommandOptions: o})
	if s.kept = c.opts.KeepCommands > 0 || o.Kept.Ref != ""; o.Kept.Ref == "" {
		return s, nil
	}
	var r commandRef
	if err := json.Unmarshal([]byte(o.Kept.Ref), &r); err != nil || !isID().MatchString(r.Kernel) || r.Command == "" {
		return nil, fmt.Errorf("%w: not the reference of a command", codeinterp.ErrInvalid)
	}
	return s, s.attach(ctx, &r)
}

// ref returns the command's reference.
func (c *command) ref() codeinterp.Ref {
	_, process := c.k.Names()
	b, _ := json.Marshal(commandRef{c.k.ID, process, c.id})
	return codeinterp.Ref(b)
}

// attachLimit is for how long a client may be silent that has gone, and more.
const attachLimit = 4 * time.Second

// attach finds a command that another process has started.
func (c *command) attach(ctx context.Context, r *commandRef) (err error) {
	c.id = r.Command
	if c.k, err = c.m.of(ctx, r.Kernel, r.Process); err != nil {
		return err
	}
	for end := time.Now().Add(attachLimit); ; {
		c.was, err = c.ask(ctx, &kernel.CommandRequest{Op: "attach"})
		if !errors.Is(err, codeinterp.ErrCapacity) || time.Now().After(end) || server.Wait(ctx, mostPause) != nil {
			break
		}
	}
	switch {
	case errors.Is(err, kernel.ErrForgotten):
		err = fmt.Errorf("%w: the command has ended with its process", codeinterp.ErrContext)
	case err != nil:
		c.k.Drop()
		return err
	}
	c.m.adopt(c.k)
	return err
}

// leaving waits for the order to leave the command, which cancels what follows it. left says
// whether it came, and err is by that.
func (c *command) leaving(cancel context.CancelFunc) (left func(err error) bool) {
	if !c.kept {
		return func(error) bool { return false }
	}
	over, ordered := make(chan struct{}), make(chan bool, 1)
	go func() {
		select {
		case <-c.o.Kept.Leave:
			cancel()
			ordered <- true
		case <-over:
			ordered <- false
		}
	}()
	return func(err error) bool {
		close(over)
		if !<-ordered || !errors.Is(err, context.Canceled) {
			return false
		}
		ctx, stop := context.WithTimeout(context.Background(), endLimit)
		defer stop()
		_, _ = c.ask(ctx, &kernel.CommandRequest{Op: "leave"}) // else it is noticed a little later
		c.m.leave(c.k)
		return true
	}
}
