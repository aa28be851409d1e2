package codemode

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callers"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
)

// A pausableRun is a run whose tool call may be answered before it ends.
type pausableRun struct {
	id     string
	client any
	cancel context.CancelCauseFunc
	wake   chan struct{} // a call waits
	done   chan struct{}
	answer *tools.Answer // once done
	unlink func() bool   // from the client's life

	mu       sync.Mutex
	onOutput func(codeinterp.Output) error // of the caller that waits for the answer
	expiry   *time.Timer
}

type pausableKey struct{}

func (r *pausableRun) mark() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// observe makes fn receive the output from now on. When it returns, the previous function
// is not being called.
func (r *pausableRun) observe(fn func(codeinterp.Output) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.onOutput = fn
}

func (r *pausableRun) output(out codeinterp.Output) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.onOutput == nil {
		return nil
	}
	return r.onOutput(out)
}

// wrap returns the tool that runs code so that it is answered while its program waits for
// a decision, and resume_code, which waits for the rest:
//
//	{"status": "paused", "runId": "...", "pending": [{"function": "send_mail", "args": {...}}]}
//
// Only the client that started a run can resume it. If that goes, its runs end.
func (p *approvals) wrap(t tools.Tool) []tools.Tool {
	invoke := t.Invoke
	t.OutputSchema = nil // it does not describe a pause
	t.Description += "\n\nA call of a function may need a person's approval. The answer then has the status paused, and the program waits; call resume_code with its runId for the rest."
	t.Invoke = func(ctx context.Context, c tools.Invocation) *tools.Answer { return p.start(ctx, invoke, c) }
	return []tools.Tool{t, {
		Name: "resume_code", Title: "Resume a paused program", Annotations: t.Annotations,
		Description: "Waits for the rest of a program that is paused until a person has approved or refused what it asked for, and returns its result.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"runId":{"type":"string","description":"The runId of the answer that said paused."}},"required":["runId"],"additionalProperties":false}`),
		Invoke:      p.resume,
	}}
}

// start runs a program until it ends or waits.
func (p *approvals) start(ctx context.Context, invoke func(context.Context, tools.Invocation) *tools.Answer, c tools.Invocation) *tools.Answer {
	r := &pausableRun{id: rand.Text(), client: callers.Of(ctx), wake: make(chan struct{}, 1), done: make(chan struct{})}
	// A paused run outlives the call that started it; until then stop below ties it to
	// ctx.
	life, cancel := context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), pausableKey{}, r))
	r.cancel = cancel
	r.observe(c.OnOutput)
	p.mu.Lock()
	if p.closed || len(p.runs) >= maxPaused {
		closed := p.closed
		p.mu.Unlock()
		cancel(nil)
		if closed {
			return failed(c, tools.CodeClosed, "the interpreter is closed. Nothing was run.")
		}
		return failed(c, tools.CodeCapacity, "too many programs run or are paused; resume one first. Nothing was run.")
	}
	p.runs[r.id] = r
	r.unlink = context.AfterFunc(callers.Life(ctx), func() { p.end(r, errClientGone) })
	p.work.Go(func() {
		defer cancel(nil)
		// Runs after the recover below: the answer is set before done is closed.
		defer close(r.done)
		inner := c
		if c.OnOutput != nil {
			inner.OnOutput = r.output
		}
		defer func() {
			if v := recover(); v != nil {
				r.answer = failed(c, tools.CodeInternal, "internal error")
				r.answer.Err = fmt.Errorf("panic in tool %s: %v", c.Tool, v)
			}
		}()
		r.answer = invoke(life, inner)
	})
	p.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	a := p.await(ctx, r, nil)
	// stop reports false once ctx has ended, and the run was canceled with it.
	if !stop() && a == nil {
		<-r.done // the caller has gone, and the run ends with it
		a = p.finish(r)
	}
	if a == nil {
		return p.paused(ctx, c, r)
	}
	return a
}

// attend keeps the run from expiring while a caller waits for it; paused starts the time
// again.
func (r *pausableRun) attend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.expiry != nil {
		r.expiry.Stop()
	}
}

// await waits until the run has ended and returns its answer, or returns nil when it waits
// for a decision: at once if a call was not reported yet, otherwise when patience, which
// may be nil, is over. The end of ctx ends a run that was just started.
func (p *approvals) await(ctx context.Context, r *pausableRun, patience <-chan time.Time) *tools.Answer {
	defer r.observe(nil)
	over := false
	for {
		// Read each time: the call may be decided by now.
		if n, unreported := p.waiting(r.id); unreported > 0 || n > 0 && over {
			return nil
		}
		select {
		case <-r.done:
			return p.finish(r)
		case <-patience:
			over = true
		case <-r.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// end ends a run that will not be resumed.
func (p *approvals) end(r *pausableRun, why error) {
	r.cancel(why)
	<-r.done
	p.finish(r)
}

// finish forgets a run that has ended.
func (p *approvals) finish(r *pausableRun) *tools.Answer {
	p.mu.Lock()
	delete(p.runs, r.id)
	p.mu.Unlock()
	r.unlink()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.expiry != nil {
		r.expiry.Stop()
	}
	return r.answer
}

// paused is the answer while a run waits. It does not reach its caller once ctx has ended.
func (p *approvals) paused(ctx context.Context, c tools.Invocation, r *pausableRun) *tools.Answer {
	r.mu.Lock()
	if r.expiry == nil {
		r.expiry = time.AfterFunc(maxPause, func() { p.end(r, errNotResumed) })
	}
	r.expiry.Reset(maxPause)
	r.mu.Unlock()
	type call struct {
		Function string `json:"function"`
		Args     any    `json:"args"`
	}
	calls := []call{}
	for _, d := range p.report(r.id, ctx.Err() == nil) {
		args := any(fmt.Sprintf("%d bytes", len(d.Args)))
		if len(d.Args) <= codeinterp.MaxRecorded {
			args = redacted(d.Args, p.secrets)
		}
		calls = append(calls, call{d.Function, args})
	}
	raw, err := json.Marshal(struct {
		Status  string `json:"status"`
		RunID   string `json:"runId"`
		Pending []call `json:"pending"`
	}{"paused", r.id, calls})
	if err != nil {
		return failed(c, tools.CodeInternal, "the pause cannot be reported")
	}
	return &tools.Answer{CallID: c.ID, Tool: c.Tool, Text: string(raw), Data: raw}
}

const (
	maxReported = 20        // pending calls in an answer
	maxPause    = time.Hour // of a run that is not resumed
)

// resume serves resume_code.
func (p *approvals) resume(ctx context.Context, c tools.Invocation) *tools.Answer {
	var args struct {
		RunID string `json:"runId"`
	}
	if err := json.Unmarshal(c.Args, &args); err != nil || args.RunID == "" {
		return failed(c, tools.CodeInvalid, "runId: required, the string of the answer that said paused. Nothing was done.")
	}
	p.mu.Lock()
	r := p.runs[args.RunID]
	p.mu.Unlock()
	if r == nil || r.client != callers.Of(ctx) {
		return failed(c, tools.CodeInvalid, "there is no paused program of this runId: it has ended, or was not resumed in time.")
	}
	r.attend()
	r.observe(c.OnOutput)
	a := p.await(ctx, r, time.After(resumeWait))
	if a == nil {
		return p.paused(ctx, c, r)
	}
	// The run's own answer has the id of the call that started it; this call has another.
	named := *a
	named.CallID, named.Tool = c.ID, c.Tool
	return &named
}

func failed(c tools.Invocation, code, message string) *tools.Answer {
	f := &tools.Failure{Code: code, Message: message}
	return &tools.Answer{CallID: c.ID, Tool: c.Tool, Text: string(f.JSON()), Failure: f}
}

// redacted returns a program's JSON for a model: without secrets and invisible
// characters.
func redacted(raw json.RawMessage, s *secret.Scrubber) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	// Marshal writes invisible characters as they are.
	plain, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return s.JSON(json.RawMessage(plaintext.Clean(string(plain))))
}
