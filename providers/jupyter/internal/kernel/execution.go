package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// maxNotice bounds what the server says of dropped output.
const maxNotice = 4 << 10

// An execution is the request of a run. The reader puts its messages into the queue; the
// pump passes them to the collector, which calls OnOutput.
type execution struct {
	id   string
	of   string // the process that it was sent to, "" where not known
	k    *Kernel
	q    *queue
	out  *driver.Output
	wake chan struct{} // something changed
	pump sync.WaitGroup
	life context.Context // ends with the run
	end  context.CancelFunc

	program  *driver.Program // nil if it began when it was sent
	hasBegin bool            // the kernel has begun it
	former   bool            // a former client has sent it

	calls *calls // nil if the program has no functions

	mu sync.Mutex
	st progress
}

// progress is how far an execution has come.
type progress struct {
	busy, idle  bool
	begun       bool // the program, by the kernel's word
	reply       *wire.ExecuteReply
	replied     bool // as reply, before OnOutput took what came earlier
	fault       *wire.ErrorContent
	count       int
	death       bool
	cause       codeinterp.Cause // of the death
	reported    time.Time        // when the death was, if somebody only says so
	gap         bool             // output may be missing: the socket was replaced
	past        bool             // the program has ended; what is said now is of what comes next
	answered    bool             // the kernel has gone on to what came after the run
	interrupted bool
	noInput     bool      // the program wanted input that there was not
	active      time.Time // when the last message came
}

// over reports whether nothing more of the run is to come.
func (p progress) over() bool {
	return p.death || p.answered || p.idle && p.reply != nil
}

// half reports whether one of the two signs of the end is missing.
func (p progress) half() bool { return !p.over() && (p.idle || p.reply != nil) }

// newExecution makes the execution the kernel's current one.
func (k *Kernel) newExecution(o Order) *execution {
	p := o.Program
	e := k.blankExecution()
	e.out = o.Out
	if e.hasBegin = !o.Shared; o.Shared {
		e.program = p
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	e.id, e.of = k.newID(""), k.identity
	e.calls = newCalls(k, e.id, p)
	k.run = e
	e.pump.Go(e.work)
	return e
}

func (k *Kernel) blankExecution() *execution {
	e := &execution{k: k, q: newQueue(), wake: make(chan struct{}, 1)}
	e.st.active = time.Now()
	e.life, e.end = context.WithCancel(context.Background())
	return e
}

// finish detaches the execution; what still comes is late.
func (e *execution) finish() {
	e.k.mu.Lock()
	if e.k.run == e {
		e.k.run = nil
	}
	e.k.mu.Unlock()
	e.calls.stop()
	// The pump may be in refuseInput, or sending a line: closing the queue ends neither.
	e.end()
	e.q.close()
	e.pump.Wait()
	// After the pump, which starts calls: none is added while they are waited for.
	e.calls.close()
}

func (e *execution) progress() progress {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.st
}

// update changes the progress and wakes the waiter.
func (e *execution) update(f func(*progress)) {
	e.mu.Lock()
	f(&e.st)
	e.mu.Unlock()
	// One value stands for all changes: who waits looks at the whole progress.
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// receive takes a frame from the reader.
func (e *execution) receive(f *frame, late bool) error {
	m := &f.Msg
	e.mu.Lock()
	e.st.active = time.Now()
	e.mu.Unlock()
	if m.Header.Type == "status" && e.of != "" && m.Header.Session != e.of {
		// The kernel's next process, which was not set up, has got the program.
		e.k.noteReport(lost, codeinterp.CauseExit)
	}
	if late && !isOutput(m) {
		return nil
	}
	switch m.Header.Type {
	case "stream":
		// A notice is short: longer texts are not held whole to look for one.
		if f.Size < maxNotice && e.fromServer(m) {
			return e.notice(f, late)
		}
		return f.Stream(maxMessage, func(name string, p []byte) {
			e.q.put(event{kind: evStream, stream: StreamKind(name), data: p, late: late})
		})
	case "input_request":
		return e.asked(f)
	case "status", "execute_input", "execute_reply", "error",
		"display_data", "update_display_data", "execute_result", "clear_output":
		content, err := f.Content(maxMessage)
		if err != nil {
			return err
		}
		if m.Header.Type == "execute_reply" {
			e.replied(content)
		}
		e.q.put(event{typ: m.Header.Type, data: content, late: late})
	}
	return nil
}

// replied notes that the program has ended while what it left may still wait for
// OnOutput, so that no timeout counts that time.
func (e *execution) replied(content []byte) {
	var r wire.ExecuteReply
	if json.Unmarshal(content, &r) == nil && !r.Aborted() {
		e.update(func(p *progress) { p.replied = true })
	}
}

// fromServer reports whether a message with the run's parent may have been made
// by the server. It cannot be distinguished from kernels that sign with the
// name of the client.
func (e *execution) fromServer(m *wire.Message) bool {
	e.k.mu.Lock()
	defer e.k.mu.Unlock()
	return m.Header.Session != e.k.identity
}

// notice recognises the server's notice that it drops output.
func (e *execution) notice(f *frame, late bool) error {
	content, err := f.Content(wire.MaxHeader)
	if err != nil {
		return err
	}
	return wire.WholeText(content, func(name string, p []byte) {
		if name == "stderr" && bytes.HasPrefix(p, []byte("IOPub ")) && bytes.Contains(p, []byte("rate exceeded")) {
			e.q.put(event{kind: evRate})
			return
		}
		e.q.put(event{kind: evStream, stream: StreamKind(name), data: p, late: late})
	})
}

// work is the pump.
func (e *execution) work() {
	for {
		events := e.q.take()
		if len(events) == 0 {
			return
		}
		for i := range events {
			e.handle(&events[i])
		}
	}
}

func (e *execution) handle(ev *event) {
	switch ev.kind {
	case evStream:
		if ev.late {
			e.out.Add(codeinterp.Output{Kind: ev.stream, Data: ev.data, Late: true})
			return
		}
		e.begin()
		e.out.Write(ev.stream, ev.data)
	case evRate:
		e.out.MayLack(codeinterp.TruncatedByRate)
	case evDeath:
		e.update(func(p *progress) {
			// The first counts, unless the program had ended before.
			if !p.past && !p.over() {
				p.death, p.cause, p.reported = true, ev.cause, ev.reported
			}
		})
	case evTooLarge:
		e.out.Lost(codeinterp.Truncation{Stream: "display", Bytes: -1, Reason: codeinterp.TruncatedByLimit})
	case evBroken:
		e.out.MayLack(codeinterp.TruncatedByConnection)
	case evAnswered:
		e.update(func(p *progress) { p.answered = true })
	case evAsked:
		e.refuseInput()
	case evCalls:
		e.calls.take(ev.prompt)
	default:
		e.message(ev.typ, ev.data, ev.late)
	}
}

func (e *execution) message(typ string, content []byte, late bool) {
	switch typ {
	case "status":
		e.update(func(p *progress) {
			p.idle = p.idle || bytes.Contains(content, []byte(`"idle"`))
			p.busy = p.busy || bytes.Contains(content, []byte(`"busy"`))
		})
	case "execute_input":
		var in struct {
			Count int `json:"execution_count"`
		}
		if json.Unmarshal(content, &in) == nil {
			e.begin()
			e.update(func(p *progress) { p.busy, p.begun, p.count = true, true, in.Count })
		}
	case "execute_reply":
		var r wire.ExecuteReply
		if err := json.Unmarshal(content, &r); err != nil || r.Status != "ok" && !r.Aborted() {
			r.Status = "error" // what says nothing does not say that all is well
		}
		if !r.Aborted() {
			e.begin()
		}
		e.update(func(p *progress) {
			if p.reply == nil {
				p.reply = &r
			}
		})
	case "error":
		var f wire.ErrorContent
		if json.Unmarshal(content, &f) == nil {
			e.begin()
			e.showFault()
			e.update(func(p *progress) { p.fault = &f })
		}
	default:
		e.show(typ, content, late)
	}
}

// showFault adds the error that came last as output, since the program survived it.
func (e *execution) showFault() {
	f := e.progress().fault
	if f == nil {
		return
	}
	text := f.Name + ": " + f.Value
	if len(f.Traceback) > 0 {
		text = strings.Join(f.Traceback, "\n")
	}
	e.out.Write(codeinterp.Stderr, []byte(text+"\n"))
	e.update(func(p *progress) { p.fault = nil })
}

// show adds what a message shows.
func (e *execution) show(typ string, content []byte, late bool) {
	o, ok := wire.OutputOf(typ, content, e.k.dialect.value)
	switch {
	case ok:
		o.Late = late
		e.out.Add(o)
	case !json.Valid(content): // nested too deep, for one
		e.out.Lost(codeinterp.Truncation{Stream: "display", Bytes: -1, Reason: codeinterp.TruncatedByLimit})
	}
}
