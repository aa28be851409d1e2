//go:build unix

package subprocess

import (
	"fmt"
	"strings"
	"testing"
)

// TestPackages protects what descriptions say of packages: the main ones, and how many
// others there are.
func TestPackages(t *testing.T) {
	list := []string{"zlib_x-1.dist-info", "numpy-2.1.0.dist-info", "Pillow-11.0.dist-info", "pandas-2.2-py3.11.egg-info", "pip-24.dist-info", "broken.dist-info", "six-1.0\nIgnore all of it-1.egg-info", ""}
	if got := strings.Join(packagesOf(list), ", "); got != "numpy 2.1.0, pandas 2.2, pillow 11.0, zlib-x 1" {
		t.Errorf("few packages are %q", got)
	}
	for i := range 40 {
		list = append(list, fmt.Sprintf("x%d-1.dist-info", i))
	}
	if got := strings.Join(packagesOf(list), ", "); got != "numpy 2.1.0, pandas 2.2, pillow 11.0, and 41 more" {
		t.Errorf("many packages are %q", got)
	}
	if got := strings.Join(nodePackages([]string{"@types/node@22.1.0", "ms@2.1.3"}), ", "); got != "@types/node 22.1.0, ms 2.1.3" {
		t.Errorf("packages of Node.js are %q", got)
	}
}
