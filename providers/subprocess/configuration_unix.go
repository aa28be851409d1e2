//go:build unix

package subprocess

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A configuration is what uv, pip and npm are configured by on this host: variables,
// and files in the home, of which clients in a sandbox get copies.
type configuration struct {
	env      map[string]string
	files    map[string][]byte // by their names in the clients' home
	moved    map[string]string // variables that name one of them
	readable []string          // what the configuration names
}

var (
	// clientVariables are those that the clients read, and what is theirs in them.
	clientVariables = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^((PIP|UV)_.*|(?i:npm_config_.*|(https?|all|no)_proxy)|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS|LANG|LC_ALL)$`)
	})

	// namesFiles are the settings whose values are paths to be read.
	namesFiles = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(cert|ca_bundle|cafile|keyfile|find[-_]links|index|constraint|url)`)
	})

	// paths are in such values, also as addresses.
	paths = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[\s"'=,\[]|file://)(/[^\s"',\]]+)`) })

	// expansions are variables that npm puts into its settings.
	expansions = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{(\w+)[?]?\}`) })
)

// maxConfiguration is more than a file of settings has.
const maxConfiguration = 1 << 20

// globalConfiguration is what all users have.
var globalConfiguration = []string{
	"/etc/pip.conf", "/etc/xdg/pip/pip.conf", "/etc/uv/uv.toml", "/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc",
	"/etc/os-release", "/etc/lsb-release", "/etc/debian_version", // pip says what it runs on
}

func newConfiguration() *configuration {
	c := &configuration{env: map[string]string{}, files: map[string][]byte{}, moved: map[string]string{}}
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if clientVariables().MatchString(name) {
			c.env[name] = value
			c.look(name, value)
		}
	}
	for _, file := range globalConfiguration {
		if text, err := os.ReadFile(file); err == nil {
			c.readable = append(c.readable, file)
			c.read(text)
		}
	}
	home, _ := os.UserHomeDir()
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	c.take(filepath.Join(config, "pip", "pip.conf"), ".config/pip/pip.conf")
	c.take(filepath.Join(home, ".pip", "pip.conf"), ".pip/pip.conf")
	c.take(filepath.Join(config, "uv", "uv.toml"), ".config/uv/uv.toml")
	c.take(filepath.Join(home, ".npmrc"), ".npmrc")
	for _, name := range []string{"PIP_CONFIG_FILE", "UV_CONFIG_FILE", "npm_config_userconfig", "NPM_CONFIG_USERCONFIG"} {
		// With the null device users say that there is to be no configuration.
		if file := c.env[name]; file != "" && file != os.DevNull && c.take(file, name) {
			c.moved[name] = name
		}
	}
	return c
}

// take copies a file, where there is one.
func (c *configuration) take(file, as string) bool {
	about, err := os.Stat(file)
	if err != nil || !about.Mode().IsRegular() || about.Size() > maxConfiguration {
		return false
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	c.files[as] = text
	c.read(text)
	return true
}

// read notes what the settings of a file need.
func (c *configuration) read(text []byte) {
	key := ""
	for line := range strings.Lines(string(text)) {
		// A line without a sign goes on with the setting before, as lists in pip.conf
		// do.
		value := line
		if before, after, ok := strings.Cut(line, "="); ok {
			key, value = before, after
		}
		c.look(key, value)
		for _, name := range expansions().FindAllStringSubmatch(line, -1) {
			if v, ok := os.LookupEnv(name[1]); ok {
				c.env[name[1]] = v
			}
		}
	}
}

// look notes the files that a setting names, but no home and nothing that holds one.
func (c *configuration) look(key, value string) {
	if !namesFiles().MatchString(key) {
		return
	}
	homes := newRootFinder().homes
	for _, m := range paths().FindAllStringSubmatch(value, -1) {
		path := filepath.Clean(m[1])
		real, err := filepath.EvalSymlinks(path)
		if err == nil && !slices.ContainsFunc(homes, func(home string) bool { return within(home, real) }) {
			c.readable = append(c.readable, path, real)
		}
	}
}

// copyTo writes the files into a home.
func (c *configuration) copyTo(home string) (err error) {
	for name, text := range c.files {
		file := filepath.Join(home, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600))
	}
	return err
}
