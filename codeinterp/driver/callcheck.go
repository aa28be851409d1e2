package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// maxMessage bounds the error text of a function for the program.
const maxMessage = 64 << 10

// inFlight is how many times Args the arguments of all calls in progress may have.
const inFlight = 4

// errSelf reports a run that would wait for itself.
var errSelf = fmt.Errorf("%w: this context waits for the function that wants to run in it", codeinterp.ErrInvalid)

// check checks a call before it uses resources of the host. A call that passes counts
// as open.
func (c *calls) check(p *pendingCall) error {
	rec, args := p.rec, p.args
	i, ok := c.find(rec.Name)
	if !ok {
		return c.refuse(rec, "the run was given no function of this name")
	}
	l := &c.limits
	if len(args) > l.Args {
		return c.refuse(rec, "the arguments have %d bytes; %d are the limit", len(args), l.Args)
	}
	if codeinterp.DeeperThan(args, codeinterp.MaxCallDepth) {
		return c.refuse(rec, "the arguments are nested more than %d deep", codeinterp.MaxCallDepth)
	}
	if !codeinterp.ValidArgs(args) {
		return c.refuse(rec, "the arguments are not a JSON object")
	}
	c.mu.Lock()
	full := c.bytes+len(args) > inFlight*l.Args
	many := l.Calls >= 0 && rec.Number > l.Calls
	ended := c.ended
	switch {
	case ended: // after the call came in
		rec.close(ErrEnded)
	case !full && !many:
		c.open[p] = true
		c.bytes += len(args)
	}
	c.mu.Unlock()
	switch {
	case ended:
		return ErrEnded
	case many:
		return c.refuse(rec, "the run has made the %d calls that it may make", l.Calls)
	case full:
		return c.refuse(rec, "the arguments of the calls in progress have more than %d bytes together; wait for some", inFlight*l.Args)
	}
	p.function = &c.functions[i]
	return nil
}

// find returns the index of a function.
func (c *calls) find(name string) (int, bool) {
	return slices.BinarySearchFunc(c.functions, name, func(f codeinterp.Function, name string) int { return strings.Compare(f.Name, name) })
}

// refuse records and returns the error of a call that is not served.
func (c *calls) refuse(rec *record, format string, args ...any) error {
	err := &codeinterp.FunctionError{Function: rec.Name, Message: fmt.Sprintf(format, args...)}
	c.mu.Lock()
	defer c.mu.Unlock()
	rec.close(err)
	return err
}

// invoke calls a function of the host.
func invoke(ctx context.Context, f *codeinterp.Function, fc codeinterp.FunctionCall) (v json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, fmt.Errorf("the function panicked: %.200s", fmt.Sprint(p))
		}
	}()
	return f.Call(ctx, fc)
}

// result checks what a function returned.
func (c *calls) result(v json.RawMessage) (json.RawMessage, error) {
	switch {
	case len(v) == 0:
		return json.RawMessage("null"), nil
	case len(v) > c.limits.Result:
		return nil, &codeinterp.FunctionError{Message: fmt.Sprintf("the result has %d bytes; %d are the limit", len(v), c.limits.Result)}
	case codeinterp.DeeperThan(v, codeinterp.MaxCallDepth):
		return nil, &codeinterp.FunctionError{Message: fmt.Sprintf("the result is nested more than %d deep", codeinterp.MaxCallDepth)}
	// json.Valid accepts strings that are not UTF-8.
	case !json.Valid(v) || !utf8.Valid(v):
		return nil, errors.New("the function did not return JSON")
	}
	return v, nil
}

// explain returns the FunctionError that a program gets for err.
func (c *calls) explain(name string, err error) error {
	if err == nil {
		return nil
	}
	msg := codeinterp.FunctionMessage(err)
	if _, ok := errors.AsType[*codeinterp.FunctionError](err); !ok {
		switch {
		case errors.Is(err, errCallTimeout):
			msg = fmt.Sprintf("the call took longer than %v", c.limits.Timeout)
		case errors.Is(err, errSelf):
			msg = errSelf.Error()
		case errors.Is(err, errGivenUp):
			msg = errGivenUp.Error()
		}
	}
	if len(msg) > maxMessage {
		msg = msg[:maxMessage] + "..."
	}
	msg = strings.ReplaceAll(strings.ToValidUTF8(msg, "\uFFFD"), "\x00", "\uFFFD") // no shell variable can hold NUL
	return &codeinterp.FunctionError{Function: name, Message: msg}
}

// message returns the error text for a CallRecord.
func message(err error) string {
	if e, ok := err.(*codeinterp.FunctionError); ok {
		return excerpt(e.Message)
	}
	return err.Error()
}

// awaited is the context key of the runs that wait for a function, innermost first.
type awaited struct{}

type awaitedRun struct {
	run   *run
	outer *awaitedRun
}

// waitingFor returns a ctx for the functions of r, without a deadline of its own.
func waitingFor(r *run) context.Context {
	outer, _ := r.ctx.Value(awaited{}).(*awaitedRun)
	return context.WithValue(context.WithoutCancel(r.ctx), awaited{}, &awaitedRun{r, outer})
}

// awaits reports whether the run in progress waits for the function that ctx belongs
// to.
func (s *slot) awaits(ctx context.Context) bool {
	a, _ := ctx.Value(awaited{}).(*awaitedRun)
	if a == nil {
		return false
	}
	s.mu.Lock()
	current := s.current
	s.mu.Unlock()
	for ; a != nil; a = a.outer {
		if a.run == current {
			return true
		}
	}
	return false
}
