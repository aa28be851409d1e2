package mcptools

import (
	"fmt"
	"sync"

	"github.com/toolcell/toolcell/internal/ansi"
)

const (
	// maxStrays and maxStrayBytes are how much a server may put out between two
	// messages that is none.
	maxStrays     = 1000
	maxStrayBytes = 1 << 20
)

var errStrays = fmt.Errorf("the server has put out more than %d lines or %d bytes that are no messages", maxStrays, maxStrayBytes)

// strays are the lines of a server's output that are no messages.
type strays struct {
	mu    sync.Mutex
	count int
	first string
}

func (s *strays) note(text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count++; s.count == 1 {
		s.first = clip(ansi.Plain(string(text[:min(len(text), 400)])), 100)
	}
}

// problem is what is told of them, nil where there are none.
func (s *strays) problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.count {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("it has put out a line that is no message, which was left out: %q", s.first)
	}
	return fmt.Errorf("it has put out %d lines that are no messages, which were left out, the first of them %q", s.count, s.first)
}
