package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// toyCall calls a function of the host. A call that the run's end ended waits for
// the interrupt.
func toyCall(r *toyRun, c command, name, args string) ([]byte, error) {
	v, err := r.in.Call(r.ctx, name, json.RawMessage(args))
	if errors.Is(err, driver.ErrEnded) {
		select {
		case <-r.stop:
		case <-r.ctx.Done():
		}
		return nil, r.interrupted(c)
	}
	if err != nil {
		return nil, fail("ToolError", err.Error(), c)
	}
	return v, nil
}

func callFunction(m *machine, r *toyRun, c command) error {
	v, err := toyCall(r, c, c.args[0], c.args[1])
	if err != nil {
		return err
	}
	return write(r, codeinterp.Stdout, string(v)+"\n")
}

func callCaught(m *machine, r *toyRun, c command) error {
	_, err := toyCall(r, c, c.args[0], c.args[1])
	if e, ok := errors.AsType[*codeinterp.ProgramError](err); ok && e.Name == "ToolError" {
		return write(r, codeinterp.Stdout, "caught "+e.Message+"\n")
	}
	return err
}

func callLoop(m *machine, r *toyRun, c command) error {
	sum := 0
	for i := range number(c.args[1]) {
		v, err := toyCall(r, c, c.args[0], fmt.Sprintf(`{"i":%d}`, i))
		if err != nil {
			return err
		}
		sum += number(string(v))
	}
	return write(r, codeinterp.Stdout, fmt.Sprintln(sum))
}

// callLeft leaves a call of this run's behind, for callWake.
func callLeft(m *machine, r *toyRun, c command) error {
	gone, wake, answer := m.gone, make(chan struct{}), make(chan string, 1)
	m.wake, m.answer = wake, answer
	m.late.Go(func() {
		select {
		case <-gone:
			return
		case <-wake:
		}
		if _, err := r.in.Call(context.Background(), c.args[0], json.RawMessage(c.args[1])); err != nil {
			answer <- "refused"
			return
		}
		answer <- "called"
	})
	return nil
}

func callWake(m *machine, r *toyRun, c command) error {
	close(m.wake)
	return write(r, codeinterp.Stdout, <-m.answer+"\n")
}
