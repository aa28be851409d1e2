package conformance

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// An outliving toy has machines that can be detached.
type outliving struct {
	toy
	machines *sync.Map // by their references
}

const toyRef = "toy-"

// Refer implements driver.Attacher.
func (t outliving) Refer(s driver.Session) (codeinterp.Ref, error) {
	ref := codeinterp.Ref(fmt.Sprintf("%s%p", toyRef, s))
	t.machines.Store(ref, s)
	return ref, nil
}

// Detach implements driver.Attacher.
func (t outliving) Detach(_ context.Context, s driver.Session, _ func() bool) (codeinterp.Ref, error) {
	return t.Refer(s)
}

// Attach implements driver.Attacher.
func (t outliving) Attach(_ context.Context, ref codeinterp.Ref, late func(codeinterp.Output)) (driver.Attached, error) {
	m, ok := t.machines.LoadAndDelete(ref)
	switch {
	case ok:
		m := m.(*machine)
		m.o.Late = late
		return driver.Attached{Session: m, Language: "toy", Options: m.o.ContextOptions}, nil
	case strings.HasPrefix(string(ref), toyRef):
		return driver.Attached{}, codeinterp.ErrContext
	}
	return driver.Attached{}, codeinterp.ErrInvalid
}

// A toyLeft is a command that goes on when its session leaves it.
type toyLeft struct {
	o       codeinterp.CommandOptions
	ref     codeinterp.Ref
	input   *io.PipeReader
	feed    *io.PipeWriter
	outputs chan codeinterp.Output
	before  []codeinterp.Output // that was shown
	ended   chan driver.Outcome
	stop    func()
}

// KeepCommand implements driver.CommandKeeper.
func (t outliving) KeepCommand(_ context.Context, o codeinterp.CommandOptions) (driver.Session, error) {
	if o.Kept.Ref == "" {
		c := &toyLeft{o: o, outputs: make(chan codeinterp.Output, 10), ended: make(chan driver.Outcome, 1)}
		c.input, c.feed = io.Pipe()
		c.ref = codeinterp.Ref(fmt.Sprintf("%s%p", toyRef, c))
		t.machines.Store(c.ref, c)
		return toyFollower{c, t}, nil
	}
	if c, ok := t.machines.Load(o.Kept.Ref); ok {
		c := c.(*toyLeft)
		c.o = o
		return toyFollower{c, t}, nil
	}
	if strings.HasPrefix(string(o.Kept.Ref), toyRef) {
		return nil, codeinterp.ErrContext
	}
	return nil, codeinterp.ErrInvalid
}

// A toyFollower is a session that follows one.
type toyFollower struct {
	c *toyLeft
	t outliving
}

// Run implements driver.Session.
func (s toyFollower) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	c := s.c
	if c.o.Kept.Ref == "" {
		shell := &toyShell{o: codeinterp.CommandOptions{}, stop: make(chan struct{})}
		shell.o.Input = c.input
		c.stop = func() { _ = shell.Interrupt(context.Background()) }
		go func() {
			all := driver.NewOutput(&codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error { c.outputs <- o; return nil }})
			o, _ := shell.Run(context.Background(), &driver.Program{Code: p.Code}, all)
			close(c.outputs)
			c.ended <- o
		}()
	}
	p.Begin()
	if f := c.o.Kept.OnBegin; f != nil {
		f(c.ref, 0)
	}
	for _, o := range c.before {
		out.Add(o)
	}
	if in, ok := c.o.Input.(io.Closer); ok {
		defer in.Close()
	}
	if c.o.Input != nil {
		go func() {
			if _, err := io.Copy(c.feed, c.o.Input); err == nil {
				c.feed.Close()
			}
		}()
	}
	for {
		select {
		case o, ok := <-c.outputs:
			if !ok {
				s.t.machines.Delete(c.ref)
				return <-c.ended, nil
			}
			c.before = append(c.before, o)
			out.Add(o)
		case <-c.o.Kept.Leave:
			return driver.Outcome{Unknown: codeinterp.ErrUnavailable}, nil
		case <-ctx.Done():
			c.stop()
		}
	}
}

// Interrupt implements driver.Session.
func (s toyFollower) Interrupt(context.Context) error { s.c.stop(); return nil }

// Reset implements driver.Session.
func (toyFollower) Reset(context.Context) error { return nil }

// Close implements driver.Session.
func (toyFollower) Close(context.Context) error { return nil }
