package gate_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The credential does not come back: in headers, trailers, bodies in whatever pieces,
// informational answers, encodings, websockets, or compressed.
func TestEchoes(t *testing.T) {
	s := theSecret
	l := newLab(t, policy, func(w http.ResponseWriter, r *http.Request) {
		auth := r.Header.Get("Authorization")
		if auth != "Bearer "+s || r.Header.Get("Range") != "" || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("%s got %v", r.URL.Path, r.Header)
		}
		switch r.URL.Path {
		case "/echo/header":
			w.Header().Set("X-Echo", auth)
			w.Header().Set("X-"+s[:13], "1")
		case "/echo/trailer":
			w.Header().Set("Trailer", "X-Echo")
			fmt.Fprint(w, "body")
			w.Header().Set("X-Echo", auth)
		case "/echo/early":
			w.Header().Set("Link", "<"+auth+">")
			w.WriteHeader(http.StatusEarlyHints)
		case "/echo/bytes":
			for i := range s {
				fmt.Fprint(w, s[i:i+1])
				w.(http.Flusher).Flush()
			}
		case "/echo/parts":
			fmt.Fprintf(w, "%s | %s | %s|", s[:10], s[10:20], s[3:])
		case "/echo/base64":
			for i := range 3 {
				fmt.Fprintln(w, base64.StdEncoding.EncodeToString([]byte("xyz"[:i]+s+"!")), base64.URLEncoding.EncodeToString([]byte("xyz"[:i]+s)))
			}
		case "/echo/other":
			fmt.Fprintln(w, url.QueryEscape(s), hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s))))
		case "/echo/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "x")
		}
	})
	pieces := []string{s[:8], s[5:13], s[len(s)-8:], base64.StdEncoding.EncodeToString([]byte(s))[4:14], hex.EncodeToString([]byte(s))[6:16]}
	for _, h2 := range []bool{false, true} {
		c := l.client(h2)
		for _, path := range []string{"header", "trailer", "early", "bytes", "parts", "base64", "other", "gzip"} {
			r, _ := http.NewRequest("GET", "https://api.test/echo/"+path, nil)
			r.Header.Set("Range", "bytes=0-3")
			r.Header.Set("Accept-Encoding", "gzip")
			r.Header.Set("Authorization", "Bearer mine")
			resp, err := c.Do(r)
			if err != nil {
				t.Fatal(path, err)
			}
			b, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Error(path, err)
			}
			all := fmt.Sprint(resp.Header, resp.Trailer) + string(b)
			for _, p := range pieces {
				if strings.Contains(all, p) {
					t.Errorf("%s: %q is in %s", path, p, all)
				}
			}
			if want := map[string]int{"gzip": 403}[path]; want != 0 && resp.StatusCode != want || want == 0 && resp.StatusCode != 200 {
				t.Errorf("%s: %d %s", path, resp.StatusCode, b)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if strings.Contains(fmt.Sprint(e), s) {
			t.Errorf("event %+v", e)
		}
	}
}
