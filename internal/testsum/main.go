// Command testsum says at the end of make test what was skipped and why, what
// passed at a second try only, and what failed. Its arguments are files of what
// go test -json says, one for each pass. What one pass skips and another tries is
// not skipped.
package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	all := &passes{tests: map[name]*test{}}
	for _, path := range os.Args[1:] {
		if err := readFile(all, path); err != nil {
			fmt.Fprintln(os.Stderr, "testsum:", err)
			os.Exit(1)
		}
	}
	text, failed := all.report()
	fmt.Print(text)
	if failed {
		os.Exit(1)
	}
}

func readFile(all *passes, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := all.read(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

const module = "github.com/toolcell/toolcell/"

// short is a package without the module's name.
func short(pkg string) string { return strings.TrimPrefix(pkg, module) }
