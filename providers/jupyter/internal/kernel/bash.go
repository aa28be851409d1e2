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
	noStdin:   true,
	start:     bashSurroundings,
	remove:    func(dir string) string { return "cd / && rm -rf -- " + bashTemp(dir) },
	exit: func(e *codeinterp.ProgramError) (int, bool) {
		n, err := strconv.Atoi(e.Message)
		return n, e.Name == "" && err == nil && n != 0
	},
}

// otherBashDialect is for other kernels, such as calysto_bash, whose shells go on
// with a program after the kernel has reported the interrupt. What the
// shell prints to standard error comes as standard output: the other is the
// kernel's own.
var otherBashDialect = dialect{noStdin: true, uninterruptible: true, start: bashDialect.start, remove: bashDialect.remove,
	shellGone: regexp.MustCompile(`^(\x1b\[[0-9;]*m)*End Of File \(EOF\)\. Exception style platform\.`).Match}

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
