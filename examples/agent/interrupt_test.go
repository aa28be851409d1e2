//go:build unix

package main

import (
	"bytes"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/scripted"
)

// TestMain is the program itself where a test starts it as one.
func TestMain(m *testing.M) {
	if os.Getenv("AGENT_TEST_MAIN") != "" {
		os.Args = []string{"agent", "go"}
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestInterrupt presses Ctrl-C while code runs.
func TestInterrupt(t *testing.T) {
	srv := httptest.NewServer(scripted.Handler(turns(scripted.Turn{Calls: []scripted.ToolCall{
		runCall("a", `console.log("begun"); for (;;);`),
	}})))
	defer srv.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "AGENT_TEST_MAIN=1", "OPENAI_BASE_URL="+srv.URL, "OPENAI_API_KEY=key", "OPENAI_MODEL=m")
	out := &watch{want: "| begun", seen: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = out, io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-out.seen:
	case <-time.After(time.Minute):
		cmd.Process.Kill()
		t.Fatal("the program did not begin")
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer kill.Stop()
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if !strings.Contains(out.text.String(), "canceled after") {
		t.Errorf("output:\n%s", &out.text)
	}
}

// watch is a writer that tells when it has seen a text.
type watch struct {
	text bytes.Buffer
	want string
	seen chan struct{}
	done bool
}

func (w *watch) Write(p []byte) (int, error) {
	n, err := w.text.Write(p)
	if !w.done && strings.Contains(w.text.String(), w.want) {
		w.done = true
		close(w.seen)
	}
	return n, err
}
