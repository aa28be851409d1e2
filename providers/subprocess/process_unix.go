//go:build unix

package subprocess

import (
	"context"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/internal/sandbox"
	"github.com/toolcell/toolcell/providers/subprocess/internal/cells"
	"github.com/toolcell/toolcell/providers/subprocess/internal/pump"
)

// drainTimeout bounds the wait for the pipes of a process that is gone, which a
// descendant may hold open in none mode.
const drainTimeout = 500 * time.Millisecond

// signalAfter is how long a driver has to act on an interrupt frame.
const signalAfter = 50 * time.Millisecond

// A process is a running driver. At most one run is in progress.
type process struct {
	h       *host
	lang    *language
	sb      *sandbox.Process
	place   place
	inside  string        // the working directory, as the process sees it
	modules *moduleFiles  // that it has imported before its program
	once    atomic.Bool   // it runs one program
	hello   string        // the runtime's version, once greeted
	greeted chan struct{} // closed when the driver has said hello
	ready   chan []byte   // gets the files of preloaded modules
	gone    chan struct{} // closed when it has ended, and its run with it

	channel
	output
	callState
	completer completer
	forking   forking

	mu      sync.Mutex // of what follows, and of output and calling where they say so
	run     *run
	runs    int
	dead    bool
	broken  error  // why the host gave the driver up, nil if it did not
	release func() // gives back what the process lived in
}

// A channel is the host's end of the control channel.
type channel struct {
	ctl       *os.File // nil where there is no driver
	raw       syscall.RawConn
	came      chan message    // frames that were read and not served
	served    chan struct{}   // closed after the last of them
	open      context.Context // ends when the channel is closed
	shut      context.CancelFunc
	writing   sync.Mutex // one frame at a time
	answering sync.Mutex // one answer at a time; before writing
}

// An output is what the process writes outside of the control channel, and where it goes
// if it is no run's.
type output struct {
	streams [2]*pump.Pump
	showing sync.Mutex              // held while a run that begins shows earlier late output
	owner   func(codeinterp.Output) // takes output that is no run's; nil while the process is unused; guarded by mu
	startup []byte                  // what it printed before, up to maxStartup; guarded by mu
}

// A callState is the state of the program's calls of functions.
type callState struct {
	offered []string // the functions that the driver knows
	calls   int      // open ones; guarded by mu
}

// maxStartup bounds what is kept of an unused process.
const maxStartup = 4 << 10

// A run is a program that a process executes.
type run struct {
	p     *process
	seq   int // its number in frames, which cannot be known before it begins
	out   *driver.Output
	prog  *cells.Program // of the goroutine that begins the run
	done  chan struct{}
	calls *runCalls

	ending chan struct{} // closed when the program has ended; its output may be on its way
	over   func()        // closes that and tells the driver, which waits for an interrupt in progress

	// Set before done is closed.
	end   *frames.Report // nil if the process died
	ended time.Time
}

// newProcess takes over a started driver and the host's ends of its
// descriptors.
func newProcess(h *host, lang *language, sb *sandbox.Process, e *ends, pl *place, inside string, release func()) (*process, error) {
	p := &process{
		h: h, lang: lang, sb: sb, place: *pl, inside: inside, release: release, run: pl.first,
		greeted: make(chan struct{}), ready: make(chan []byte, 1), gone: make(chan struct{}),
		channel: channel{ctl: e.host[2], came: make(chan message, maxAhead), served: make(chan struct{})},
		output:  output{owner: pl.late},
	}
	if pl.first != nil {
		pl.first.p = p
	}
	p.open, p.shut = context.WithCancel(context.Background())
	for i, file := range e.host[:2] {
		var err error
		if p.streams[i], err = pump.New(codeinterp.Stdout+codeinterp.Kind(i), file, p); err != nil {
			return nil, err
		}
	}
	if p.ctl != nil {
		var err error
		if p.raw, err = p.ctl.SyscallConn(); err != nil {
			return nil, err
		}
		go p.read(h.room)
		go p.listen()
	} else {
		close(p.served)
	}
	go p.watch()
	return p, nil
}

// Deliver implements pump.Sink: it gives a chunk to the run in progress, or keeps it for
// the next one.
func (p *process) Deliver(kind codeinterp.Kind, b []byte) {
	p.mu.Lock()
	r := p.run
	p.mu.Unlock()
	if r == nil || !r.out.Write(kind, b) {
		p.keepLate(codeinterp.Output{Kind: kind, Data: b})
	}
}

// deliverLate gives output of earlier runs to the run in progress, or keeps it for the next
// one. In a first run it is the run's own: a thread of a preloaded module has made it.
func (p *process) deliverLate(o codeinterp.Output) {
	p.showing.Lock() // what was late before comes before it
	defer p.showing.Unlock()
	p.mu.Lock()
	r, first := p.run, p.runs == 1
	p.mu.Unlock()
	o.Late = !first
	if r == nil || !r.out.Add(o) {
		o.Late = true
		p.keepLate(o)
	}
}

// keepLate keeps output that is no run's for the next one.
func (p *process) keepLate(o codeinterp.Output) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owner != nil {
		p.owner(o)
	}
	if (p.owner == nil || !isDone(p.greeted)) && (o.Kind == codeinterp.Stdout || o.Kind == codeinterp.Stderr) {
		p.startup = append(p.startup, o.Data[:min(len(o.Data), maxStartup-len(p.startup))]...)
	}
}

// setOwner sets the context that gets the process and its late output.
func (p *process) setOwner(late func(codeinterp.Output)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owner = late; late != nil && len(p.startup) > 0 {
		late(codeinterp.Output{Kind: codeinterp.Stderr, Data: p.startup})
	}
}

// watch waits for the end of the process, then for the end of its output, and
// ends the run.
func (p *process) watch() {
	p.sb.Wait()
	ended := time.Now()
	// Before the output is taken: no interrupt is for a process that is gone.
	p.markOver(nil)
	for _, s := range p.streams {
		s.Flush()
	}
	if !pump.Drained(drainTimeout, p.streams[:]...) {
		p.mute()
		pump.Drained(drainTimeout, p.streams[:]...)
	}
	for _, s := range p.streams {
		s.Close()
	}
	// The last frames may be on their way. On a busy machine the first wait may pass
	// before the reader of frames runs at all.
	for range 2 {
		p.awaitServed(drainTimeout)
	}
	p.closeControl()
	<-p.served
	p.mu.Lock()
	r, release := p.run, p.release
	p.run, p.dead = nil, true
	p.mu.Unlock()
	p.place.net.Close()
	if r != nil {
		r.ended = ended
		close(r.done)
	}
	if release != nil {
		release()
	}
	close(p.gone)
}

// awaitServed waits until the last frame was served, and d at most.
func (p *process) awaitServed(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.served:
	case <-timer.C:
	}
}

// mute lets the run in progress end without its callback.
func (p *process) mute() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != nil {
		p.run.out.Mute()
	}
}

// interrupt asks the run to end, as Ctrl-C would. It says so first: a driver
// that acts on the frame gets a moment to read it, which it does unless the
// program computes, and only that takes a signal; others see by the frame that
// the signal is for a run they have yet to begin.
func (p *process) interrupt(r *run) {
	seq := strconv.Itoa(r.seq)
	sent := p.trySend(frames.Interrupt, seq)
	if p.lang.Driver.Interrupts {
		timer := time.NewTimer(signalAfter)
		defer timer.Stop()
		select {
		case <-r.ending:
			return
		case <-timer.C:
		}
	}
	_ = p.sb.SignalAll(syscall.SIGINT)
	if sent && p.trySend(frames.Signaled, seq) {
		return
	}
	// A driver that has yet to begin the run waits for both.
	go func() {
		if sent || p.sendFor(r, frames.Interrupt, seq) {
			p.sendFor(r, frames.Signaled, seq)
		}
	}()
}

// end kills the process and ends writes to it. It does not wait.
func (p *process) end() {
	p.sb.Kill()
	p.closeControl()
}

// closeControl ends what is read from and written to the driver.
func (p *process) closeControl() {
	p.shut()
	if p.ctl != nil {
		p.ctl.Close()
	}
}

// kill ends the process and everything it started, and waits for that.
func (p *process) kill() {
	p.sb.Kill()
	<-p.gone
}

// pairs flattens env.
func pairs(env map[string]string) []string {
	list := make([]string, 0, 2*len(env))
	for k, v := range env {
		list = append(list, k, v)
	}
	return list
}
