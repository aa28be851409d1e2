// Package template reads from one file what a workspace starts with: interpreters,
// packages, files, environment variables, limits, network and idle times. It is JSON:
//
//	{
//	  "packages": ["pandas"],
//	  "files": {"data.csv": "a,b\n1,2\n", "helper.py": {"from": "helper.py"}},
//	  "limits": {"memory": "1G", "timeout": "30s"},
//	  "network": {"allow": ["api.example.com"]}
//	}
//
// Package workspace/local and the command toolcell start workspaces from it. There are no
// secrets in a template.
package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
)

// A Template is what a workspace starts with. Empty fields leave defaults.
type Template struct {
	Languages []string `json:"languages"` // those to offer, the main one first
	Python    string   `json:"python"`    // the path of an interpreter
	Node      string   `json:"node"`      // the path of an interpreter

	// Environment is the name of one that the command toolcell env create has made, in
	// place of Python and Packages.
	Environment string `json:"environment"`

	Packages []string          `json:"packages"` // such as "pandas", or "npm:lodash" for Node.js
	Files    map[string]File   `json:"files"`    // by their paths; those that are there stay
	Env      map[string]string `json:"env"`
	Limits   Limits            `json:"limits"`
	Network  Network           `json:"network"`
	Idle     Idle              `json:"idle"`
	Git      bool              `json:"git"` // tools for repositories

	dir string // of the file
}

// Limits bound programs.
type Limits struct {
	Memory    Size     `json:"memory"`
	Disk      Size     `json:"disk"`
	Processes int      `json:"processes"`
	Timeout   Duration `json:"timeout"` // of a run that sets none
}

// A Network says what programs reach: hosts, host:port, *.domain, or URLs.
type Network struct {
	Mode  egress.Mode `json:"mode"`
	Allow []string    `json:"allow"`
}

// Policy returns the policy of the network, nil if programs reach nothing.
func (n *Network) Policy() (*egress.Policy, error) {
	p := &egress.Policy{Mode: n.Mode}
	for _, a := range n.Allow {
		r, err := egress.ParseRule(a)
		if err != nil {
			return nil, err
		}
		p.Rules = append(p.Rules, r)
	}
	if len(p.Rules) > 0 && p.Mode == egress.Off {
		p.Mode = egress.Hosts
	}
	if p.Mode == egress.Off {
		return nil, nil
	}
	return p, p.Validate()
}

// Idle says what happens to what is not used.
type Idle struct {
	Pause   Duration `json:"pause"`   // the workspace pauses; the next call resumes it
	Context Duration `json:"context"` // a context is deleted, by servers
}

// A File is a text, or the path of a file relative to the template's.
type File struct{ Text, From string }

// UnmarshalJSON reads a text or {"from": path}.
func (f *File) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &f.Text) == nil {
		return nil
	}
	from := struct {
		From string `json:"from"`
	}{}
	if err := strictly(b, &from); err != nil || from.From == "" {
		return errors.New(`a file is a text or {"from": path}`)
	}
	f.From = from.From
	return nil
}

// A Size is a number of bytes, written as "512M" or "2G", or -1 for no limit.
type Size int64

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(b []byte) error {
	number, unit := strings.TrimRight(strings.ToUpper(string(b)), "IB"), int64(1)
	for i, suffix := range []string{"K", "M", "G", "T"} {
		if n, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = n, int64(1)<<(10*(i+1))
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < -1 || n == 0 || n == -1 && unit > 1 || n > (1<<62)/unit {
		return fmt.Errorf(`%q: use a size such as "512M" or "2G", or "-1"`, b)
	}
	*s = Size(n * unit)
	return nil
}

// A Duration is written as "30s" or "10m".
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil || v <= 0 {
		return fmt.Errorf(`%q: use a duration such as "30s" or "10m"`, b)
	}
	*d = Duration(v)
	return nil
}

// Load reads the template of a name: the file NAME.json in toolcell/templates of
// $XDG_CONFIG_HOME, or of $HOME/.config. A name with a slash or that ends in .json is a
// path. getenv is os.Getenv or stands for it.
func Load(name string, getenv func(string) string) (*Template, error) {
	file := name
	if !strings.ContainsRune(name, '/') && !strings.HasSuffix(name, ".json") {
		dir := getenv("XDG_CONFIG_HOME")
		if dir == "" {
			dir = filepath.Join(getenv("HOME"), ".config")
		}
		file = filepath.Join(dir, "toolcell", "templates", name+".json")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: template %q: %w", codeinterp.ErrInvalid, name, err)
	}
	t, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%w: template %s: %w", codeinterp.ErrInvalid, file, err)
	}
	t.dir = filepath.Dir(file)
	return t, nil
}

// Parse reads a template. A key that is not known is an error.
func Parse(b []byte) (*Template, error) {
	t := &Template{}
	if err := strictly(b, t); err != nil {
		return nil, err
	}
	for name := range t.Files {
		if !fs.ValidPath(name) || name == "." {
			return nil, fmt.Errorf("the file %q: a path is relative, without ..", name)
		}
	}
	if t.Environment != "" && (t.Python != "" || len(t.Packages) > 0) {
		return nil, errors.New("an environment goes without python and packages")
	}
	if _, err := t.Network.Policy(); err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	return t, nil
}

// strictly is json.Unmarshal that takes no other keys, and names the key or line of what
// is wrong.
func strictly(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return nil
		}
		return errors.New("something follows the object")
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(b[:e.Offset], []byte("\n")), err)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s cannot be the JSON %s", e.Field, e.Value)
	}
	return errors.New(strings.Replace(err.Error(), "json: unknown field", "unknown key", 1))
}

// Read returns the content of one of Files.
func (t *Template) Read(name string) ([]byte, error) {
	f := t.Files[name]
	if f.From == "" {
		return []byte(f.Text), nil
	}
	if filepath.IsAbs(f.From) {
		return os.ReadFile(f.From)
	}
	return os.ReadFile(filepath.Join(t.dir, f.From))
}

// ByLanguage separates the packages of Python from those of Node.js, such as npm:lodash.
func ByLanguage(packages []string) (python, node []string) {
	for _, p := range packages {
		if name, ok := strings.CutPrefix(p, "npm:"); ok {
			node = append(node, name)
		} else {
			python = append(python, p)
		}
	}
	return python, node
}
