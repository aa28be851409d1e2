package mcpserver

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRequestOfUnknownLength: a body takes places as it is read, and no more than
// it has; what is not read takes none.
func TestRequestOfUnknownLength(t *testing.T) {
	o := HTTPOptions{MaxBody: 10 << 20, Tokens: strings.Fields("a b c d e f g h")}
	tr := &transport{HTTPOptions: o, requests: newRequests(&o)}
	var leaves []func()
	request := func(method, body string) error {
		t.Helper()
		r := httptest.NewRequest(method, Path, strings.NewReader(body))
		r.ContentLength = -1
		leave, ok := tr.request(r, "a")
		if !ok {
			return errRequests
		}
		leaves = append(leaves, leave)
		text, err := io.ReadAll(r.Body)
		if want := method == http.MethodPost && err == nil; want != (string(text) == body) {
			t.Errorf("%s: %d of %d bytes, %v", method, len(text), len(body), err)
		}
		return err
	}
	for range 100 {
		if err := request(http.MethodPost, "{}"); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(request(http.MethodPut, "{}"), request(http.MethodGet, "{}")); err != nil {
		t.Error(err)
	}
	if err := request(http.MethodPost, strings.Repeat("x", 8<<20)); !errors.Is(err, errRequests) {
		t.Error(err)
	}
	for _, leave := range leaves {
		leave()
	}
	if tr.requests.all != 0 || len(tr.requests.taken) != 0 {
		t.Errorf("%d places are taken of nobody's", tr.requests.all)
	}
}
