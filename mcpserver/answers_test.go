package mcpserver_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/mcpserver"
)

// hello opens a session of a revision and returns its id.
func hello(t *testing.T, url, revision string) string {
	t.Helper()
	res, err := post(t.Context(), url, "", "", strings.Replace(initialize, "2025-11-25", revision, 1))
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	return res.Header.Get("Mcp-Session-Id")
}

// TestAnswersTakePlaces: what a request of some bytes asks for at once is bounded, and
// free again once its client has it.
func TestAnswersTakePlaces(t *testing.T) {
	s := newServer(t, newFake(), nil)
	mcpserver.ServeFixed(s, "file:///{name}", map[string]struct {
		MIME string
		Data []byte
	}{"file:///large": {"text/plain", []byte(strings.Repeat("x", 8<<20))}, "file:///control": {"text/plain", []byte(strings.Repeat("\x01", 1000))}})
	url := serve(t, s, nil)
	id := hello(t, url, "2025-03-26")
	ask := func(body string) string {
		res, err := post(t.Context(), url, "2025-03-26", id, body)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	read := func(n int, uri string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%q}}`, n, uri)
	}
	batch := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, read(i+1, "file:///large"))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	for range 2 {
		got := ask(batch(8))
		if whole, less := strings.Count(got, `"contents"`), strings.Count(got, "ask again"); whole != 4 || less != 4 {
			t.Errorf("%d answers of 8 MiB, and %d refusals of 8 requests at once", whole, less)
		}
	}
	if got := ask(read(1, "file:///large")); !strings.Contains(got, "xxxx") {
		t.Errorf("afterwards: %.200s", got)
	}
	if got := ask(read(1, "file:///control")); !strings.Contains(got, `"blob":"AQEB`) {
		t.Errorf("text of no letters: %.200s", got)
	}
}

// TestNotificationsRefused: those that were refused do not wait for their session.
func TestNotificationsRefused(t *testing.T) {
	url := serve(t, newServer(t, newFake(), nil), nil)
	id := hello(t, url, "2025-11-25")
	const note = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	send := func(want int, header ...string) {
		t.Helper()
		res, err := post(t.Context(), url, "2025-11-25", id, note, header...)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Fatalf("%s, want %d", res.Status, want)
		}
	}
	for range 1100 {
		send(http.StatusBadRequest, "Accept", "text/plain")
	}
	send(http.StatusAccepted)
}

// TestNotificationsHeeded: a session that comes to its notifications may be sent as
// many as its client likes; what nobody heeds is accepted.
func TestNotificationsHeeded(t *testing.T) {
	url := serve(t, newServer(t, newFake(), nil), nil)
	id := hello(t, url, "2025-11-25")
	for i := range 2500 {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i)
		if i%2 == 1 {
			body = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}`
		}
		res, err := post(t.Context(), url, "2025-11-25", id, body)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusAccepted {
			t.Fatalf("notification %d: %s", i, res.Status)
		}
	}
	res, err := post(t.Context(), url, "2025-11-25", "no such session", `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("to no session: %s", res.Status)
	}
}
