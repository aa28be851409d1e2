package mcpserver_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/toolcell/toolcell/mcpserver"
)

func TestHTTPGuards(t *testing.T) {
	f := newFake()
	url := serve(t, newServer(t, f, nil), &mcpserver.HTTPOptions{
		Tokens: []string{"right"}, Hosts: []string{"mcp.example"}, Origins: []string{"https://app.example"},
	})
	self := strings.TrimSuffix(url, mcpserver.Path)
	for _, tt := range []struct {
		name   string
		header []string
		body   string
		status int
	}{
		{"in order", nil, "", 200},
		{"no token", []string{"Authorization", ""}, "", 401},
		{"wrong token", []string{"Authorization", "Bearer wrong"}, "", 401},
		{"half a token", []string{"Authorization", "Bearer righ"}, "", 401},
		{"token of another scheme", []string{"Authorization", "Basic right"}, "", 401},
		{"evil origin", []string{"Origin", "http://evil.example"}, "", 403},
		{"no origin at all", []string{"Origin", "null"}, "", 403},
		{"origin on another port", []string{"Origin", "http://127.0.0.1:1"}, "", 403},
		{"own origin", []string{"Origin", self}, "", 200},
		{"listed origin", []string{"Origin", "https://app.example"}, "", 200},
		{"cross-site without an origin", []string{"Sec-Fetch-Site", "cross-site"}, "", 403},
		{"rebound host", []string{"Host", "evil.example"}, "", 403},
		{"rebound host with a port", []string{"Host", "evil.example:80"}, "", 403},
		{"another address", []string{"Host", "192.0.2.1"}, "", 403},
		{"localhost", []string{"Host", "localhost:8080"}, "", 200},
		{"listed host", []string{"Host", "mcp.example"}, "", 200},
		{"too large", nil, runMessage("2026-07-28", strings.Repeat("x", 11<<20)), 413},
		{"no JSON", nil, "{", 400},
		{"deep", nil, strings.Repeat("[", 4000), 400},
		{"empty", nil, " ", 400},
		{"forged carrier", []string{"Toolcell-Carrier", "x"}, "", 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := tt.body
			if body == "" {
				body = runMessage("2026-07-28", "print x")
			}
			_, before := f.runs()
			resp, err := post(t.Context(), url, "2026-07-28", "", body, append([]string{"Authorization", "Bearer right"}, tt.header...)...)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			answer, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != tt.status {
				t.Errorf("got %s: %s", resp.Status, answer)
			}
			if tt.status == 401 && resp.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Error("no WWW-Authenticate")
			}
			if _, after := f.runs(); (len(after) > len(before)) != (tt.status == 200) {
				t.Errorf("%d programs ran", len(after)-len(before))
			}
			if bytes.Contains(answer, []byte("right")) {
				t.Errorf("the answer has the token: %s", answer)
			}
		})
	}
}

func TestHandlerBeyondLoopbackWantsAToken(t *testing.T) {
	s := newServer(t, newFake(), nil)
	for _, tt := range []struct {
		local  net.Addr
		tokens []string
		status int
	}{
		{&net.TCPAddr{IP: net.ParseIP("192.0.2.7")}, nil, 403},
		{&net.TCPAddr{IP: net.ParseIP("192.0.2.7")}, []string{"t"}, 200},
		{&net.TCPAddr{IP: net.ParseIP("::ffff:127.0.0.1")}, nil, 200},
		{&net.UnixAddr{Name: "/run/x"}, nil, 200},
	} {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(initialize)).
			WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, tt.local))
		r.Host = "localhost"
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer t"}}
		w := httptest.NewRecorder()
		h, err := s.Handler(&mcpserver.HTTPOptions{Tokens: tt.tokens})
		if err != nil {
			t.Fatal(err)
		}
		h.ServeHTTP(w, r)
		if w.Code != tt.status {
			t.Errorf("%v, %d tokens: %d %s", tt.local, len(tt.tokens), w.Code, w.Body)
		}
	}
}

func TestVerify(t *testing.T) {
	url := serve(t, newServer(t, newFake(), nil), &mcpserver.HTTPOptions{
		Verify: func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
			user, ok := strings.CutPrefix(token, "token-of-")
			if !ok {
				return nil, auth.ErrInvalidToken
			}
			user, _, _ = strings.Cut(user, "-")
			return &auth.TokenInfo{UserID: user, Expiration: time.Now().Add(time.Hour)}, nil
		},
		Bearer: &auth.RequireBearerTokenOptions{ResourceMetadataURL: "https://auth.example/meta"},
	})
	resp, err := post(t.Context(), url, "2026-07-28", "", runMessage("2026-07-28", "print x"), "Authorization", "Bearer wrong")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := resp.Header.Values("WWW-Authenticate"); resp.StatusCode != 401 || len(got) != 1 || !strings.Contains(got[0], "auth.example") {
		t.Errorf("%s, %q", resp.Status, got)
	}
	id := newContext(t, dial(t, url, "token-of-ann-1", "2026-07-28"))
	for token, want := range map[string]bool{"token-of-ann-2": true, "token-of-bob-1": false} {
		res := call(t, dial(t, url, token, "2026-07-28"), "run_in_code_context", "contextId", id, "code", "get")
		if res.IsError == want {
			t.Errorf("%s: %s", token, text(res))
		}
	}
}
