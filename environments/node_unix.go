//go:build unix

package environments

import (
	"context"
	"encoding/json"
	"errors"
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
	if err := i.show(npm); err != nil {
		return nil, err
	}
	file := filepath.Join(i.made, "package.json")
	if err := errors.Join(os.Mkdir(i.made, 0o755), os.WriteFile(file, []byte("{\"private\": true}\n"), 0o644), i.own(i.made)); err != nil {
		return nil, unavailable(err)
	}
	// npm would run the scripts of a package from a repository or a directory.
	add := []string{npm, "install", "--prefix", i.made, "--ignore-scripts", "--allow-git=none", "--allow-file=none", "--allow-directory=none", "--git=false", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"}
	if _, err := i.command(ctx, slices.Concat(add, []string{"--"}, i.Packages)...); err != nil {
		return nil, err
	}
	return listNode(i.made)
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
