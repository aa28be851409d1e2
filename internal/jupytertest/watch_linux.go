package jupytertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Watched is a server that many tests wait for.
type Watched struct {
	URL    string    // whatever it answers there shows that it lives
	Server *exec.Cmd // its process
	Log    *Log      // what that says
	Forker *exec.Cmd // what its kernels are Forked from, nil if they are not
	Dir    string    // that was given to Forked
}

// Watch calls stuck, with a report, once the server, or what its kernels are forked
// from, has not answered within limit: what waits for them would not say why it does.
func (w *Watched) Watch(limit time.Duration, stuck func(report string)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		pause := time.NewTicker(limit / 4)
		defer pause.Stop()
		for {
			select {
			case <-pause.C:
			case <-ctx.Done():
				return
			}
			// Twice, as the machine may have been suspended meanwhile.
			if w.ask(ctx, limit/2) == nil {
				continue
			}
			if err := w.ask(ctx, limit/2); err != nil && ctx.Err() == nil {
				stuck(w.report(err))
				return
			}
		}
	}()
	return cancel
}

// ask returns what does not answer within limit.
func (w *Watched) ask(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	server := make(chan error, 1)
	go func() { server <- askServer(ctx, w.URL) }()
	var forker error
	if w.Forker != nil {
		forker = askForker(ctx, forkerSocket(w.Dir))
	}
	return errors.Join(<-server, forker)
}

func askServer(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	way := &http.Transport{DisableKeepAlives: true}
	resp, err := way.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	return resp.Body.Close()
}

// askForker connects as a stub does, and leaves, which is answered alike.
func askForker(ctx context.Context, socket string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("what forks kernels has ended: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
		return err
	}
	if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
		return fmt.Errorf("what forks kernels does not answer: %w", err)
	}
	return nil
}

// report says what the processes do and have said.
func (w *Watched) report(why error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", why)
	cmds := []*exec.Cmd{w.Server}
	if w.Forker != nil {
		cmds = append(cmds, w.Forker)
	}
	for _, cmd := range cmds {
		pid := cmd.Process.Pid
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		waits, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid))
		fmt.Fprintf(&b, "%s: %s %v, in %s\n", cmd, stat, err, waits)
		_ = cmd.Process.Signal(syscall.SIGUSR2) // has Python say where it is; at SIGUSR1 the server says something else
	}
	said := func() string {
		data, _ := os.ReadFile(forkerLog(w.Dir))
		return fmt.Sprintf("the server's log:\n%s\nwhat forks kernels said:\n%s\n", w.Log, data)
	}
	for end := time.Now().Add(10 * time.Second); !strings.Contains(said(), "most recent call first") && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(time.Second) // for the rest
	b.WriteString(said())
	return b.String()
}

// A Log keeps the end of what a process says, while it does.
type Log struct {
	mu   sync.Mutex
	data []byte
}

const maxLog = 128 << 10

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = append(l.data, p...)
	if len(l.data) > 2*maxLog {
		l.data = append(l.data[:0], l.data[len(l.data)-maxLog:]...)
	}
	return len(p), nil
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.data)
}
