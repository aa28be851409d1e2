//go:build unix

package subprocess

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
)

// compiled is what Pythons made of the sources of drivers, which is most of what
// asking one takes: a process that opens many interpreters has it made once.
var compiled compilations

// A compilation is of a source, by a Python that is told by its version and the
// format of its code.
type compilation struct{ source, python string }

type compilations struct {
	mu   sync.Mutex
	made map[compilation][][]byte
}

// maxCompilations is how many are kept.
const maxCompilations = 8

// known returns the code that there is for a source, by Python.
func (c *compilations) known(source string) map[string][][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := map[string][][]byte{}
	for of, code := range c.made {
		if of.source == source {
			list[of.python] = code
		}
	}
	return list
}

// take returns the code of a source's parts as the Python printed it. What one printed
// that others have a hand in is for itself alone.
func (c *compilations) take(of compilation, printed string, others bool) ([][]byte, error) {
	list, err := pieces([]byte(printed))
	if err != nil || len(list) != 1+strings.Count(of.source, "\x00") {
		return nil, errors.New("cannot compile the driver")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if others || c.made[of] != nil {
		return list, nil
	}
	if len(c.made) >= maxCompilations || c.made == nil {
		c.made = map[compilation][][]byte{}
	}
	c.made[of] = list
	return list, nil
}

// pieces divides what begins with its length each, which it keeps.
func pieces(b []byte) (list [][]byte, err error) {
	for b = bytes.Clone(b); len(b) > 0; {
		n, ok := length(b)
		if !ok || len(b) < digits+n {
			return nil, errors.New("cut off")
		}
		list, b = append(list, slices.Clip(b[:digits+n])), b[digits+n:]
	}
	return list, nil
}
