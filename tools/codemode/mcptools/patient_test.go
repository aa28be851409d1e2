package mcptools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/codemode/mcptools"
)

// callIn calls the first tool of a set for as long as d at most.
func callIn(set *mcptools.Set, d time.Duration, args string) error {
	_, err := valueIn(set, d, args)
	return err
}

// valueIn is a callIn that returns the result.
func valueIn(set *mcptools.Set, d time.Duration, args string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	v, _, err := set.Entries()[0].Call(ctx, codeinterp.FunctionCall{Number: 1, Args: json.RawMessage(args)})
	return string(v), err
}

// TestServerThatDoesNotRead: calls that were given up leave nothing behind.
func TestServerThatDoesNotRead(t *testing.T) {
	var stderr safeBuffer
	set := open(t, &mcptools.Options{Stderr: &stderr}, stdio("deaf", "deaf"))
	before := runtime.NumGoroutine()
	args := fmt.Sprintf(`{"x":%q}`, strings.Repeat("x", 1<<20))
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if callIn(set, 100*time.Millisecond, args) == nil {
				t.Error("a server that does not read has answered")
			}
		})
	}
	all.Wait()
	const few = 20 // one message is under way, and the process being waited for
	for end := time.Now().Add(3 * time.Minute); runtime.NumGoroutine() > before+few; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
	// It is ended as one that reads is, and not waited for until Close gives up.
	start := time.Now()
	set.Close()
	if d := time.Since(start); d > 9*time.Second {
		t.Errorf("Close took %v", d)
	}
	var pid int
	fmt.Sscanf(stderr.String(), "deaf %d", &pid)
	if pid == 0 || running(pid) {
		t.Errorf("process %d lives", pid)
	}
}

// TestServerThatAsks: one that sends requests and does not read the answers is
// ended, before they fill the host.
func TestServerThatAsks(t *testing.T) {
	set := open(t, nil, stdio("asking", "asking"))
	before := runtime.NumGoroutine()
	if err := callIn(set, time.Minute, `{}`); err == nil || !strings.Contains(err.Error(), "has ended during the call") {
		t.Error(err)
	}
	if n := runtime.NumGoroutine(); n > before+500 {
		t.Errorf("%d goroutines, %d before", n, before)
	}

	var under, most atomic.Int32
	release := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost && !strings.Contains(string(body), `"method"`) {
			if n := under.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-release
			return
		}
		if result := strings.TrimSpace(firstResult(body)); result != "" {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, result)
			return
		} else if r.Method != http.MethodPost || !strings.Contains(string(body), "tools/call") {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i := 0; r.Context().Err() == nil && i < 5000; i++ {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"\\\"method\\\":\\\"%d\",\"method\":\"ping\"}\n\n", i)
		}
	}))
	defer web.Close()
	defer close(release)
	set = open(t, nil, mcptools.Server{Name: "web", URL: web.URL})
	if err := callIn(set, 20*time.Second, `{}`); err == nil {
		t.Error("a server that only asks has answered")
	}
	if n := most.Load(); n == 0 || n > 100 {
		t.Errorf("%d answers under way at once", n)
	}
}

// TestWideAnswers: an answer of too many members costs one call, and large ones
// that come at once all arrive.
func TestWideAnswers(t *testing.T) {
	set := open(t, nil, stdio("malformed", "malformed"))
	if err := callIn(set, time.Minute, `{"wide":1200000}`); err == nil || !strings.Contains(err.Error(), "more than 500000 members") {
		t.Error(err)
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if err := callIn(set, time.Minute, `{"wide":400000}`); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
