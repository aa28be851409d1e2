//go:build real

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/jupytertest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestJupyterAddresses runs a program on a real server, by addresses that it and
// browsers show.
func TestJupyterAddresses(t *testing.T) {
	t.Parallel()
	plain := fmt.Sprint("http://127.0.0.1:", jupytertest.ServerWith(t))
	for _, args := range [][]string{
		{"--url", plain + "/lab/tree/a/x.ipynb?token=T"},
		{"--url", plain, "--token", "T", "--header", "X-A: b", "--kernel", "python3"},
	} {
		code, stdout, stderr := toolcell(t.Context(), "", append([]string{"run", "-e", "print(6*7)"}, args...)...)
		if code != 0 || stdout != "42\n" || stderr != "" && !strings.Contains(stderr, "waiting for") {
			t.Errorf("%q: code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// TestJupyterSweep leaves kernels behind, as commands do that are killed: sweep
// deletes those with the tag, and the start of mcp those that are old.
func TestJupyterSweep(t *testing.T) {
	t.Parallel()
	address := jupytertest.Server(t)
	sweep := func(want string, args ...string) {
		t.Helper()
		code, stdout, stderr := toolcell(t.Context(), "", append([]string{"sweep", "--url", address}, args...)...)
		if code != 0 || stdout != want || stderr != "" {
			t.Errorf("%q: code %d, %q, %q", args, code, stdout, stderr)
		}
	}
	other, err := jupyter.NewStateful(t.Context(), &jupyter.Options{URL: address, Tag: "other"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	sweep("no kernel was left behind that has been idle for 10m0s; --idle says for how long\n")
	leaveBehind(t, other, address, "other")
	leaveBehind(t, other, address, jupyter.DefaultTag)
	sweep("no kernel was left behind that has been idle for 10m0s; --idle says for how long\n") // it was active a moment ago
	sweep("deleted 1 kernel that was left behind\n", "--idle", "0s")
	leaveBehind(t, other, address, jupyter.DefaultTag)
	_, hangUp := serveMCP(t, "--url", aged(t, address))
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		list, err := other.Kernels(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 1 && strings.HasPrefix(list[0].Path, "toolcell/other/") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("mcp leaves %+v", list)
		}
	}
	if code := hangUp(); code != 0 {
		t.Errorf("mcp: exit code %d", code)
	}
}

// leaveBehind starts a kernel and leaves it, and returns when the server has
// noticed.
func leaveBehind(t *testing.T, see *jupyter.Stateful, address, tag string) {
	t.Helper()
	ci, err := jupyter.NewStateful(t.Context(), &jupyter.Options{URL: address, Tag: tag})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	id, err := ci.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ci.Detach(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		list, err := see.Kernels(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		connected := 0
		for _, k := range list {
			connected += k.Connections
		}
		if connected == 0 {
			return
		}
	}
	t.Fatal("the server counts a client that has left")
}

// aged is the address of a server whose sessions were last active long ago.
func aged(t *testing.T, address string) string {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: to.Scheme, Host: to.Host}) },
		ModifyResponse: func(resp *http.Response) error {
			if resp.Request.Method != http.MethodGet || resp.Request.URL.Path != "/api/sessions" {
				return nil
			}
			var list []map[string]any
			if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
				return err
			}
			for _, s := range list {
				s["kernel"].(map[string]any)["last_activity"] = time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
			}
			b, err := json.Marshal(list)
			resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
			resp.Header.Del("Content-Length")
			return err
		},
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: proxy}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + l.Addr().String() + "/?" + to.RawQuery
}
