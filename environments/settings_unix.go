//go:build unix

package environments

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/internal/interpreter"
)

// A settings is what uv, pip and npm are configured by on this host.
type settings struct {
	env      map[string]string
	files    map[string][]byte // by their names in the installers' home
	readable []string          // the files and directories that the settings name
}

var (
	// variables are those that installers read.
	variables = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^((PIP|UV)_.*|(?i:npm_config_.*|(https?|all|no)_proxy)|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS|LANG|LC_ALL)$`)
	})
	// paths are absolute paths in settings, also as file URLs.
	paths = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[\s"'=,\[]|file://)(/[^\s"',\]]+)`) })
	// indexes are those that pip.conf names.
	indexes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*(extra-)?index-url\s*=\s*(\S+)`) })
	// expansions are variables in npm's settings.
	expansions = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{(\w+)[?]?\}`) })
)

const maxSettings = 1 << 20 // bytes of one file

// readSettings reads the settings of the user and of the system.
func readSettings() *settings {
	s := &settings{env: map[string]string{}, files: map[string][]byte{}}
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); variables().MatchString(name) {
			s.env[name] = value
			s.note(value)
		}
	}
	for _, file := range []string{
		"/etc/pip.conf", "/etc/xdg/pip/pip.conf", "/etc/uv/uv.toml", "/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc",
		"/etc/os-release", "/etc/lsb-release", "/etc/debian_version", // pip reports the system to the index
	} {
		if s.parse(readSmall(file)) {
			s.readable = append(s.readable, file)
		}
	}
	home, _ := os.UserHomeDir()
	config, _ := os.UserConfigDir()
	for as, file := range map[string]string{
		".config/pip/pip.conf": filepath.Join(config, "pip", "pip.conf"), ".pip/pip.conf": filepath.Join(home, ".pip", "pip.conf"),
		".config/uv/uv.toml": filepath.Join(config, "uv", "uv.toml"), ".npmrc": filepath.Join(home, ".npmrc"),
	} {
		if text := readSmall(file); s.parse(text) {
			s.files[as] = text
		}
	}
	for _, name := range []string{"PIP_CONFIG_FILE", "UV_CONFIG_FILE", "npm_config_userconfig", "NPM_CONFIG_USERCONFIG"} {
		if s.env[name] != "" {
			s.parse(readSmall(s.env[name]))
		}
	}
	// uv is configured with the index that only pip has.
	for pip, uv := range map[string]string{"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL": "UV_INDEX", "PIP_FIND_LINKS": "UV_FIND_LINKS", "PIP_CERT": "SSL_CERT_FILE"} {
		if v := s.env[pip]; v != "" && s.env[uv] == "" && s.env["UV_INDEX_URL"] == "" {
			s.env[uv] = v
		}
	}
	return s
}

// readSmall returns the contents of a regular file, nil if it cannot be read.
func readSmall(file string) []byte {
	about, err := os.Stat(file)
	if err != nil || !about.Mode().IsRegular() || about.Size() > maxSettings {
		return nil
	}
	text, _ := os.ReadFile(file)
	return text
}

// parse notes what the settings of a file need, and reports whether there are some.
func (s *settings) parse(text []byte) bool {
	s.note(string(text))
	for _, m := range expansions().FindAllStringSubmatch(string(text), -1) {
		if v, ok := os.LookupEnv(m[1]); ok {
			s.env[m[1]] = v
		}
	}
	for _, m := range indexes().FindAllStringSubmatch(string(text), -1) {
		if name := "PIP_" + strings.ToUpper(strings.Replace(m[1], "-", "_", 1)) + "INDEX_URL"; s.env[name] == "" {
			s.env[name] = m[2]
		}
	}
	return len(text) > 0
}

// note lets installers read the paths in a setting, but no home and nothing that holds
// one.
func (s *settings) note(value string) {
	homes := interpreter.Homes()
	for _, m := range paths().FindAllStringSubmatch(value, -1) {
		path := filepath.Clean(m[1])
		real, err := filepath.EvalSymlinks(path)
		if err == nil && !slices.ContainsFunc(homes, func(home string) bool { return interpreter.Within(home, real) }) {
			s.readable = append(s.readable, path, real)
		}
	}
}

// copyTo writes the files into a home.
func (s *settings) copyTo(home string) (err error) {
	for name, text := range s.files {
		file := filepath.Join(home, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600))
	}
	return err
}
