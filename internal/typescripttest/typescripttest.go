// Package typescripttest holds TypeScript sources that are hard on whoever
// parses them: nested, chained, ambiguous or merely long. Tests run each of
// them in a process of its own, for what fails here may end the process.
package typescripttest

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/tier"
)

// A Shape is a source: head, n times open, middle, n times shut, tail. A # in
// open is replaced by the number of the repetition.
type Shape struct {
	Name       string
	head, open string
	n          int
	middle     string
	shut, tail string
}

// Source returns the program.
func (s Shape) Source() string {
	var b strings.Builder
	b.WriteString(s.head)
	if strings.Contains(s.open, "#") {
		for i := range s.n {
			b.WriteString(strings.ReplaceAll(s.open, "#", strconv.Itoa(i)))
		}
	} else {
		b.WriteString(strings.Repeat(s.open, s.n))
	}
	b.WriteString(s.middle)
	b.WriteString(strings.Repeat(s.shut, s.n))
	b.WriteString(s.tail)
	return b.String()
}

// variable tells a test binary which shapes it was started for.
const variable = "TOOLCELL_TEST_TYPESCRIPT_SHAPES"

// Run calls run with each shape, so many of them in one process, which starts
// this test again; setup makes run. A shape fails that ends the process,
// is not done within patience, or says so. Without tag full a
// tenth of the processes is started.
func Run(t *testing.T, together int, patience time.Duration, setup func(t *testing.T) (run func(t *testing.T, source string))) {
	if first := os.Getenv(variable); first != "" {
		from, _ := strconv.Atoi(first)
		run := setup(t)
		for _, s := range Shapes[from:min(from+together, len(Shapes))] {
			t.Run(s.Name, func(t *testing.T) { run(t, s.Source()) })
		}
		return
	}
	step := together
	if !tier.Full {
		step *= 10
	}
	for from := 0; from < len(Shapes); from += step {
		t.Run(Shapes[from].Name, func(t *testing.T) {
			t.Parallel()
			parent, _, _ := strings.Cut(t.Name(), "/")
			cmd := exec.Command(os.Args[0], "-test.run=^"+parent+"$", "-test.v", "-test.timeout="+patience.String())
			cmd.Env = append(os.Environ(), variable+"="+strconv.Itoa(from))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out[max(0, len(out)-4000):])
			}
		})
	}
}
