//go:build unix

package environments

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// node installs the packages by npm, and returns what it has installed.
func (i *installer) node(ctx context.Context) ([]string, error) {
	npm, err := i.client("npm")
	if err != nil {
		return nil, fmt.Errorf("%w: there is no npm on PATH", codeinterp.ErrUnavailable)
	}
	if err := i.box.showScript(npm); err != nil {
		return nil, err
	}
	file := filepath.Join(i.env, "package.json")
	if err := os.WriteFile(file, []byte("{\"private\": true}\n"), 0o644); err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	if err := i.box.own(file); err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	// npm would run the scripts of a package from a repository or a directory.
	add := []string{npm, "install", "--prefix", i.env, "--ignore-scripts", "--allow-git=none", "--allow-file=none", "--allow-directory=none", "--git=false", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"}
	packages := append([]string{"--"}, i.Packages...)
	done := false
	if i.Exact { // the cache may have it all
		_, err := i.command(ctx, slices.Concat(add, []string{"--offline"}, packages)...)
		done = err == nil
	}
	if !done {
		if _, err := i.command(ctx, slices.Concat(add, packages)...); err != nil {
			return nil, err
		}
	}
	return listNode(i.env)
}

// listNode returns what npm's own lock lists.
func listNode(dir string) ([]string, error) {
	var installed struct {
		Packages map[string]struct{ Version string }
	}
	text, err := readPlain(dir, filepath.Join("node_modules", ".package-lock.json"))
	if err == nil {
		err = json.Unmarshal(text, &installed)
	}
	if err != nil || len(installed.Packages) == 0 {
		return nil, fmt.Errorf("%w: nothing was installed", codeinterp.ErrUnavailable)
	}
	var list []string
	for place, p := range installed.Packages {
		name := path.Base(place)
		if scope := path.Base(path.Dir(place)); strings.HasPrefix(scope, "@") {
			name = scope + "/" + name
		}
		list = append(list, name+"@"+p.Version)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
