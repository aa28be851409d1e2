package egress_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/egress"
)

// A host has one spelling; what two resolvers could read differently is refused.
func TestCanonicalHost(t *testing.T) {
	for in, want := range map[string]string{
		"Index.Test.": "index.test", "[::FFFF:1.2.3.4]": "1.2.3.4", "1.2.3.4": "1.2.3.4", "a_b.x": "a_b.x", "xn--bcher-kva.de": "xn--bcher-kva.de",
		"::1": "::1", "2130706433": "", "127.1": "", "0x7f.1": "", "0177.0.0.1": "", "a..b": "", "": "", ".": "", "fe80::1%eth0": "", "bücher.de": "",
		"a b": "", "a\x00b": "", "a/b": "", "a@b": "", "a:b": "", "1.2.3.4.5": "", "x.0x1": "", "*.x": "", "a\r\nb": "", strings.Repeat("a", 64) + ".x": "",
	} {
		got, err := egress.CanonicalHost(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
}

// Addresses that are not public are refused, in all their forms, unless a rule lists
// them.
func TestReachable(t *testing.T) {
	p := &egress.Policy{Mode: egress.Hosts, Deny: []netip.Prefix{netip.MustParsePrefix("93.184.217.0/24")}}
	for a := range strings.FieldsSeq(`127.0.0.1 127.255.0.1 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.0.1 169.254.169.254 100.100.100.200
		168.63.129.16 224.0.0.1 255.255.255.255 198.18.0.1 192.0.2.1 ::1 :: ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::7f00:1 64:ff9b::7f00:1
		2002:7f00:1:: 2001::1 fe80::1 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1 fec0::1 4000::1 93.184.217.34`) {
		if _, ok := p.Reachable(netip.MustParseAddr(a), nil); ok {
			t.Error(a, "is reachable")
		}
	}
	for _, a := range []string{"93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"} {
		if _, ok := p.Reachable(netip.MustParseAddr(a), nil); !ok {
			t.Error(a, "is not reachable")
		}
	}
	rules := egress.Rules{{Hosts: []string{"db.test", "127.0.0.1"}, Addresses: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}}
	for a, want := range map[string]bool{"10.1.2.3": true, "10.2.2.3": false, "127.0.0.1": true, "127.0.0.2": false} {
		if listed, ok := p.Reachable(netip.MustParseAddr(a), rules); ok != want || listed != want {
			t.Errorf("%s: %v, %v", a, listed, ok)
		}
	}
}

// The rules of a policy decide about host, port, method and path.
func TestForHost(t *testing.T) {
	p := egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{
		{Hosts: []string{"api.test"}, Methods: []string{"GET"}, Paths: []string{"/v1/*", "/me"}},
		{Hosts: []string{"*.files.test", "192.0.2.7"}},
		{Hosts: []string{"db.test"}, Ports: []int{5432}, Raw: true},
	}}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host string
		port int
		ok   bool
	}{
		{"api.test", 443, true}, {"api.test", 80, true}, {"api.test", 8443, false}, {"xapi.test", 443, false}, {"api.test.evil.test", 443, false},
		{"a.files.test", 443, true}, {"a.b.files.test", 443, true}, {"files.test", 443, false}, {"xfiles.test", 443, false},
		{"192.0.2.7", 80, true}, {"192.0.2.8", 80, false}, {"db.test", 5432, true}, {"db.test", 443, false},
	} {
		if _, err := p.ForHost(c.host, c.port); (err == nil) != c.ok {
			t.Errorf("%s:%d: %v", c.host, c.port, err)
		}
	}
	_, err := p.ForHost("evil.test", 443)
	if want := "evil.test:443 is not a host that this program may reach; allowed: api.test, *.files.test, 192.0.2.7, db.test:5432"; err == nil || err.Error() != want {
		t.Errorf("refusal: %v", err)
	}
	rules, _ := p.ForHost("api.test", 443)
	for _, c := range []struct {
		method, path, sent string
		ok                 bool
	}{
		{"GET", "/v1/x", "/v1/x", true}, {"HEAD", "/v1/x/", "/v1/x/", true}, {"GET", "/me", "/me", true}, {"POST", "/v1/x", "/v1/x", false},
		{"GET", "/me/x", "/me/x", false}, {"GET", "/v1", "/v1", false}, {"GET", "/v1/../me", "/v1/../me", false}, {"GET", "/v1//x", "/v1//x", false},
		{"GET", "/v1/./x", "/v1/./x", false}, {"GET", "/v1/../../x", "/v1/%2e%2e/%2e%2e/x", false}, {"GET", "/v1/../x", "/v1/..%2fx", false},
		{"GET", "/v1/..;/x", "/v1/..;/x", false}, {"GET", `/v1/..\x`, `/v1/..\x`, false}, {"GET", "/v1/\x00", "/v1/%00", false}, {"GET", "*", "*", false},
		{"GET", "/v1/%2e%2e/x", "/v1/%252e%252e/x", false}, {"get", "/v1/x", "/v1/x", false},
	} {
		if _, err := rules.ForRequest(c.method, c.path, c.sent); (err == nil) != c.ok {
			t.Errorf("%s %s: %v", c.method, c.sent, err)
		}
	}
}

// A policy is plain data: what JSON says is what is in force, and errors say where.
func TestPolicyJSON(t *testing.T) {
	p := egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"api.test"}, Paths: []string{"/v1/*"}, Credential: true}},
		Deny: []netip.Prefix{netip.MustParsePrefix("93.0.0.0/8")}, Limits: egress.Limits{Bytes: 1 << 20}}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back egress.Policy
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(p, back) {
		t.Errorf("%v: %s", err, b)
	}
	for _, bad := range []egress.Policy{
		{Mode: 9}, {Rules: []egress.Rule{{Hosts: []string{"x.test"}}}}, {Mode: egress.Hosts, Rules: []egress.Rule{{}}},
		{Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"X.test"}}}}, {Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"a.*"}}}},
		{Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"*.10.0.0.1"}}}}, {Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"x.test"}, Ports: []int{0}}}},
		{Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"x.test"}, Methods: []string{"get"}}}},
		{Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"x.test"}, Paths: []string{"/a*/b"}}}},
		{Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"x.test"}, Raw: true, Credential: true}}},
		{Limits: egress.Limits{Connections: -1}},
	} {
		if err := bad.Validate(); !errors.Is(err, egress.ErrPolicy) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"mode":"some"}`), &back); err == nil {
		t.Error("an unknown mode")
	}
}

// The presets allow an index and a repository, and nothing beside them.
func TestPresets(t *testing.T) {
	index, err := egress.PackageIndex("https://index.test/simple/", "files.test")
	if err != nil {
		t.Fatal(err)
	}
	repository, err := egress.GitRepository("https://code.test/owner/project.git", nil)
	if err != nil {
		t.Fatal(err)
	}
	write, _ := egress.GitRepository("https://code.test/owner/mine", &egress.GitOptions{Write: true, Credential: true})
	p := egress.Policy{Mode: egress.Hosts, Rules: append(index, repository, write)}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	for request, ok := range map[string]bool{
		"GET index.test /simple/numpy/": true, "GET index.test /": false, "POST index.test /simple/": false, "GET files.test /a/b.whl": true,
		"GET code.test /owner/project.git/info/refs": true, "POST code.test /owner/project/git-upload-pack": true, "POST code.test /owner/project/git-receive-pack": false,
		"POST code.test /owner/mine.git/git-receive-pack": true, "GET code.test /owner/other/info/refs": false, "GET code.test /owner/project.git": false,
	} {
		f := strings.Fields(request)
		rules, err := p.ForHost(f[1], 443)
		if err == nil {
			_, err = rules.ForRequest(f[0], f[2], f[2])
		}
		if (err == nil) != ok {
			t.Errorf("%s: %v", request, err)
		}
	}
	for _, bad := range []string{"ftp://x.test/", "x.test", "https://u:p@x.test/a", "https://x.test/", "https://10.1/a"} {
		if r, err := egress.GitRepository(bad, nil); !errors.Is(err, egress.ErrPolicy) {
			t.Errorf("%s: %+v, %v", bad, r, err)
		}
	}
}

// What a person writes is a host, a host with a port, or a URL.
func TestParseRule(t *testing.T) {
	for in, want := range map[string]egress.Rule{
		"API.test": {Hosts: []string{"api.test"}}, "api.test:8443": {Hosts: []string{"api.test"}, Ports: []int{8443}},
		"*.test": {Hosts: []string{"*.test"}}, "127.0.0.1:80": {Hosts: []string{"127.0.0.1"}, Ports: []int{80}}, "[::1]:80": {Hosts: []string{"::1"}, Ports: []int{80}},
		"https://api.test/v1/": {Hosts: []string{"api.test"}, Ports: []int{443}, Paths: []string{"/v1/*"}}, "http://api.test:81": {Hosts: []string{"api.test"}, Ports: []int{81}},
		"": {}, "a b": {}, "api.test:": {}, "api.test:0": {}, "api.test:99999": {}, "file:///x": {}, "https://u@api.test/": {}, "2130706433": {},
	} {
		got, err := egress.ParseRule(in)
		if !reflect.DeepEqual(got, want) || (err == nil) != (want.Hosts != nil) {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
}
