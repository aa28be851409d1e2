//go:build real && linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolcell/toolcell/internal/leftover"
)

// Packages of --with and --install come by the policy of the command: an index that it
// allows, and neither this machine's servers nor a metadata service. docs/network.md
func TestInstallNetwork(t *testing.T) {
	env, err := filepath.Abs("../../.testenv")
	if err != nil {
		t.Fatal(err)
	}
	mine := wheel(t, "mine", "1.0", "word = 'found'\n")
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		switch r.URL.Path {
		case "/simple/mine/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="/mine-1.0-py3-none-any.whl">mine-1.0-py3-none-any.whl</a>`)
		case "/mine-1.0-py3-none-any.whl":
			_, _ = io.WriteString(w, mine)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	t.Setenv("PATH", filepath.Join(env, "uv/bin")+":"+os.Getenv("PATH"))
	t.Setenv("UV_HTTP_RETRIES", "0")
	t.Setenv("PIP_RETRIES", "0")
	here := strings.TrimPrefix(srv.URL, "http://")
	const metadata = "http://169.254.169.254"
	for _, tt := range []struct {
		index string
		args  []string
		works bool
	}{
		{srv.URL, []string{"--with", "mine", "--allow", here}, true},
		{srv.URL, []string{"--with", "mine", "--allow", "other.test"}, false},
		{srv.URL, []string{"--with", "mine", "--net", "open"}, false},
		{metadata, []string{"--with", "mine", "--net", "open"}, false},
		{srv.URL, []string{"--install", "mine", "--allow", here}, true},
		{srv.URL, []string{"--install", "mine", "--allow", "other.test"}, false},
		{metadata, []string{"--install", "mine", "--net", "open"}, false},
		{srv.URL, []string{"env", "create", "named", "mine", "--allow", here}, true},
		{srv.URL, []string{"env", "create", "named", "mine", "--net", "open"}, false},
		{metadata, []string{"env", "create", "named", "mine", "--net", "open"}, false},
	} {
		hits.Store(0)
		t.Setenv("UV_DEFAULT_INDEX", tt.index+"/simple/")
		t.Setenv("PIP_INDEX_URL", tt.index+"/simple/")
		var out, errs bytes.Buffer
		root := leftover.Dir(t)
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, getenv: func(name string) string {
			if name == "TOOLCELL_ENVIRONMENTS" {
				return root
			}
			return ""
		}}
		args, want := append(tt.args, "--python", filepath.Join(env, "python/bin/python")), "named  mine==1.0\n"
		if args[0] != "env" {
			args, want = append([]string{"run", "--provider", "subprocess", "-e", "import mine; print(mine.word)"}, args...), "found\n"
		}
		code := a.main(t.Context(), args)
		if tt.works != (code == 0 && out.String() == want) || tt.works != (hits.Load() > 0) {
			t.Errorf("%v %s: code %d, %d requests, %s %s", tt.args, tt.index, code, hits.Load(), out.String(), errs.String())
		}
		if !tt.works && !strings.Contains(errs.String()+out.String(), strings.TrimPrefix(tt.index, "http://")) {
			t.Errorf("%v %s: the reason is not in %s %s", tt.args, tt.index, out.String(), errs.String())
		}
	}
}
