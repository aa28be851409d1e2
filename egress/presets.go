package egress

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// PackageIndex returns a rule for reading a package index, such as that of pip or npm:
// GET requests below the URL's path. Files are the hosts that the index refers to for
// its files.
func PackageIndex(index string, files ...string) ([]Rule, error) {
	r, err := below(index)
	if err != nil {
		return nil, err
	}
	r.Methods = []string{"GET"}
	rules := []Rule{r}
	if len(files) > 0 {
		rules = append(rules, Rule{Hosts: files, Methods: []string{"GET"}})
	}
	return rules, nil
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
	base := strings.TrimSuffix(r.Paths[0], "/*")
	if base == "" {
		return Rule{}, fmt.Errorf("%w: %q names no repository", ErrPolicy, repository)
	}
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
	switch {
	case u.Port() != "":
		port, err := strconv.Atoi(u.Port())
		if err != nil {
			return Rule{}, fmt.Errorf("%w: %w", ErrPolicy, err)
		}
		r.Ports = []int{port}
	case u.Scheme == "https":
		r.Ports = []int{443}
	default:
		r.Ports = []int{80}
	}
	return r, nil
}
