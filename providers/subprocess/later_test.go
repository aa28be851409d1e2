//go:build unix

package subprocess_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/providers/subprocess"
)

// namesOfDriver prints which names the driver's first part uses without having them,
// which of these it stands functions in for, and what its second part lacks.
const namesOfDriver = `
import ast, builtins, symtable, sys

def names(source):
    has, uses = set(), set()
    def look(table, outside):
        for s in table.get_symbols():
            if s.is_referenced() and (outside or s.is_global()):
                uses.add(s.get_name())
            if outside and (s.is_assigned() or s.is_imported() or s.is_namespace()):
                has.add(s.get_name())
        for t in table.get_children():
            look(t, False)
    look(symtable.symtable(source, 'driver', 'exec'), True)
    return has, uses - set(dir(builtins))

first, later = sys.stdin.read().split('\n# later\n')
has, uses = names(first)
more, needs = names(later)
listed = next(n.value for n in ast.walk(ast.parse(first)) if isinstance(n, ast.Assign) and getattr(n.targets[0], 'id', '') == 'LATER')
listed = set(listed.func.value.value.split())
print('first has not:', *sorted(uses - has - more - {'later'}))
print('later has not:', *sorted(needs - more - has - {'__builtins__'}))
print('used and not listed:', *sorted(uses & more - has - listed))
print('listed and not used:', *sorted(listed - uses), *sorted(listed - more))
`

// TestDriverInParts: what the driver defines when it is first used is listed where a
// function stands in for it until then. Again, HANDLED, Woken, ends_earlier, run_of and
// tell_late are needed only by what is defined then too, or after it.
func TestDriverInParts(t *testing.T) {
	cmd := exec.Command(python(t).Commands[0], "-I", "-c", namesOfDriver)
	cmd.Stdin = strings.NewReader(subprocess.Python().Driver.Source)
	out, err := cmd.CombinedOutput()
	const want = "first has not:\nlater has not:\nused and not listed: Again HANDLED Woken ends_earlier run_of tell_late\nlisted and not used:\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}
