package kernel

import (
	"context"
	"time"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// interruptLimit bounds the interrupt of a program that waits for input.
const interruptLimit = 10 * time.Second

// asked takes an input_request: calls of functions, or the program's own.
func (e *execution) asked(f *frame) error {
	if e.calls == nil {
		e.q.put(event{kind: evAsked})
		return nil
	}
	content, err := f.Content(maxMessage)
	if err != nil {
		return err
	}
	switch p, ours, err := wire.ParsePrompt(content, e.calls.nonce); {
	case !ours:
		e.q.put(event{kind: evAsked})
	case err == nil: // else it is forged, and gets no answer
		e.q.put(event{kind: evCalls, prompt: p})
	}
	return nil
}

// refuseInput interrupts a program that asks for input, and gives the answer that it waits
// for, which is empty: kernels have no other way to refuse, and some ask in spite of
// allow_stdin. Questions of a program that has ended, which it can have left by thousands,
// get no answer.
func (e *execution) refuseInput() {
	if e.life.Err() != nil || e.progress().replied {
		return
	}
	e.update(func(p *progress) { p.noInput = true })
	ctx, cancel := context.WithTimeout(e.life, interruptLimit)
	defer cancel()
	// If it fails, the empty answer still lets the program go on.
	_ = e.k.Interrupt(ctx)
	e.k.sendInput(e.life.Done(), "")
}
