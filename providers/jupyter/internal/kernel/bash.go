package kernel

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// bashDialect is for bash_kernel. Its env and cwd are those of the shell, which
// it replaces where the program exits.
var bashDialect = dialect{
	completes: true,
	replaced:  regexp.MustCompile(`(^|\n)Restarting Bash\s*$`).Match,
	start:     bashSurroundings,
	remove:    func(dir string) string { return "cd / && rm -rf -- " + bashTemp(dir) },
	exit: func(e *codeinterp.ProgramError) (int, bool) {
		n, err := strconv.Atoi(e.Message)
		return n, e.Name == "" && err == nil && n != 0
	},
}

func bashSurroundings(s Surroundings) string {
	var b strings.Builder
	switch {
	case s.Dir != "":
		fmt.Fprintf(&b, "mkdir -p -m 700 -- %[1]s && cd -- %[1]s && ", bashTemp(s.Dir))
	case s.Cwd != "":
		fmt.Fprintf(&b, "cd -- %s && ", bashQuote(s.Cwd))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		fmt.Fprintf(&b, "export %s=%s && ", name, bashQuote(s.Env[name]))
	}
	return b.String() + "true"
}

func bashTemp(dir string) string { return `"${TMPDIR:-/tmp}"/` + bashQuote(dir) }

func bashQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
