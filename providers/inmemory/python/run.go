package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// The frames that only this driver sends.
const (
	nextFrame = '?' // the answer is the next frame for the driver
	startCall = 'S' // number, name, arguments: a call whose answer comes with wait
	forked    = 'F' // to the driver: it is a copy
	wait      = 'W' // microseconds, -1 for ever: the answers to calls, or none
	fetchCall = 'U' // microseconds, number, an engine.FetchRequest: "ok", "error", "timeout" or "none", and what a server sends or a message
)

// A run is the program in progress.
type run struct {
	ctx     context.Context
	guest   *guest
	program engine.Program
	host    engine.Host

	next      []byte // the frame for the driver
	report    *frames.Report
	value     *codeinterp.Output
	completed *frames.Frame

	mu       sync.Mutex
	answers  []string // number, how, result and so on
	open     int      // calls whose answers were not taken
	answered chan struct{}
	over     bool
}

func newRun(ctx context.Context, g *guest, p engine.Program, h engine.Host) *run {
	return &run{ctx: ctx, guest: g, program: p, host: h, answered: make(chan struct{}, 1)}
}

// close drops the answers that come later.
func (r *run) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over, r.answers = true, nil
}

// write takes what the program writes to standard output or error.
func (r *run) write(descriptor int, p []byte) {
	if r.host == nil {
		return
	}
	r.guest.machine.Outside(func() { r.host.Write(kindOf(descriptor == 2), p) })
}

func kindOf(err bool) codeinterp.Kind {
	if err {
		return codeinterp.Stderr
	}
	return codeinterp.Stdout
}

// serve deals with a frame of the driver. The program can make frames of its own: they
// are its output, and nothing that they say is relied on.
func (r *run) serve(f *frames.Frame) []byte {
	switch f.Kind {
	case nextFrame:
		next := r.next
		r.next = nil
		return next
	case frames.Completed:
		r.completed = f
		return nil
	}
	if r.host == nil {
		return nil
	}
	switch f.Kind {
	case frames.Show:
		r.show(f)
	case frames.Truncated:
		r.write(2, fmt.Appendf(nil, "toolcell: a %.20s of %.20s bytes is too large and was dropped\n", f.Field(1), f.Field(2)))
	case frames.Late:
		r.late(f)
	case frames.Done:
		if report, err := frames.DecodeReport(f); err == nil {
			r.report = report
		}
	case frames.Call:
		return r.call(f)
	case startCall:
		r.start(f)
	case fetchCall:
		return r.fetch(f)
	case wait:
		return r.awaited(time.Duration(f.Number(0)) * time.Microsecond)
	}
	return nil
}

func (r *run) show(f *frames.Frame) {
	o, err := frames.DecodeShow(f)
	if err != nil {
		r.write(2, fmt.Appendf(nil, "toolcell: what was shown was dropped: %v\n", err))
		return
	}
	if o.Kind == codeinterp.Value {
		r.value = &o
		return
	}
	r.guest.machine.Outside(func() { r.host.Show(o) })
}

// late takes what a task of an earlier run writes.
func (r *run) late(f *frames.Frame) {
	o := codeinterp.Output{Kind: kindOf(string(f.Field(0)) == "stderr"), Data: f.Field(1), Late: true}
	r.guest.machine.Outside(func() { r.host.Show(o) })
}

// wait waits for so long, for ever where d is negative, for until, which may be nil, or
// for the end of the run. It reports whether until came.
func (r *run) wait(d time.Duration, until <-chan struct{}) (came bool) {
	var timer <-chan time.Time
	if d >= 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		timer = t.C
	}
	r.guest.machine.Outside(func() {
		r.host.Idle(func() {
			select {
			case <-timer:
			case <-until:
				came = true
			case <-r.ctx.Done():
				r.guest.machine.Stop() // before the program goes on, as if its time had passed
			}
		})
	})
	return came
}

// call calls a function of the host and waits for its answer.
func (r *run) call(f *frames.Frame) []byte {
	how, result := r.outcome(-1, func(answer answer) { r.begin(string(f.Field(0)), f.Field(1), answer) })
	if how == "timeout" {
		return nil
	}
	return frames.Encode(frames.Answer, how, result)
}

// fetch makes an HTTP request and waits for its answer, for so long.
func (r *run) fetch(f *frames.Frame) []byte {
	fetch := r.program.Fetch
	if fetch == nil {
		return frames.Encode(frames.Answer, "none", "")
	}
	how, result := r.outcome(time.Duration(f.Number(0))*time.Microsecond, func(answer answer) { fetch(f.Field(2), answer) })
	switch how {
	case "ok":
		result = response(result)
	case "timeout":
		fetch(fmt.Appendf(nil, `{"cancel": %d}`, f.Number(1)), func(json.RawMessage, error) {})
	}
	return frames.Encode(frames.Answer, how, result)
}

// response returns an engine.FetchAnswer as a server sends it.
func response(answer string) string {
	var a engine.FetchAnswer
	_ = json.Unmarshal([]byte(answer), &a) // it was made by this process
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.Status, a.StatusText)
	for _, h := range a.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	b.WriteString("\r\n")
	for _, c := range a.Body {
		b.WriteByte(byte(c))
	}
	return b.String()
}

// An answer takes that of the host.
type answer = func(result json.RawMessage, err error)

// outcome begins a call and waits for its answer, for so long, or until the run is to end:
// then it is a timeout.
func (r *run) outcome(d time.Duration, begin func(answer)) (how, result string) {
	var a, b string
	done := make(chan struct{})
	begin(func(result json.RawMessage, err error) {
		a, b = fields(result, err)
		close(done)
	})
	if !r.wait(d, done) {
		return "timeout", ""
	}
	return a, b
}

// fields are what the driver gets of an answer.
func fields(result json.RawMessage, err error) (how, text string) {
	if err != nil {
		return "error", codeinterp.FunctionMessage(err)
	}
	return "ok", string(result)
}

const (
	// maxOpen is some times what the driver has open at once: a program that has more and
	// takes no answers is ended, before it takes the host's memory.
	maxOpen   = 4 * 4096
	maxNumber = 20
)

var errOpen = errors.New("it has too many calls open")

// start calls a function of the host whose answer awaited returns.
func (r *run) start(f *frames.Frame) {
	number := string(f.Field(0))
	r.mu.Lock()
	r.open++
	many := r.open > maxOpen || len(number) > maxNumber
	r.mu.Unlock()
	if many {
		panic(errOpen)
	}
	r.begin(string(f.Field(1)), f.Field(2), func(result json.RawMessage, err error) {
		how, text := fields(result, err)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.over {
			return
		}
		r.answers = append(r.answers, number, how, text)
		select {
		case r.answered <- struct{}{}:
		default:
		}
	})
}

// begin begins a call. answer is called once, on any goroutine.
func (r *run) begin(name string, args json.RawMessage, answer answer) {
	if r.program.Call == nil {
		answer(nil, &codeinterp.FunctionError{Function: name, Message: "there are no functions"})
		return
	}
	r.program.Call(name, args, answer)
}

// awaited returns the answers that have come, after a while where there are none.
func (r *run) awaited(d time.Duration) []byte {
	list := r.takeAnswers()
	if list == nil && d != 0 {
		r.wait(d, r.answered)
		list = r.takeAnswers()
	}
	r.guest.machine.Look()
	return frames.Encode(frames.Answer, list...)
}

// maxAnswers bounds the fields of a frame with answers.
const maxAnswers = 3 * 64

func (r *run) takeAnswers() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.answers), maxAnswers)
	list := r.answers[:n]
	r.open -= n / 3
	if r.answers = r.answers[n:]; len(r.answers) == 0 {
		r.answers = nil
	} else {
		select {
		case r.answered <- struct{}{}:
		default:
		}
	}
	return list
}
