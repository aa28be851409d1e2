package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	fake "github.com/toolcell/toolcell/internal/fakejupyter"
)

// listening returns the address of a fake server, for clients of the real network.
func listening(t *testing.T, s *fake.Server) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := s.DialContext(context.Background(), "", "")
			if err != nil {
				in.Close()
				return
			}
			go func() { _, _ = io.Copy(out, in); out.Close() }()
			go func() { _, _ = io.Copy(in, out); in.Close() }()
		}
	}()
	return "http://" + ln.Addr().String() + "/"
}

// TestMCPSweeps: a kernel that a killed command left is deleted when the next
// one starts, and one that was active lately is not.
func TestMCPSweeps(t *testing.T) {
	t.Parallel()
	s := fake.New()
	t.Cleanup(s.Close)
	kernel := func(id string, idle time.Duration) any {
		return map[string]any{"id": id, "path": "toolcell/toolcell/" + id,
			"kernel": map[string]any{"id": id, "connections": 0, "last_activity": time.Now().Add(-idle)}}
	}
	deleted := make(chan string, 10)
	s.HTTP = func(w http.ResponseWriter, r *http.Request) bool {
		id, ofSession := strings.CutPrefix(r.URL.Path, "/api/sessions/")
		switch {
		case r.URL.Path == "/api/sessions" && r.Method == http.MethodGet:
			fake.JSON(w, 200, []any{kernel("young", time.Minute), kernel("left", time.Hour)})
		case ofSession && r.Method == http.MethodDelete:
			deleted <- id
			w.WriteHeader(http.StatusNoContent)
		default:
			return false
		}
		return true
	}
	_, hangUp := serveMCP(t, "--provider", "jupyter", "--url", listening(t, s))
	if id := <-deleted; id != "left" {
		t.Errorf("deleted %q", id)
	}
	if code := hangUp(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if len(deleted) > 0 {
		t.Errorf("deleted %q too", <-deleted)
	}
}

// TestUnknownEnds: where nobody can say that a program ended well, the exit code
// is not 0, in every form of the output.
func TestUnknownEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play func(s *fake.Server, k *fake.Kernel, req *fake.Message)
		code int
	}{
		"well": {func(_ *fake.Server, k *fake.Kernel, req *fake.Message) {
			k.Reply(req, "execute_reply", fake.OK(1))
			k.IOPub(req, "status", fake.Status("idle"))
		}, 0},
		"no reply": {func(_ *fake.Server, k *fake.Kernel, req *fake.Message) {
			k.IOPub(req, "status", fake.Status("idle"))
		}, 1},
		"nothing": {func(*fake.Server, *fake.Kernel, *fake.Message) {}, 1},
		"the socket lost with the reply": {func(_ *fake.Server, k *fake.Kernel, req *fake.Message) {
			k.Drop()
			_ = k.Make("shell", req, "execute_reply", fake.OK(1))
		}, 1},
		"dropped after it began": {func(_ *fake.Server, k *fake.Kernel, req *fake.Message) {
			k.IOPub(req, "execute_input", map[string]any{"execution_count": 1})
			k.Reply(req, "execute_reply", map[string]string{"status": "aborted"})
			k.IOPub(req, "status", fake.Status("idle"))
		}, 1},
		"a reply that says nothing": {func(_ *fake.Server, k *fake.Kernel, req *fake.Message) {
			k.Reply(req, "execute_reply", map[string]string{})
			k.IOPub(req, "status", fake.Status("idle"))
		}, 1},
		"a reply that is none": {func(_ *fake.Server, k *fake.Kernel, req *fake.Message) {
			k.Reply(req, "execute_reply", []int{1})
			k.IOPub(req, "status", fake.Status("idle"))
		}, 1},
		"the kernel died":   {func(_ *fake.Server, k *fake.Kernel, _ *fake.Message) { k.Die() }, codeinterp.ExitKilled},
		"the kernel culled": {func(s *fake.Server, k *fake.Kernel, _ *fake.Message) { s.Remove(k) }, codeinterp.ExitKilled},
	} {
		for _, form := range []string{"--json=false", "--json"} {
			t.Run(name+" "+form, func(t *testing.T) {
				t.Parallel()
				s := fake.New()
				t.Cleanup(s.Close)
				s.Execute = func(k *fake.Kernel, req *fake.Message) {
					k.IOPub(req, "status", fake.Status("busy"))
					k.IOPub(req, "stream", fake.Stream("stdout", "all well\n"))
					time.Sleep(50 * time.Millisecond)
					c.play(s, k, req)
				}
				code, stdout, stderr := toolcell(t.Context(), "", "run", "--provider", "jupyter", "--url", listening(t, s), "--language", "python", form, "-e", "x")
				if code != c.code {
					t.Errorf("exit code %d, want %d\n%s%s", code, c.code, stdout, stderr)
				}
			})
		}
	}
}
