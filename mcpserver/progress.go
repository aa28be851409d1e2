package mcpserver

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/plaintext"
)

const (
	// progressEvery is the shortest time between two notifications.
	progressEvery = 250 * time.Millisecond

	// maxProgress is how many bytes of output, the last ones, a notification has.
	maxProgress = 2 << 10
)

// A progress reports to a client how a call proceeds: what the program prints, and
// regularly that it still runs. It never blocks the program: a slow client misses output,
// which is in the result.
type progress struct {
	send  func(at float64, message string)
	alive time.Duration
	start time.Time
	last  float64

	mu   sync.Mutex
	text []byte
	lost int64

	wake chan struct{}
	quit chan struct{}
	done chan struct{}
}

// newProgress starts reports to the client of req, or returns nil if it did not ask for
// them. All methods accept nil.
func (s *Server) newProgress(ctx context.Context, req *mcp.CallToolRequest) *progress {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	p := &progress{alive: s.opts.KeepAlive, start: time.Now(), wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	if p.alive <= 0 {
		p.alive = math.MaxInt64
	}
	p.send = func(at float64, message string) {
		req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: at, Message: s.scrub(message)})
	}
	go p.loop()
	return p
}

// observer returns the receiver of the program's output.
func (p *progress) observer() func(codeinterp.Output) error {
	if p == nil {
		return nil
	}
	return func(o codeinterp.Output) error {
		p.add(o)
		return nil
	}
}

// add records output.
func (p *progress) add(o codeinterp.Output) {
	b := o.Data
	if len(o.Bundle) > 0 {
		b = []byte(o.Text() + "\n")
	}
	p.mu.Lock()
	p.text = append(p.text, b[max(0, len(b)-maxProgress):]...)
	p.lost += int64(max(0, len(b)-maxProgress))
	if over := len(p.text) - maxProgress; over > 0 {
		p.text = append(p.text[:0], p.text[over:]...)
		p.lost += int64(over)
	}
	p.mu.Unlock()
	select {
	// A pending one covers this too.
	case p.wake <- struct{}{}:
	default:
	}
}

// stop ends the notifications. None is sent after it has returned.
func (p *progress) stop() {
	if p == nil {
		return
	}
	close(p.quit)
	<-p.done
}

func (p *progress) loop() {
	defer close(p.done)
	alive := time.NewTimer(p.alive)
	defer alive.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-alive.C:
		case <-p.wake:
		}
		p.report()
		alive.Reset(p.alive)
		pause := time.NewTimer(progressEvery)
		select {
		case <-p.quit:
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

// report sends one notification. Its value is the seconds since the call began, and more
// than the one before.
func (p *progress) report() {
	p.mu.Lock()
	text, lost := string(p.text), p.lost
	p.text, p.lost = p.text[:0], 0
	p.mu.Unlock()
	elapsed := time.Since(p.start)
	message := plaintext.Clean(text)
	switch {
	case text == "":
		message = fmt.Sprintf("running for %v", elapsed.Round(time.Second))
	case lost > 0:
		message = fmt.Sprintf("[... %d bytes ...]%s", lost, message)
	}
	at := math.Round(elapsed.Seconds()*1000) / 1000
	if at <= p.last {
		at = p.last + 0.001
	}
	p.last = at
	p.send(at, message)
}
