package jupyter

import (
	"encoding/json"
	"errors"
	"time"
)

// receive routes a message by its parent. It runs on the socket's reader.
func (k *kernel) receive(s *socket, f *frame) error {
	m := &f.msg
	k.mu.Lock()
	if s != k.sock || k.seen.before(&m.Header, s.replay) {
		k.mu.Unlock()
		return nil
	}
	run, req, tail := k.run, k.requests[m.Parent.ID], k.tail
	ours, hidden := k.own(m.Parent.ID)
	k.mu.Unlock()
	switch {
	case !ours:
		return k.foreign(f)
	case run != nil && m.Parent.ID == run.id:
		return run.receive(f, false)
	case run != nil && tail != nil && m.Parent.ID == tail.id:
		return run.receiveTail(tail, f)
	case req != nil:
		return k.answer(req, f)
	case hidden:
		return nil
	case run != nil:
		return run.receive(f, true)
	}
	return k.takeLate(f)
}

// foreign looks for the end of the kernel among what is not about our
// requests. Only the server's own word, which has no parent, counts as death.
func (k *kernel) foreign(f *frame) error {
	m := &f.msg
	if m.Header.Type == "status" && m.Parent.ID == "" {
		content, err := f.content(maxHeader)
		if err != nil {
			return err
		}
		var st struct {
			State string `json:"execution_state"`
		}
		if json.Unmarshal(content, &st) == nil && (st.State == "restarting" || st.State == "dead") {
			k.died(st.State == "dead")
		}
		return nil
	}
	if m.Header.Type == "shutdown_reply" {
		content, err := f.content(maxHeader)
		if err != nil {
			return err
		}
		var r struct {
			Restart bool `json:"restart"`
		}
		if json.Unmarshal(content, &r) == nil {
			k.died(!r.Restart)
		}
	}
	return nil
}

// answer completes a request of our own.
func (k *kernel) answer(r *request, f *frame) error {
	m := &f.msg
	switch m.Header.Type {
	case "status":
		content, err := f.content(maxHeader)
		if err != nil {
			return err
		}
		var st struct {
			State string `json:"execution_state"`
		}
		_ = json.Unmarshal(content, &st)
		k.mu.Lock()
		r.idle = r.idle || st.State == "idle"
		k.complete(r)
		k.mu.Unlock()
	case "kernel_info_reply", "execute_reply", "interrupt_reply":
		content, err := f.content(k.c.opts.MaxMessage)
		k.mu.Lock()
		defer k.mu.Unlock()
		if err != nil {
			k.abandon(r, err)
			return err
		}
		m.Content = content
		r.reply = m
		k.complete(r)
	}
	return nil
}

// complete ends a request that has all it waits for. k.mu is held.
func (k *kernel) complete(r *request) {
	if r.reply != nil && (r.idle || r.control) {
		k.abandon(r, nil)
	}
}

// abandon ends a request. k.mu is held.
func (k *kernel) abandon(r *request, err error) {
	select {
	case <-r.done:
	default:
		r.err = err
		close(r.done)
	}
}

// died notes that the kernel's process ended: the server restarts it, or it is
// gone for good.
func (k *kernel) died(dead bool) {
	k.mu.Lock()
	k.unready, k.stateLost = true, true
	k.dead, k.process = k.dead || dead, ""
	k.diedAt = time.Now()
	for _, r := range k.requests {
		k.abandon(r, errDied)
	}
	run := k.run
	k.mu.Unlock()
	if run != nil {
		run.q.put(event{kind: evDeath})
	}
}

// skipped notes a message that could not be taken.
func (k *kernel) skipped(err error) {
	k.mu.Lock()
	run := k.run
	k.mu.Unlock()
	if run == nil {
		return
	}
	kind := evBroken
	if errors.Is(err, errTooLarge) {
		kind = evTooLarge
	}
	run.q.put(event{kind: kind})
}
