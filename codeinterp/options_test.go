package codeinterp_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func TestCheckRun(t *testing.T) {
	for _, tt := range []struct {
		name string
		code string
		opts *codeinterp.RunOptions
		ok   bool
	}{
		{"nil options", "1", nil, true},
		{"zero options", "", &codeinterp.RunOptions{}, true},
		{"everything", "1", &codeinterp.RunOptions{Timeout: time.Hour, MaxOutput: -1, Env: map[string]string{"A": "b=c"}}, true},
		{"largest code", strings.Repeat("x", codeinterp.MaxCode), nil, true},
		{"too large", strings.Repeat("x", codeinterp.MaxCode+1), nil, false},
		{"NUL in code", "a\x00b", nil, false},
		{"invalid UTF-8", "a\xffb", nil, false},
		{"negative timeout", "", &codeinterp.RunOptions{Timeout: -1}, false},
		{"endless timeout", "", &codeinterp.RunOptions{Timeout: codeinterp.MaxTimeout + 1}, false},
		{"negative MaxOutput", "", &codeinterp.RunOptions{MaxOutput: -2}, false},
		{"empty name", "", &codeinterp.RunOptions{Env: map[string]string{"": "x"}}, false},
		{"= in name", "", &codeinterp.RunOptions{Env: map[string]string{"A=B": "x"}}, false},
		{"hosts", "", &codeinterp.RunOptions{Network: &codeinterp.NetworkLimit{Hosts: []string{"a.test", "*.b.test", "::1"}}}, true},
		{"a host with a port", "", &codeinterp.RunOptions{Network: &codeinterp.NetworkLimit{Hosts: []string{"a.test:80"}}}, false},
		{"NUL in value", "", &codeinterp.RunOptions{Env: map[string]string{"A": "\x00"}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := codeinterp.CheckRun(tt.code, tt.opts)
			if tt.ok && err != nil || !tt.ok && !errors.Is(err, codeinterp.ErrInvalid) {
				t.Fatalf("err = %v", err)
			}
			if tt.ok && o.MaxOutput == 0 {
				t.Error("MaxOutput was not filled in")
			}
		})
	}
}

func TestChecksCopy(t *testing.T) {
	env := map[string]string{"A": "1"}
	run, _ := codeinterp.CheckRun("", &codeinterp.RunOptions{Env: env})
	c, _ := codeinterp.CheckContext(&codeinterp.ContextOptions{Env: env})
	env["A"] = "2"
	if run.Env["A"] != "1" || c.Env["A"] != "1" {
		t.Error("the caller's map is shared")
	}
}

func TestCheckContext(t *testing.T) {
	if _, err := codeinterp.CheckContext(nil); err != nil {
		t.Error(err)
	}
	for _, o := range []codeinterp.ContextOptions{{Cwd: "a\x00"}, {Env: map[string]string{"=": ""}}} {
		if _, err := codeinterp.CheckContext(&o); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%+v: err = %v", o, err)
		}
	}
}

func TestResolveLanguage(t *testing.T) {
	all := []string{"bash", "javascript", "python", "typescript"}
	for _, tt := range []struct {
		name      string
		languages []string
		want      string
	}{
		{"python", all, "python"},
		{" Python\n", all, "python"},
		{"py", all, "python"},
		{"JS", all, "javascript"},
		{"ts", all, "typescript"},
		{"sh", all, "bash"},
		{"R", []string{"R"}, "R"},
		{"sh", []string{"sh"}, "sh"},
		{"ts", []string{"javascript"}, ""},
		{"cobol", all, ""},
		{"", all, ""},
		{"python; rm -rf /", all, ""},
	} {
		got, err := codeinterp.ResolveLanguage(tt.name, tt.languages)
		if got != tt.want || (tt.want == "") != errors.Is(err, codeinterp.ErrLanguage) {
			t.Errorf("%q in %v: %q, %v; want %q", tt.name, tt.languages, got, err, tt.want)
		}
	}
	_, err := codeinterp.ResolveLanguage(strings.Repeat("é", 1000), all)
	if len(err.Error()) > 200 || !strings.Contains(err.Error(), "bash, javascript") {
		t.Errorf("unhelpful message: %v", err)
	}
}
