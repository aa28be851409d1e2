//go:build unix

package subprocess

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// installNode makes an environment of Node.js by npm, and returns what it holds.
func (b *builder) installNode(ctx context.Context) (lock string, err error) {
	npm, err := b.lookPath("npm")
	if err != nil {
		return "", fmt.Errorf("%w: there is no npm on PATH", codeinterp.ErrUnavailable)
	}
	global := globalOfNpm(ctx, npm)
	if npm, err = b.enclosure.script(npm); err != nil {
		return "", err
	}
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "package.json"), []byte("{\"private\": true}\n"), 0o644); err != nil {
		return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	if err := b.enclosure.own(b.dir); err != nil {
		return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	// What a package has from a repository or a directory is no package: npm
	// prepares it, with settings of its own.
	add := []string{npm, "install", "--prefix", b.dir, "--ignore-scripts", "--allow-git=none", "--allow-file=none", "--allow-directory=none", "--git=false", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"}
	// --prefix moves npm's idea of its global configuration as well.
	if global = b.enclosure.configured(global, "npmrc-global"); global != "" {
		add = append(add, "--globalconfig="+global)
	}
	packages := append([]string{"--"}, b.packages...)
	what := "installing " + strings.Join(b.packages, ", ")
	if b.exact {
		if _, err := b.run(ctx, what, slices.Concat(add, []string{"--offline"}, packages)); err == nil || ctx.Err() != nil {
			return b.listNode()
		}
	}
	if _, err := b.run(ctx, what, append(add, packages...)); err != nil {
		return "", err
	}
	return b.listNode()
}

// globalOfNpm returns the file that npm has its global configuration from, empty
// where it does not tell.
func globalOfNpm(ctx context.Context, npm string) string {
	cmd := exec.CommandContext(ctx, npm, "config", "get", "globalconfig")
	cmd.Dir, cmd.WaitDelay = "/", time.Second
	out, err := cmd.Output()
	file := strings.TrimSpace(string(out))
	if err != nil || !filepath.IsAbs(file) {
		return ""
	}
	return file
}

// listNode returns what npm says that it has installed.
func (b *builder) listNode() (string, error) {
	var installed struct {
		Packages map[string]struct{ Version string }
	}
	err := b.enclosure.check(b.dir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	text, err := readPlain(b.dir, filepath.Join("node_modules", ".package-lock.json"))
	if err == nil {
		err = json.Unmarshal(text, &installed)
	}
	if err != nil || len(installed.Packages) == 0 {
		return "", fmt.Errorf("%w: nothing was installed", codeinterp.ErrUnavailable)
	}
	var lock []string
	for place, p := range installed.Packages {
		name := path.Base(place)
		if scope := path.Base(path.Dir(place)); strings.HasPrefix(scope, "@") {
			name = scope + "/" + name
		}
		lock = append(lock, name+"@"+p.Version+"\n")
	}
	slices.Sort(lock)
	return strings.Join(lock, ""), nil
}

// main returns what a description names of the packages.
func (e *Environment) main() []string {
	var list []string
	for _, line := range e.Lock[:min(len(e.Lock), maxPackages)] {
		if at := strings.LastIndex(line, "@"); at > 0 {
			list = append(list, line[:at]+" "+line[at+1:])
		}
	}
	return list
}
