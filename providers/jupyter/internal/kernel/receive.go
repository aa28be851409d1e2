package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// receive routes a message by its parent. It runs on the socket's reader.
func (k *Kernel) receive(s *socket, f *frame) error {
	m := &f.Msg
	k.lastMessage.Store(time.Now().UnixNano())
	k.mu.Lock()
	// After a restart the old socket may still bring words of the former process.
	if s != k.sock || k.seen.before(m.Header.ID) {
		k.mu.Unlock()
		return nil
	}
	k.expected(f)
	run, req := k.run, k.requests[m.Parent.ID]
	ours, hidden := k.own(m.Parent.ID)
	k.mu.Unlock()
	switch {
	case !ours:
		return k.receiveForeign(f)
	case run != nil && m.Parent.ID == run.id:
		return run.receive(f, false)
	case req != nil && !isOutput(m):
		return k.answer(req, f)
	// Output of a hidden request is that of threads, which the kernel attributes so.
	case hidden && !isOutput(m):
		return nil
	case run != nil:
		return run.receive(f, true)
	}
	return k.takeLate(f)
}

// receiveForeign looks at what is not about our requests. Only what has no parent, the
// word of the server or of a process that begins, is about the kernel's life.
func (k *Kernel) receiveForeign(f *frame) error {
	m := &f.Msg
	switch m.Header.Type {
	case "status":
		state, err := executionState(f)
		switch {
		case err != nil:
			return err
		case m.Parent.ID != "":
			k.noteOthers(state == "busy")
		case state == "restarting":
			k.noteReport(lost, codeinterp.CauseExit)
		case state == "dead":
			k.noteReport(gone, codeinterp.CauseExit)
		case state == "starting":
			k.noteStart()
		}
	case "shutdown_reply":
		content, err := f.Content(wire.MaxHeader)
		if err != nil {
			return err
		}
		var r struct {
			Restart bool `json:"restart"`
		}
		switch {
		case json.Unmarshal(content, &r) != nil:
		case r.Restart:
			k.noteReport(lost, codeinterp.CauseRestart)
		default:
			k.noteReport(gone, codeinterp.CauseServer)
		}
	}
	return nil
}

// isOutput reports whether a message shows something to the user.
func isOutput(m *wire.Message) bool {
	switch m.Header.Type {
	case "stream", "display_data", "update_display_data", "execute_result", "clear_output":
		return true
	}
	return false
}

func executionState(f *frame) (string, error) {
	content, err := f.Content(wire.MaxHeader)
	var st struct {
		State string `json:"execution_state"`
	}
	if err == nil {
		// What is malformed has no state, and is no reason to give up the socket.
		_ = json.Unmarshal(content, &st)
	}
	return st.State, err
}

// answer completes a request of our own.
func (k *Kernel) answer(r *request, f *frame) error {
	m := &f.Msg
	switch m.Header.Type {
	case "status":
		state, err := executionState(f)
		if err != nil {
			return err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if state == "idle" && !r.beside {
			r.idle = true
			k.others = false
		}
		r.complete()
	case "kernel_info_reply", "execute_reply", "complete_reply", "abort_reply", filesReply, commandReply:
		content, err := f.Content(maxMessage)
		k.mu.Lock()
		defer k.mu.Unlock()
		if err != nil {
			r.abandon(err)
			return err
		}
		m.Content = content
		if r.over() {
			return nil // ask reads the reply by now
		}
		r.reply = m
		r.complete()
	}
	return nil
}

// takeLate passes on output of a run that has ended.
func (k *Kernel) takeLate(f *frame) error {
	m := &f.Msg
	k.mu.Lock()
	late, d := k.late, k.dialect
	k.mu.Unlock()
	if late == nil {
		return nil
	}
	switch m.Header.Type {
	case "stream":
		emit := func(name string, p []byte) { late(codeinterp.Output{Kind: StreamKind(name), Data: p, Late: true}) }
		return f.Stream(wire.MaxHeader, emit)
	case "display_data", "update_display_data", "execute_result":
		content, err := f.Content(maxMessage)
		if err != nil {
			notice := fmt.Sprintf("A display of %d bytes that came between two runs was dropped.\n", f.Size)
			late(codeinterp.Output{Kind: codeinterp.Stderr, Data: []byte(notice), Late: true})
			return nil
		}
		if o, ok := wire.OutputOf(m.Header.Type, content, d.value); ok {
			o.Late = true
			late(o)
		}
	}
	return nil
}

// StreamKind is what a stream is called by kernels: standard output, unless it is
// stderr.
func StreamKind(name string) codeinterp.Kind {
	if name == "stderr" {
		return codeinterp.Stderr
	}
	return codeinterp.Stdout
}

// skipped notes a message that could not be taken.
func (k *Kernel) skipped(err error) {
	run, _ := k.present()
	if run == nil {
		return
	}
	kind := evBroken
	if errors.Is(err, wire.ErrTooLarge) {
		kind = evTooLarge
	}
	run.q.put(event{kind: kind})
}
