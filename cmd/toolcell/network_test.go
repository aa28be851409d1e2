package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/egress"
)

// The flags make a policy, and secrets come from the environment or a file, never from an
// argument.
func TestNetworkFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("file-token-123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	policy := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(policy, []byte(`{"mode": "hosts", "rules": [{"hosts": ["a.test"], "paths": ["/v1/*"]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(t.TempDir(), "wrong.json")
	if err := os.WriteFile(wrong, []byte(`{"mode": "hosts", "rules": [{"hosts": ["a.test"], "path": ["/v1/*"]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"TOKEN": "env-token-123", "SHORT": "x"}[name] }
	for want, f := range map[string]networkFlags{
		"<nil>":                         {},
		"open []":                       {mode: egress.Open},
		"host []":                       {mode: egress.Host},
		"hosts [a.test]":                {allow: []string{"a.test"}},
		"hosts [a.test:81 *.b.test]":    {allow: []string{"a.test:81", "*.b.test"}},
		"hosts [a.test!]":               {allow: []string{"a.test"}, secrets: []string{"a.test=TOKEN"}},
		"hosts [b.test!]":               {secrets: []string{"bot@b.test=" + file}},
		"hosts [a.test c.test]":         {policy: policy, allow: []string{"c.test"}},
		"error: --allow":                {allow: []string{"a b"}},
		"error: write host=NAME":        {secrets: []string{"a.test"}},
		"error: neither an environment": {secrets: []string{"a.test=NOTHING"}},
		"error: less than 8":            {secrets: []string{"a.test=SHORT"}},
		"error: --policy":               {policy: file},
		"error: --net off goes without": {given: true, allow: []string{"a.test"}},
		"error: unknown field":          {policy: wrong},
		"error: its mode is hosts":      {given: true, mode: egress.Open, policy: policy},
		"error: rules need the mode":    {mode: egress.Host, allow: []string{"a.test"}},
	} {
		o, err := f.options(getenv)
		got := fmt.Sprint(nil)
		switch {
		case err != nil:
			got = "error: " + err.Error()
		case o != nil:
			var rules []string
			for _, r := range o.Policy.Rules {
				name := strings.Join((&egress.Policy{Rules: []egress.Rule{r}}).HostNames(1), "")
				if r.Credential {
					name += "!"
				}
				rules = append(rules, name)
			}
			got = fmt.Sprint(o.Policy.Mode, " ", rules)
		}
		if err != nil && strings.HasPrefix(want, "error: ") && strings.Contains(got, want[len("error: "):]) {
			continue
		}
		if got != want {
			t.Errorf("%+v: %s, want %s", f, got, want)
		}
		if strings.Contains(got, "token-123") {
			t.Errorf("the secret is in %s", got)
		}
	}
}

// A terminalOf answers questions, one line each.
type terminalOf struct {
	io.Reader
	asked strings.Builder
}

func (t *terminalOf) Write(b []byte) (int, error) { return t.asked.Write(b) }
func (t *terminalOf) Close() error                { return nil }

// --ask-net asks about hosts that no rule allows: one answer is for one connection, one for
// all of the context, and others refuse.
func TestAskNet(t *testing.T) {
	term := &terminalOf{Reader: strings.NewReader("once\nn\nA\nwhat\n")}
	f := networkFlags{ask: true, terminal: func() (io.ReadWriteCloser, error) { return term, nil }}
	o, err := f.options(os.Getenv)
	if err != nil || o.Policy.Mode != egress.Hosts {
		t.Fatal(o, err)
	}
	var got []egress.Answer
	for range 5 { // the last one finds the end of the input
		got = append(got, o.Approve(t.Context(), egress.Question{Host: "a.test", Port: 443}))
	}
	if fmt.Sprint(got) != fmt.Sprint([]egress.Answer{egress.AllowOnce, egress.Refuse, egress.AllowContext, egress.Refuse, egress.Refuse}) || strings.Count(term.asked.String(), "a.test:443") != 5 {
		t.Errorf("%v %s", got, term.asked.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := o.Approve(ctx, egress.Question{Host: "a.test"}); a != egress.Refuse {
		t.Error(a)
	}
	for want, f := range map[string]networkFlags{"goes without --net off": {given: true}, "asks about no host": {mode: egress.Open}, "no terminal": {terminal: func() (io.ReadWriteCloser, error) { return nil, os.ErrNotExist }}} {
		f.ask = true
		if _, err := f.options(os.Getenv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// --allow lets a program reach a host, and --explain-net prints what it tried.
func TestRunAllow(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello "+r.URL.Path) }))
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	code := fmt.Sprintf("console.log(await (await fetch(%q)).text()); await fetch('http://evil.test/').catch((e) => console.log(e.cause.message))", srv.URL+"/x?secret=1")
	rc, out, errs := toolcell(t.Context(), "", "run", "--allow", host, "--explain-net", "-e", code)
	if rc != 0 || !strings.Contains(out, "hello /x\nevil.test:80 is not a host that this program may reach; allowed: "+host) {
		t.Errorf("%d %s %s", rc, out, errs)
	}
	for _, want := range []string{"net: allowed http " + host + " GET /x (status 200)", "net: refused http evil.test:80 GET / (evil.test:80 is not a host"} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in %s", want, errs)
		}
	}
	if strings.Contains(errs, "secret") {
		t.Errorf("a query is in %s", errs)
	}
	if rc, _, errs := toolcell(t.Context(), "", "run", "--url", "http://127.0.0.1:1/", "--allow", host, "-e", "1"); rc == 0 || !strings.Contains(errs, "operator") {
		t.Errorf("jupyter: %d %s", rc, errs)
	}
}
