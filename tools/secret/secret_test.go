package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/secret"
)

const password = "s3cr3t/pass+word=\"x\""

func scrubber(t testing.TB, values ...string) *secret.Scrubber {
	t.Helper()
	s, err := secret.New(values...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ExampleNew() {
	secrets, err := secret.New("hunter22")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(secrets.Scrub("password=hunter22, Authorization: Basic bWU6aHVudGVyMjI="))
	// Output:
	// password=[secret], Authorization: Basic bWU6[secret]I=
}

func TestScrub(t *testing.T) {
	s := scrubber(t, password, "abcd", "bcdefg", "aXaaXab")
	quoted, _ := json.Marshal(password)
	for _, tt := range []struct{ in, want string }{
		{"nothing here", "nothing here"},
		{"", ""},
		{password, "[secret]"},
		{"a " + password + " b " + password, "a [secret] b [secret]"},
		{url.QueryEscape(password), "[secret]"},
		{url.PathEscape(password), "[secret]"},
		{string(quoted), `"[secret]"`},
		{"abcd", "[secret]"},
		{"abcdabcd", "[secret][secret]"},
		{"xabcdefgx", "x[secret]x"}, // one overlaps the other
		{"abc abcd bcdef", "abc [secret] bcdef"},
		{"aXaaXaaXab", "aXa[secret]"},
	} {
		if got := s.Scrub(tt.in); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
	for shift := range 4 {
		text := strings.Repeat("u", shift) + ":" + password + "@host"
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			got := s.Scrub("Basic " + enc.EncodeToString([]byte(text)))
			if !strings.Contains(got, "[secret]") {
				t.Errorf("shift %d: got %q", shift, got)
			}
			for i := 0; i+12 < len(password); i++ {
				if part := base64.RawStdEncoding.EncodeToString([]byte(password[i : i+12])); strings.Contains(got, part) {
					t.Errorf("shift %d: %q is in %q", shift, part, got)
				}
			}
		}
	}
	var none *secret.Scrubber
	if none.Scrub("x") != "x" {
		t.Error("no secrets")
	}
}

func TestShortSecret(t *testing.T) {
	if _, err := secret.New("long enough", "abc"); err == nil || strings.Contains(err.Error(), "abc") {
		t.Errorf("got %v", err)
	}
}

// heap returns how much memory is in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestThousandSecrets(t *testing.T) {
	var list []string
	for i := range 1000 {
		list = append(list, fmt.Sprintf("token-%d-%x-%s", i, i*7919, strings.Repeat(string(rune('a'+i%26)), 20)))
	}
	before := heap()
	s := scrubber(t, list...)
	if n := heap() - before; n > 10<<20 {
		t.Errorf("they take %d bytes", n)
	}
	for i, v := range list {
		if got := s.Scrub("<" + v + ">"); got != "<[secret]>" {
			t.Fatalf("secret %d: %s", i, got)
		}
	}
}

func TestAllBytesMayBeInSecrets(t *testing.T) {
	var all strings.Builder
	for i := range 256 {
		all.WriteByte(byte(i))
	}
	s := scrubber(t, all.String())
	if got := s.Scrub("x" + all.String() + "y"); got != "x[secret]y" {
		t.Errorf("got %q", got)
	}
}

// TestResult: nothing that is text keeps a secret, and what was given is not changed.
func TestResult(t *testing.T) {
	s, err := secret.New("sup3rsecret")
	if err != nil {
		t.Fatal(err)
	}
	const text = "key=sup3rsecret"
	given := codeinterp.Result{
		Outputs: []codeinterp.Output{
			{Kind: codeinterp.Stdout, Data: []byte(text)},
			{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{
				{MIME: "text/html", Data: []byte(text)}, {MIME: "application/json", Data: []byte(`{"a":"sup3rsecret"}`)},
				{MIME: "application/sql", Data: []byte(text)}, {MIME: "image/svg+xml", Data: []byte(text)},
			}},
		},
		Error:     &codeinterp.ProgramError{Name: text, Message: text, Traceback: []string{text}},
		Artifacts: []codeinterp.Artifact{{Path: text, MIME: "text/plain", Data: []byte(text), Size: int64(len(text))}, {MIME: "application/x-own", Data: []byte(text)}},
	}
	got := s.Result(given)
	if all := shown(got); strings.Contains(all, "sup3rsecret") || strings.Count(all, "[secret]") != 11 {
		t.Error(all)
	}
	if all := shown(given); strings.Count(all, "sup3rsecret") != 11 {
		t.Errorf("changed: %s", all)
	}
	png := []byte("\x89PNG sup3rsecret \xff")
	if got := s.Result(codeinterp.Result{Artifacts: []codeinterp.Artifact{{Data: png}}}); !bytes.Equal(got.Artifacts[0].Data, png) {
		t.Errorf("%q", got.Artifacts[0].Data)
	}
}

// shown is all text of a Result.
func shown(res codeinterp.Result) string {
	var b strings.Builder
	for _, o := range res.Outputs {
		fmt.Fprintf(&b, "%s\n", o.Data)
		for _, rep := range o.Bundle {
			fmt.Fprintf(&b, "%s\n", rep.Data)
		}
	}
	fmt.Fprintf(&b, "%v\n", *res.Error)
	for _, a := range res.Artifacts {
		fmt.Fprintf(&b, "%s %s\n", a.Path, a.Data)
	}
	return b.String()
}
