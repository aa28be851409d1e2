package jupytertest

import (
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWatch: what stands still is told, with where it does.
func TestWatch(t *testing.T) {
	bin := filepath.Dir(program(t))
	forker, dir := forks(t, bin, []string{"PATH=" + bin})
	dial(t, forkerSocket(dir)).Close()
	healthy := httptest.NewServer(nil)
	defer healthy.Close()
	w := &Watched{URL: healthy.URL, Server: forker, Log: &Log{}, Forker: forker, Dir: dir}
	if err := w.ask(t.Context(), limit); err != nil {
		t.Error(err)
	}
	if report := w.report(nil); !strings.Contains(report, "most recent call first") {
		t.Errorf("%q does not say where Python is", report)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	still := &Watched{URL: "http://" + silent.Addr().String(), Server: forker, Log: &Log{}, Dir: dir}
	wantStuck(t, still, "the server does not answer")
	if err := forker.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	wantStuck(t, w, "what forks kernels does not answer")
	_ = forker.Process.Kill()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err := w.ask(t.Context(), limit); err != nil && strings.Contains(err.Error(), "what forks kernels has ended") {
			return
		}
	}
	t.Error("what forks kernels has ended, and nobody is told")
}

func wantStuck(t *testing.T, w *Watched, says string) {
	t.Helper()
	told := make(chan string, 1)
	stop := w.Watch(200*time.Millisecond, func(report string) { told <- report })
	defer stop()
	select {
	case report := <-told:
		if !strings.Contains(report, says) {
			t.Errorf("%q does not say %q", report, says)
		}
	case <-time.After(limit):
		t.Errorf("not told that %s", says)
	}
}
