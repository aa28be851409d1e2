package kernel

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// inquireLimit bounds the question how a program ended.
const inquireLimit = 10 * time.Second

// inquire asks the kernel how the program ended, where its reply was lost.
func (r *runner) inquire() {
	p := r.e.progress()
	if p.reply != nil || p.fault != nil || p.death || r.killed || r.away != nil {
		return
	}
	if reply := r.outcome(r.e.id); reply != nil {
		r.e.update(func(p *progress) { p.reply = reply })
	}
}

// outcome asks how the program of a request ended, that of the last one if id is empty.
// It returns nil if that is not known.
func (r *runner) outcome(id string) *wire.ExecuteReply {
	d := r.k.dialect
	if d.outcome == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.ctx, inquireLimit)
	defer cancel()
	out, err := r.k.evaluate(ctx, "", map[string]string{"outcome": d.outcome(id)})
	if err != nil {
		return nil
	}
	// Base64 is the same in a repr, but for its quotes.
	data, err := base64.StdEncoding.DecodeString(strings.Trim(out["outcome"].Data.Text, `'"`))
	if err != nil {
		return nil
	}
	var reply wire.ExecuteReply
	if json.Unmarshal(data, &reply) != nil || reply.Status != "ok" && reply.Status != "error" {
		return nil
	}
	return &reply
}

// showPayload adds the output that is only in the reply.
func (r *runner) showPayload() {
	p := r.e.progress()
	if p.reply == nil || p.reply.Aborted() {
		return
	}
	if p.reply.Status == "ok" && !p.death && !r.killed {
		r.e.showFault() // the reply decides
	}
	for _, o := range p.reply.Shown() {
		r.Out.Add(o)
	}
}

// ending says how a program ended that is over, or that was given up.
func (r *runner) ending() Ending {
	p := r.e.progress()
	e := Ending{Outcome: driver.Outcome{End: r.end, Count: p.count, Fresh: r.fresh}}
	if p.reply != nil && p.reply.Count > 0 {
		e.Count = p.reply.Count
	}
	if !r.killed && !p.death && r.k.noteCount(e.Count) {
		e.Fresh = true
	}
	// idle comes behind all output. If only the probe was answered it was lost,
	// unless an interrupt hit the kernel before it could send it.
	ended := r.killed && r.killErr == nil || p.death
	if r.noIdle && !p.idle || p.gap && !ended || p.answered && !p.interrupted && !p.idle {
		r.Out.MayLack(codeinterp.TruncatedByConnection)
	}
	if ended {
		// The libraries of kernels send from a thread of their own, and nothing
		// says whether that came to it: it waits for code that lets no other thread run.
		r.Out.MayLack(codeinterp.TruncatedByExit, codeinterp.Stdout, codeinterp.Stderr, codeinterp.Display)
	}
	if f := p.faultOrReply(); f != nil {
		var lost int64
		if e.Error, lost = wire.NewProgramError(f, e.Count); lost > 0 {
			r.Out.Lost(codeinterp.Truncation{Stream: "error", Bytes: lost, Reason: codeinterp.TruncatedByLimit})
		}
		if e.Error.Line > 0 && r.k.dialect.skipsBlank {
			e.Error.Line += blankLines(r.Program.Code)
		}
	}
	r.classify(&e, p)
	return e
}

// classify says which of the ways to end it was.
func (r *runner) classify(e *Ending, p progress) {
	switch {
	case r.queued:
		e.Left, e.Queued, e.Unknown = true, true, r.killErr
	case r.killed && r.killErr != nil:
		// The server may yet do what it was asked for, so the state is given up.
		e.Left, e.Lost = true, r.Kill != nil
		e.Unknown = server.Unavailable("the program may still be running, its kernel could not be ended: %v", r.killErr)
	case r.killed: // an error that came is no end, and may be of the interrupt
		e.Lost, e.ExitCode, e.Error = true, codeinterp.ExitKilled, nil
		e.Cause = p.cause
	case r.away != nil:
		e.Left = true
		e.Unknown = fmt.Errorf("%w; the program may have ended well or may still be running", r.away)
	case p.death:
		e.Lost, e.ExitCode, e.Cause, e.Error = true, codeinterp.ExitKilled, cmp.Or(p.cause, codeinterp.CauseRestart), nil
	case p.noInput:
		e.ExitCode, e.Error = 1, &codeinterp.ProgramError{Name: "EOFError", Message: "the program asked for input, and there is none"}
	case p.reply == nil && e.Error == nil && p.interrupted:
		e.ExitCode = 1 // it ended when it was interrupted, and could not say so
	case p.reply == nil && e.Error == nil:
		e.Unknown = server.Unavailable("the program has ended, and how was lost with the connection")
	case p.dropped():
		e.Unknown = server.Unavailable("the kernel dropped the program, perhaps after it had begun")
	case p.reply != nil && p.reply.Aborted():
		// So say kernels that were interrupted, IRkernel and bash_kernel among them.
		if e.ExitCode = 1; !p.interrupted {
			e.Error = &codeinterp.ProgramError{Name: "Aborted", Message: "another client interrupted the kernel"}
		}
	case e.Error != nil:
		e.ExitCode = 1
		if exit := r.k.dialect.exit; exit != nil {
			if code, exited := exit(e.Error); exited {
				e.ExitCode, e.Error = code, nil
			}
		}
		// An interrupt between two statements has no line of the program's.
		if p.interrupted && e.Error != nil && e.Error.Line == 0 {
			e.Error = nil
		}
	}
}

// dropped reports whether the kernel did not run the program at all.
func (p progress) dropped() bool { return p.reply != nil && p.reply.Aborted() && !p.begun }

// blankLines counts the lines before the first that is not blank.
func blankLines(code string) int {
	n := 0
	for line := range strings.Lines(code) {
		if strings.TrimSpace(line) != "" {
			return n
		}
		n++
	}
	return 0
}

// faultOrReply is the program's error, from the error message or the reply.
func (p progress) faultOrReply() *wire.ErrorContent {
	switch {
	case p.fault != nil:
		return p.fault
	case p.reply != nil && p.reply.Status == "error":
		return &wire.ErrorContent{Name: p.reply.Name, Value: p.reply.Value, Traceback: p.reply.Traceback}
	}
	return nil
}
