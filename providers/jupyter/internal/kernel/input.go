package kernel

import (
	"bytes"
	"context"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// input is what a program can read, line by line, where the kernel asks for it.
type input struct {
	lines   []byte
	refused time.Time // when a program was last interrupted for want of a line
}

// next returns the next line without its end.
func (i *input) next() (line string, ok bool) {
	if len(i.lines) == 0 {
		return "", false
	}
	text, rest, _ := bytes.Cut(i.lines, []byte("\n"))
	i.lines = rest
	return string(text), true
}

// interruptLimit bounds the interrupt of a program that waits for input.
const interruptLimit = 10 * time.Second

// asked takes an input_request: calls of functions, or the program's own.
func (e *execution) asked(f *frame) error {
	if e.calls == nil {
		e.q.put(event{kind: evAsked})
		return nil
	}
	content, err := f.Content(e.k.cfg.MaxMessage)
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

// giveInput answers a program that asks for input. One for which there is none
// is interrupted, and the answer that it waits for is empty: kernels have no
// other way to refuse, and some ask in spite of allow_stdin. Questions of
// a program that has ended, which it can have left by thousands, get no answer.
func (e *execution) giveInput() {
	if e.life.Err() != nil || e.progress().replied {
		return
	}
	line, ok := e.input.next()
	if !ok && !e.refuseInput() {
		return
	}
	e.k.mu.Lock()
	s, id := e.k.sock, e.k.newID("h")
	e.k.mu.Unlock()
	_ = e.k.sendUntil(e.life.Done(), s, "stdin", id, "input_reply", map[string]string{"value": line, "status": "ok"})
}

// refuseInput interrupts the program, and reports whether its run goes on.
func (e *execution) refuseInput() bool {
	e.update(func(p *progress) { p.noInput = true })
	// One that asks again and again is not to have the server interrupt it as often
	// as that can.
	if server.Wait(e.life, askPause-time.Since(e.input.refused)) != nil {
		return false
	}
	e.input.refused = time.Now()
	ctx, cancel := context.WithTimeout(e.life, interruptLimit)
	defer cancel()
	// If it fails, the empty answer still lets the program go on.
	_ = e.k.Interrupt(ctx)
	return e.life.Err() == nil
}

// inputError is what a program gets that asked for input in vain.
func inputError() *codeinterp.ProgramError {
	return &codeinterp.ProgramError{Name: "EOFError", Message: "the program asked for input, and there is none (left)"}
}
