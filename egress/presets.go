package egress

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// ParseRule returns the rule for what a person writes: "HOST", "HOST:PORT", where HOST
// may be "*.NAME" or an address, or a URL, which stands for what is below it.
func ParseRule(s string) (Rule, error) {
	if strings.Contains(s, "://") {
		return below(s)
	}
	r := Rule{Hosts: []string{s}}
	if host, port, err := net.SplitHostPort(s); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return Rule{}, fmt.Errorf("%w: %q has no valid port", ErrPolicy, s)
		}
		r = Rule{Hosts: []string{host}, Ports: []int{int(n)}}
	}
	r.Hosts[0] = strings.ToLower(r.Hosts[0])
	if err := r.validate(); err != nil {
		return Rule{}, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	return r, nil
}

// PackageIndex returns a rule for reading a package index, such as that of pip or npm:
// GET requests below the URL's path. Files are the hosts that the index refers to for
// its files.
func PackageIndex(index string, files ...string) ([]Rule, error) {
	r, err := below(index)
	if err != nil {
		return nil, err
	}
	r.Methods = []string{"GET"}
	if len(files) == 0 {
		return []Rule{r}, nil
	}
	return []Rule{r, {Hosts: files, Methods: r.Methods}}, nil
}

// GitOptions tunes [GitRepository].
type GitOptions struct {
	Write      bool // push too
	Credential bool // Secrets has a credential for the host
}

// GitRepository returns the rule for one repository of a code host over https, by the
// paths of git's smart protocol (gitprotocol-http): clone, fetch and pull.
func GitRepository(repository string, opts *GitOptions) (Rule, error) {
	var o GitOptions
	if opts != nil {
		o = *opts
	}
	r, err := below(strings.TrimSuffix(strings.TrimSuffix(repository, "/"), ".git"))
	if err != nil {
		return Rule{}, err
	}
	if r.Paths == nil {
		return Rule{}, fmt.Errorf("%w: %q names no repository", ErrPolicy, repository)
	}
	base := strings.TrimSuffix(r.Paths[0], "/*")
	r.Methods, r.Paths, r.Credential = []string{"GET", "POST"}, nil, o.Credential
	for _, b := range []string{base, base + ".git"} {
		r.Paths = append(r.Paths, b+"/info/refs", b+"/git-upload-pack")
		if o.Write {
			r.Paths = append(r.Paths, b+"/git-receive-pack")
		}
	}
	return r, nil
}

// below returns the rule for what is below a URL.
func below(s string) (Rule, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" {
		return Rule{}, fmt.Errorf("%w: %q is not an http or https URL", ErrPolicy, s)
	}
	host, err := CanonicalHost(u.Hostname())
	if err != nil {
		return Rule{}, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	r := Rule{Hosts: []string{host}, Paths: []string{strings.TrimSuffix(u.Path, "/") + "/*"}}
	if u.Path == "" || u.Path == "/" {
		r.Paths = nil
	}
	port, err := strconv.Atoi(cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
	if err != nil {
		return Rule{}, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	r.Ports = []int{port}
	return r, nil
}
