package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
)

// networkFlags say what programs may reach of the network.
type networkFlags struct {
	mode    egress.Mode
	given   bool // mode
	allow   []string
	secrets []string // HOST=NAME
	policy  string   // a file
	explain bool
	ask     bool

	asker    *asker
	terminal func() (io.ReadWriteCloser, error) // for ask; nil means the process's own
	log      *networkLog                        // nil before options is called, and unless explain is set
}

// A networkLog keeps what programs tried to reach.
type networkLog struct {
	mu     sync.Mutex
	events []egress.Event
}

func (f *networkFlags) register(fs *pflag.FlagSet) {
	group(fs, "Network", "", func() {
		fs.Func("net", "what programs reach: `off` (the default), hosts (those of --allow), open (every public host), or host (this machine's own network, localhost included)", func(v string) error {
			f.given = true
			return f.mode.UnmarshalText([]byte(v))
		})
		fs.Func("allow", "let programs reach a `host`, host:port, *.domain, or what is below a URL; repeatable; implies --net hosts", each(&f.allow))
		fs.Func("secret", "add the credential in an environment variable or a file to requests to a host, outside of the program: `host=NAME`, or user@host=NAME for a password; repeatable", each(&f.secrets))
		fs.StringVar(&f.policy, "policy", "", "read the network policy from this JSON `file`")
		fs.BoolVar(&f.ask, "ask-net", false, "ask at the terminal about hosts that no rule allows; implies --net hosts")
		fs.BoolVar(&f.explain, "explain-net", false, "print what programs tried to reach")
	})
}

// options returns the flags as a policy and its secrets, nil where programs reach nothing.
func (f *networkFlags) options(getenv func(string) string) (*egress.Options, error) {
	o := &egress.Options{Policy: egress.Policy{Mode: f.mode}}
	if err := f.fill(o, getenv); err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
	}
	if o.Policy.Mode == egress.Off {
		return nil, nil
	}
	if f.explain {
		f.log = &networkLog{}
		o.OnEvent = f.log.add
	}
	return o, nil
}

func (f *networkFlags) fill(o *egress.Options, getenv func(string) string) error {
	if f.policy != "" {
		if err := f.read(&o.Policy); err != nil {
			return fmt.Errorf("--policy: %w", err)
		}
	}
	for _, a := range f.allow {
		r, err := egress.ParseRule(a)
		if err != nil {
			return fmt.Errorf("--allow: %w", err)
		}
		o.Policy.Rules = append(o.Policy.Rules, r)
	}
	secrets := egress.Static{}
	for _, s := range f.secrets {
		where, name, _ := strings.Cut(s, "=")
		if err := addSecret(secrets, &o.Policy, where, name, getenv); err != nil {
			return fmt.Errorf("--secret %s: %w", where, err)
		}
		o.Secrets = secrets
	}
	if len(o.Policy.Rules) > 0 && o.Policy.Mode == egress.Off {
		if f.given {
			return errors.New("--net off goes without --allow and --secret")
		}
		o.Policy.Mode = egress.Hosts
	}
	if f.ask {
		if err := f.askAbout(o); err != nil {
			return fmt.Errorf("--ask-net: %w", err)
		}
	}
	return o.Policy.Validate()
}

// read reads the policy file.
func (f *networkFlags) read(p *egress.Policy) error {
	b, err := os.ReadFile(f.policy)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields() // "path" for "paths" would allow all paths
	if err := d.Decode(p); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the object")
	}
	if f.given && f.mode != p.Mode {
		return fmt.Errorf("its mode is %v, and that of --net is %v", p.Mode, f.mode)
	}
	return p.Validate()
}

// addSecret adds the credential of a --secret, and the rule that asks for it.
func addSecret(secrets egress.Static, p *egress.Policy, where, name string, getenv func(string) string) error {
	user, host, basic := strings.Cut(where, "@")
	if !basic {
		host = where
	}
	host, err := egress.CanonicalHost(host)
	if name == "" || err != nil {
		return errors.New("write host=NAME, where host has no port and NAME is an environment variable or a file")
	}
	value := getenv(name)
	if value == "" {
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("neither an environment variable nor a file of this name")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		value = strings.TrimSpace(string(b))
	}
	if len(value) < 8 {
		return fmt.Errorf("%s has less than 8 characters", name)
	}
	secrets[host] = egress.Bearer(name, value)
	if basic {
		secrets[host] = egress.Basic(name, user, value)
	}
	found := false
	for i, r := range p.Rules {
		if len(r.Hosts) == 1 && r.Hosts[0] == host {
			p.Rules[i].Credential, found = true, true
		}
	}
	if !found {
		p.Rules = append(p.Rules, egress.Rule{Hosts: []string{host}, Credential: true})
	}
	return nil
}

func (l *networkLog) add(e egress.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.events) < 10_000 {
		l.events = append(l.events, e)
	}
}

// print writes a line for each connection and request.
func (l *networkLog) print(w io.Writer) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		verdict := "allowed"
		if !e.Allowed {
			verdict = "refused"
		}
		what := strings.TrimSpace(fmt.Sprintf("%s %s:%d %s %s", e.Protocol, e.Host, e.Port, e.Method, e.Path))
		var notes []string
		if e.Credential != "" {
			notes = append(notes, "with "+e.Credential)
		}
		if e.Status != 0 {
			notes = append(notes, fmt.Sprint("status ", e.Status))
		}
		if e.Reason != "" {
			notes = append(notes, e.Reason)
		}
		fmt.Fprintf(w, "net: %s %s (%s) %d B sent, %d B received, %d ms\n", verdict, what, strings.Join(notes, ", "), e.Sent, e.Received, e.Took.Milliseconds())
	}
}
