package jupyter_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestRepeatedToken: no error repeats a token, though the server does.
func TestRepeatedToken(t *testing.T) {
	for _, opts := range []jupyter.Options{{Token: secret}, {Token: secret, TokenInURL: true}, {Header: http.Header{"X-Proxy": {"Key " + secret}}}} {
		for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
			"page": func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprintf(w, "no entry with %s %s %s", r.Header["Authorization"], r.Header["X-Proxy"], r.URL.RawQuery)
			},
			"echo": func(w http.ResponseWriter, r *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err == nil {
					fmt.Fprintf(conn, "GET %s %s%s HTTP/1.1\r\n\r\n", r.URL, r.Header["Authorization"], r.Header["X-Proxy"])
					conn.Close()
				}
			},
		} {
			t.Run(name, func(t *testing.T) {
				opts.StartTimeout = time.Second
				dialFake(t, opts, func(s *fake.Server) {
					s.HTTP = func(w http.ResponseWriter, r *http.Request) bool { answer(w, r); return true }
				}, func(t *testing.T, _ *fake.Server, _ *jupyter.Stateful, err error) {
					if err == nil || strings.Contains(err.Error(), secret) {
						t.Errorf("%v", err)
					}
				})
			})
		}
	}
}

// TestHostileKernelspecs: languages that would act on a terminal, or fill a tool's
// description, are none.
func TestHostileKernelspecs(t *testing.T) {
	dialFake(t, jupyter.Options{}, func(s *fake.Server) {
		s.Specs = map[string]string{"python3": "python", "a": "\x1b[2J", "\u202eb": "b", "c": strings.Repeat("c", 1<<20), "ir": "R"}
	}, func(t *testing.T, _ *fake.Server, ci *jupyter.Stateful, err error) {
		if err != nil || !slices.Equal(ci.Languages(), []string{"python", "r"}) {
			t.Errorf("%v", err)
		}
	})
}
