package jupyter_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

const secret = "s3cr3t-token"

// dialFake connects to a fake in a bubble and passes the outcome on.
func dialFake(t *testing.T, opts jupyter.Options, setup func(*fakeServer), f func(t *testing.T, s *fakeServer, ci *jupyter.Stateful, err error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		defer s.Close()
		setup(s)
		ci, err := jupyter.NewStateful(t.Context(), fakeOptions(s, opts))
		if err == nil {
			defer ci.Close()
		}
		f(t, s, ci, err)
	})
}

// TestTokens tries the ways to send a token, over REST and sockets.
func TestTokens(t *testing.T) {
	cases := []struct {
		name string
		opts jupyter.Options
		ok   func(r *http.Request) bool
	}{
		{"header", jupyter.Options{Auth: jupyter.Auth{Token: secret}}, func(r *http.Request) bool {
			return r.Header.Get("Authorization") == "token "+secret && !strings.Contains(r.URL.RawQuery, secret)
		}},
		{"from the address", jupyter.Options{URL: "http://fake/base/lab?token=" + secret}, func(r *http.Request) bool {
			return r.Header.Get("Authorization") == "token "+secret && strings.HasPrefix(r.URL.Path, "/base/api/")
		}},
		{"own header", jupyter.Options{Auth: jupyter.Auth{Header: http.Header{"Authorization": {"Bearer " + secret}}}}, func(r *http.Request) bool {
			return r.Header.Get("Authorization") == "Bearer "+secret
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var bad, sockets atomic.Int32
			dialFake(t, c.opts, func(s *fakeServer) {
				if strings.Contains(c.opts.URL, "base") {
					s.Base = "base"
				}
				s.HTTP = func(_ http.ResponseWriter, r *http.Request) bool {
					if !c.ok(r) || r.Header.Get("Origin") != "" {
						bad.Add(1)
					}
					if r.Header.Get("Upgrade") != "" {
						sockets.Add(1)
					}
					return false
				}
			}, func(t *testing.T, s *fakeServer, ci *jupyter.Stateful, err error) {
				if err != nil {
					t.Fatal(err)
				}
				if res, err := ci.RunCode(t.Context(), "python", "x", nil); err != nil || !res.OK() {
					t.Errorf("%+v, %v", res, err)
				}
				if bad.Load() > 0 || sockets.Load() != 1 {
					t.Errorf("%d bad requests, %d sockets", bad.Load(), sockets.Load())
				}
			})
		})
	}
}

// TestStatusCodes maps refusals to sentinels and hints. None shows the token.
func TestStatusCodes(t *testing.T) {
	cases := []struct {
		status  int
		message string
		want    error
		hint    string
	}{
		{403, "'_xsrf' argument missing from POST", codeinterp.ErrUnavailable, "token"},
		{401, "Unauthorized", codeinterp.ErrUnavailable, "token"},
		{403, "Resource Limit", codeinterp.ErrCapacity, "limit on kernels"},
		{429, "slow down", codeinterp.ErrCapacity, "later"},
		{404, "Not Found", codeinterp.ErrUnavailable, ""},
		{424, "not running", codeinterp.ErrUnavailable, "Hub"},
		{500, "Traceback (most recent call last)\n  File \"/srv/x.py\"\nKeyError: 'k'", codeinterp.ErrUnavailable, "KeyError"},
		{501, "no", codeinterp.ErrUnavailable, "kernelspec"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.status, c.message[:2]), func(t *testing.T) {
			dialFake(t, jupyter.Options{Auth: jupyter.Auth{Token: secret}}, func(s *fakeServer) {
				s.HTTP = func(w http.ResponseWriter, r *http.Request) bool {
					if r.Method == http.MethodPost {
						fakeFail(w, c.status, c.message)
					}
					return r.Method == http.MethodPost
				}
			}, func(t *testing.T, s *fakeServer, ci *jupyter.Stateful, err error) {
				if err != nil {
					t.Fatal(err)
				}
				_, err = ci.CreateContext(t.Context(), "python", nil)
				st, ok := errors.AsType[*jupyter.StatusError](err)
				if !errors.Is(err, c.want) || !ok || st.Code != c.status {
					t.Errorf("%v, want %v", err, c.want)
				}
				text := err.Error()
				if !strings.Contains(text, c.hint) || strings.Contains(text, secret) || strings.Contains(text, "/srv") {
					t.Errorf("error %q, want %q in it", text, c.hint)
				}
			})
		})
	}
}

func TestWrongServers(t *testing.T) {
	cases := map[string]struct {
		url  string
		hook func(w http.ResponseWriter, r *http.Request) bool
		want string
	}{
		"wrong base": {"http://fake/other/", nil, "base path"},
		"redirect to the login": {"", func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "/login?next=x", http.StatusFound)
			return true
		}, "login"},
		"redirect elsewhere": {"", func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "https://evil.example/", http.StatusFound)
			return true
		}, "not followed"},
		"not Jupyter": {"", func(w http.ResponseWriter, r *http.Request) bool {
			_, _ = w.Write([]byte("<html>hello</html>"))
			return true
		}, "hello"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dialFake(t, jupyter.Options{URL: c.url, Auth: jupyter.Auth{Token: secret}}, func(s *fakeServer) {
				s.Base, s.HTTP = "base", c.hook
			}, func(t *testing.T, s *fakeServer, ci *jupyter.Stateful, err error) {
				if !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
					t.Errorf("%v, want %q in it", err, c.want)
				}
			})
		})
	}
}

// loginServer plays a server with a password: a login sets a cookie that
// expires after a number of requests, and writes need the _xsrf token back.
func loginServer(password string, expires int32, logins *atomic.Int32) func(w http.ResponseWriter, r *http.Request) bool {
	var left atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) bool {
		xsrf, _ := r.Cookie("_xsrf")
		auth, _ := r.Cookie("auth")
		switch {
		case r.URL.Path == "/login" && r.Method == http.MethodGet:
			http.SetCookie(w, &http.Cookie{Name: "_xsrf", Value: "x1", Path: "/"})
		case r.URL.Path == "/login":
			switch {
			case xsrf == nil || r.FormValue("_xsrf") != xsrf.Value:
				w.WriteHeader(403)
			case r.FormValue("password") != password:
				w.WriteHeader(401)
			default:
				left.Store(expires)
				logins.Add(1)
				http.SetCookie(w, &http.Cookie{Name: "auth", Value: fmt.Sprint(logins.Load()), Path: "/"})
				http.Redirect(w, r, "/", http.StatusFound)
			}
		case auth == nil || left.Add(-1) < 0:
			http.Redirect(w, r, "/login?next=%2Fapi", http.StatusFound)
		case r.Method != http.MethodGet && r.Header.Get("X-Xsrftoken") != "x1":
			fakeFail(w, 403, "'_xsrf' argument missing from POST")
		default:
			return false
		}
		return true
	}
}

func TestPassword(t *testing.T) {
	var logins atomic.Int32
	dialFake(t, jupyter.Options{Auth: jupyter.Auth{Password: "pass"}}, func(s *fakeServer) { s.HTTP = loginServer("pass", 5, &logins) },
		func(t *testing.T, s *fakeServer, ci *jupyter.Stateful, err error) {
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				if res, err := ci.RunCode(t.Context(), "python", "x", nil); err != nil || !res.OK() {
					t.Fatalf("%+v, %v", res, err)
				}
			}
			if n := logins.Load(); n < 3 {
				t.Errorf("%d logins, want the expired ones to be renewed", n)
			}
		})
	dialFake(t, jupyter.Options{Auth: jupyter.Auth{Password: "wrong-pass"}}, func(s *fakeServer) { s.HTTP = loginServer("pass", 5, &logins) },
		func(t *testing.T, s *fakeServer, ci *jupyter.Stateful, err error) {
			if !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "password is wrong") || strings.Contains(err.Error(), "wrong-pass") {
				t.Errorf("%v", err)
			}
		})
}

// TestHub plays a Hub whose user server is not running.
func TestHub(t *testing.T) {
	var started atomic.Int64
	opts := jupyter.Options{URL: "http://fake/user/ada/", Auth: jupyter.Auth{Token: secret, Hub: &jupyter.HubOptions{
		UserOptions: map[string]any{"profile": "small"}}}}
	hook := func(w http.ResponseWriter, r *http.Request) bool {
		ready := started.Load() > 0 && time.Since(time.Unix(0, started.Load())) > 5*time.Second
		switch {
		case r.Header.Get("Authorization") != "token "+secret:
			w.WriteHeader(403)
		case r.URL.Path == "/hub/api/users/ada" && ready:
			fakeJSON(w, 200, map[string]any{"servers": map[string]any{"": map[string]any{"ready": true}}})
		case r.URL.Path == "/hub/api/users/ada":
			fakeJSON(w, 200, map[string]any{"servers": map[string]any{}})
		case r.URL.Path == "/hub/api/users/ada/server" && r.Method == http.MethodPost:
			started.Store(time.Now().UnixNano())
			w.WriteHeader(202)
		case !ready:
			w.WriteHeader(424)
		default:
			return false
		}
		return true
	}
	dialFake(t, opts, func(s *fakeServer) { s.Base, s.HTTP = "user/ada", hook },
		func(t *testing.T, s *fakeServer, ci *jupyter.Stateful, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	started.Store(0)
	opts.Auth.Hub = nil
	dialFake(t, opts, func(s *fakeServer) { s.Base, s.HTTP = "user/ada", hook },
		func(t *testing.T, s *fakeServer, ci *jupyter.Stateful, err error) {
			if err == nil || !strings.Contains(err.Error(), "Options.Hub") {
				t.Errorf("%v", err)
			}
		})
}

// TestTLS wants REST and sockets to trust what the options say, and nothing
// else.
func TestTLS(t *testing.T) {
	cert := httptest.NewTLSServer(nil)
	defer cert.Close()
	pool := x509.NewCertPool()
	pool.AddCert(cert.Certificate())
	server := &tls.Config{Certificates: cert.TLS.Certificates}
	for name, trust := range map[string]*tls.Config{"trusted": {RootCAs: pool, ServerName: "example.com"}, "unknown": nil} {
		t.Run(name, func(t *testing.T) {
			dialFake(t, jupyter.Options{URL: "https://fake", HTTPClient: trusting(trust), StartTimeout: time.Second}, func(s *fakeServer) { s.TLS = server },
				func(t *testing.T, s *fakeServer, ci *jupyter.Stateful, err error) {
					if trust == nil {
						if !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "certificate") {
							t.Errorf("%v", err)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					if res, err := ci.RunCode(t.Context(), "python", "x", nil); err != nil || !res.OK() {
						t.Errorf("%+v, %v", res, err)
					}
				})
		})
	}
}

func TestLanguages(t *testing.T) {
	setup := func(s *fakeServer) {
		s.Specs = map[string]string{"python3": "python", "aaa": "python", "tslab": "typescript", "ir": "R", "conda": "python"}
	}
	dialFake(t, jupyter.Options{Kernels: map[string]string{"ml": "conda"}}, setup,
		func(t *testing.T, s *fakeServer, ci *jupyter.Stateful, err error) {
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(ci.Languages(), " "); got != "ml python python@aaa r typescript" {
				t.Errorf("languages %q", got)
			}
			_, err = ci.RunCode(t.Context(), "cobol", "x", nil)
			if !errors.Is(err, codeinterp.ErrLanguage) || !strings.Contains(err.Error(), "typescript") {
				t.Errorf("%v", err)
			}
			id, err := ci.CreateContext(t.Context(), "py", nil)
			if err != nil || s.Kernels()[0].Spec != "python3" {
				t.Errorf("%v %v", id, err)
			}
			id, err = ci.CreateContext(t.Context(), "Python@AAA", nil)
			if err != nil || len(s.Kernels()) != 2 || s.Kernels()[0].Spec != "aaa" && s.Kernels()[1].Spec != "aaa" {
				t.Errorf("%v %v", id, err)
			}
			info := codeinterp.Describe(ci)
			if i := slices.IndexFunc(info.Languages, func(l codeinterp.LanguageInfo) bool { return l.Name == "python@aaa" }); i < 0 || !info.Languages[i].Contexts {
				t.Errorf("%+v", info.Languages)
			}
			ref, err := attaches(ci).Detach(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if other, err := attaches(ci).Attach(t.Context(), ref); err != nil {
				t.Errorf("%v %v", other, err)
			}
		})
	dialFake(t, jupyter.Options{Kernels: map[string]string{"x": "nope"}}, setup,
		func(t *testing.T, s *fakeServer, ci *jupyter.Stateful, err error) {
			if !errors.Is(err, codeinterp.ErrLanguage) || !strings.Contains(err.Error(), "conda") {
				t.Errorf("%v", err)
			}
		})
}

func TestInvalidOptions(t *testing.T) {
	for name, opts := range map[string]*jupyter.Options{
		"nil": nil, "empty": {}, "no scheme": {URL: "localhost:8888"}, "ftp": {URL: "ftp://x/"},
		"both":     {URL: "http://x", Auth: jupyter.Auth{Token: "a", Password: "b"}},
		"negative": {URL: "http://x", Grace: -1},
	} {
		if _, err := jupyter.New(t.Context(), opts); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
