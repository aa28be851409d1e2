package toolcell_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/conformance"
)

// contractRows is the number of rows of the contract's table.
const contractRows = 27

// TestContractRows: each row of the contract is tested by a clause of the conformance
// suite, or by a test elsewhere that names it: "contract row 8".
func TestContractRows(t *testing.T) {
	tested := map[int]bool{}
	for _, c := range conformance.Clauses() {
		tested[c.Row] = true
	}
	names := regexp.MustCompile(`(?i)contract row (\d+)`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && len(path) > 1 && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go") || path == "contract_test.go":
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range names.FindAllStringSubmatch(string(text), -1) {
			row, _ := strconv.Atoi(m[1])
			tested[row] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for row := 1; row <= contractRows; row++ {
		if !tested[row] {
			t.Errorf("no test is for row %d of the contract", row)
		}
	}
}
