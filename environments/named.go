package environments

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// nameForm matches names that are also names of files.
var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// NameFile returns the file below a Root that holds the ID of the environment of a name.
// Environments without a name are found by their ID.
func NameFile(root, name string) (string, error) {
	if !nameForm().MatchString(name) {
		return "", fmt.Errorf("%w: environment name %.80q; use letters, digits, dots, dashes", codeinterp.ErrInvalid, name)
	}
	root, err := Root(root)
	return filepath.Join(root, "names", name), err
}

// OpenNamed opens the environment of a name, which the command toolcell has made.
func OpenNamed(root, name string) (*Environment, error) {
	file, err := NameFile(root, name)
	if err != nil {
		return nil, err
	}
	id, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("there is no environment %q; see toolcell env list, or make it: toolcell env create %s PACKAGE", name, name)
	}
	return Open(root, strings.TrimSpace(string(id)))
}
