package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

type fileServer struct {
	Type     string              `json:"type"`
	Command  string              `json:"command"`
	Args     []string            `json:"args"`
	Env      map[string]string   `json:"env"`
	Cwd      string              `json:"cwd"`
	URL      string              `json:"url"`
	Headers  map[string]string   `json:"headers"`
	Disabled bool                `json:"disabled"`
	Tools    map[string]fileRule `json:"tools"`
}

type fileRule struct {
	Use    string `json:"use"`
	Reason string `json:"reason"`
}

var uses = map[string]Rule{"": {}, "code": {}, "direct": {Direct: true, Hidden: true}, "both": {Direct: true}, "none": {Hidden: true}}

// Parse reads the servers of a configuration, sorted by name, from the JSON that
// hosts of the protocol use:
//
//	{"mcpServers": {"github": {"command": "...", "args": [], "env": {}},
//	                "search": {"url": "https://...", "headers": {"Authorization": "Bearer ${TOKEN}"}}}}
//
// "servers" is another name for "mcpServers". ${NAME} and ${NAME:-default} in strings are
// replaced by what lookup returns; an unknown name without a default is an error. A
// "disabled" server is left out, and unknown keys are ignored. "tools" has the [Rule] of
// tools; use is code, direct, both or none:
//
//	"tools": {"delete_repo": {"use": "none", "reason": "it cannot be undone"}, "ask": {"use": "direct"}}
func Parse(config []byte, lookup func(string) (string, bool)) ([]Server, error) {
	var file struct {
		MCPServers map[string]fileServer `json:"mcpServers"`
		Servers    map[string]fileServer `json:"servers"`
	}
	if err := json.Unmarshal(config, &file); err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
	}
	named := file.MCPServers
	if named == nil {
		named = file.Servers
	}
	if len(named) == 0 {
		return nil, fmt.Errorf("%w: no servers; use {\"mcpServers\": {\"name\": {...}}}", codeinterp.ErrInvalid)
	}
	var list []Server
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if named[name].Disabled {
			continue
		}
		s, err := named[name].server(name, lookup)
		if err != nil {
			errs = append(errs, fmt.Errorf("%w: server %.80q: %w", codeinterp.ErrInvalid, name, err))
		}
		list = append(list, s)
	}
	return list, errors.Join(errs...)
}

func (f fileServer) server(name string, lookup func(string) (string, bool)) (Server, error) {
	x := expander{lookup: lookup}
	s := Server{Name: name, Command: x.text(f.Command), Args: make([]string, 0, len(f.Args)), Env: x.values(f.Env),
		Dir: x.text(f.Cwd), URL: x.text(f.URL), Headers: x.values(f.Headers), Rules: map[string]Rule{}}
	for _, a := range f.Args {
		s.Args = append(s.Args, x.text(a))
	}
	switch f.Type {
	case "", "stdio", "http", "streamable-http", "streamableHttp":
	default:
		x.errs = append(x.errs, fmt.Errorf("the type %.40q is not known; use stdio or http", f.Type))
	}
	if (s.Command == "") == (s.URL == "") {
		x.errs = append(x.errs, errors.New("it must have either a command or a url"))
	}
	for _, tool := range slices.Sorted(maps.Keys(f.Tools)) {
		r := f.Tools[tool]
		rule, ok := uses[r.Use]
		if !ok {
			x.errs = append(x.errs, fmt.Errorf("tool %.80q: the use %.40q is not known; use code, direct, both or none", tool, r.Use))
		}
		rule.Reason = r.Reason
		s.Rules[tool] = rule
	}
	return s, errors.Join(x.errs...)
}

// An expander puts values in the place of variables.
type expander struct {
	lookup func(string) (string, bool)
	errs   []error
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`) })

func (x *expander) text(s string) string {
	return variable().ReplaceAllStringFunc(s, func(v string) string {
		m := variable().FindStringSubmatch(v)
		// As in a shell, :- is for variables that are empty, too.
		if value, ok := x.lookup(m[1]); ok && (value != "" || m[2] == "") {
			return value
		}
		if m[2] == "" {
			x.errs = append(x.errs, fmt.Errorf("there is no variable %s", m[1]))
		}
		return strings.TrimPrefix(m[2], ":-")
	})
}

func (x *expander) values(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out[k] = x.text(m[k])
	}
	return out
}

var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)key|token|secret|passw|auth|credential|cookie|dsn|private`)
})

// Credentials returns the values of servers that are likely to be secret, for
// tools/secret: those of variables with names such as TOKEN, and those of headers, with
// and without a scheme such as Bearer.
func Credentials(servers []Server) (values []string) {
	add := func(v string) {
		if len(v) >= 8 {
			values = append(values, v)
		}
	}
	for _, s := range servers {
		for _, k := range slices.Sorted(maps.Keys(s.Env)) {
			if secretName().MatchString(k) {
				add(s.Env[k])
			}
		}
		for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
			add(s.Headers[k])
			if _, token, ok := strings.Cut(s.Headers[k], " "); ok {
				add(token)
			}
		}
	}
	return values
}
