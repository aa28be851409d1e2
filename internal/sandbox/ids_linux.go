package sandbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// newIDs looks for a range of ids that this user namespace maps: above 2^30
// where all are mapped, else the last 5,000 below 65,000.
func newIDs() (*ids, error) {
	n := min(mappedIDs("/proc/self/uid_map"), mappedIDs("/proc/self/gid_map"))
	i := &ids{lo: 0x40000000, hi: 0x7ff00000}
	if n <= i.hi {
		i.lo, i.hi = 60_000, 65_000
	}
	if n < i.hi {
		return nil, fmt.Errorf("%w: the host is root and no unprivileged uid is mapped; run it as another user", codeinterp.ErrIsolation)
	}
	i.next = i.lo + rand.IntN(i.hi-i.lo)
	return i, nil
}

// mappedIDs returns how many ids from 0 on the map file's namespace has.
func mappedIDs(name string) (n int) {
	b, _ := os.ReadFile(name)
	for line := range strings.Lines(string(b)) {
		var inside, outside, count int
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err == nil && inside <= n {
			n = max(n, inside+count)
		}
	}
	return n
}
