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

// maxMessage bounds what a function's error tells the program.
const maxMessage = 64 << 10

// inFlight is how many times the largest arguments those of all calls in
// progress may have together.
const inFlight = 4

// errSelf is the answer to a run that would wait for itself.
var errSelf = fmt.Errorf("%w: this context waits for the function that wants to run in it", codeinterp.ErrInvalid)

// check checks a call before it takes anything of the host's. A call that may be
// served counts as open from then on.
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
		return c.refuse(rec, "the arguments are not a JSON object%s", such(c.functions[i].Input))
	}
	c.mu.Lock()
	crowded := c.bytes+len(args) > inFlight*l.Args
	many := l.Calls >= 0 && rec.Number > l.Calls
	ended := c.ended
	switch {
	case ended: // since the call came in, so that end has not seen it
		rec.Err, rec.done = ErrEnded, true
	case !crowded && !many:
		c.open[p] = true
		c.bytes += len(args)
	}
	c.mu.Unlock()
	switch {
	case ended:
		return ErrEnded
	case many:
		return c.refuse(rec, "the run has made the %d calls that it may make", l.Calls)
	case crowded:
		return c.refuse(rec, "the arguments of the calls in progress have more than %d bytes together; wait for some", inFlight*l.Args)
	}
	p.function = &c.functions[i]
	return nil
}

// find returns where a function is among those of the run.
func (c *calls) find(name string) (int, bool) {
	return slices.BinarySearchFunc(c.functions, name, func(f codeinterp.Function, name string) int { return strings.Compare(f.Name, name) })
}

// refuse ends a call that is not served.
func (c *calls) refuse(rec *record, format string, args ...any) error {
	err := &codeinterp.FunctionError{Function: rec.Name, Message: fmt.Sprintf(format, args...)}
	c.mu.Lock()
	defer c.mu.Unlock()
	rec.Err, rec.done = err, true
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
	// json.Valid lets strings pass that are not UTF-8.
	case !json.Valid(v) || !utf8.Valid(v):
		return nil, errors.New("the function returned what is not JSON")
	}
	return v, nil
}

// explain returns what a program gets to know of an error, a FunctionError.
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
	msg = strings.ReplaceAll(strings.ToValidUTF8(msg, "\uFFFD"), "\x00", "\uFFFD") // which no shell can hold
	return &codeinterp.FunctionError{Function: name, Message: msg}
}

// message is what a CallRecord says of the error that a program got.
func message(err error) string {
	if e, ok := err.(*codeinterp.FunctionError); ok {
		return excerpt(e.Message)
	}
	return err.Error()
}

// awaited is the key of the runs that wait for a function, the innermost first.
type awaited struct{}

type awaitedRun struct {
	run   *run
	outer *awaitedRun
}

// waitingFor returns a ctx for the functions of r, without an end of its own.
func waitingFor(r *run) context.Context {
	outer, _ := r.ctx.Value(awaited{}).(*awaitedRun)
	return context.WithValue(context.WithoutCancel(r.ctx), awaited{}, &awaitedRun{r, outer})
}

// awaits reports whether the run in progress waits for a function that ctx is
// that of.
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
