package kernel

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

const (
	seenIDs  = 1024
	maxAhead = 4096
)

var idSeed = maphash.MakeSeed()

// messageLog remembers the ids of the last messages, which a server may replay, and
// whether any is missing: ipykernel numbers its messages.
type messageLog struct {
	ids  []uint64
	next int

	process string
	low     int // the number below which everything came
	top     int // the highest number that came
	ahead   map[int]struct{}
	lossy   bool // too many numbers are missing, or there are none
}

// before reports whether the message came before, where check is set, and
// remembers it.
func (s *messageLog) before(h *wire.Header, check bool) bool {
	if h.ID == "" {
		return false
	}
	sum := maphash.String(idSeed, h.ID)
	if check && slices.Contains(s.ids, sum) {
		return true
	}
	s.number(h)
	if len(s.ids) < seenIDs {
		s.ids = append(s.ids, sum)
		return false
	}
	s.ids[s.next] = sum
	s.next = (s.next + 1) % seenIDs
	return false
}

// number notes the number at the end of an id like SESSION_PID_N.
func (s *messageLog) number(h *wire.Header) {
	rest, ok := strings.CutPrefix(h.ID, h.Session+"_")
	_, last, two := strings.Cut(rest, "_")
	n, err := strconv.Atoi(last)
	if !ok || !two || err != nil {
		return // the server's own messages have no such ids
	}
	if s.process != h.Session {
		*s = messageLog{ids: s.ids, next: s.next, process: h.Session, low: n, ahead: map[int]struct{}{}}
	}
	s.top = max(s.top, n)
	if n < s.low || s.lossy {
		return
	}
	s.ahead[n] = struct{}{}
	for {
		if _, ok := s.ahead[s.low]; !ok {
			break
		}
		delete(s.ahead, s.low)
		s.low++
	}
	// A kernel, or a program that sends in its name, may skip numbers forever.
	if len(s.ahead) > maxAhead {
		s.lossy, s.ahead = true, nil
	}
}

// begin starts a new account of what is missing: the kernel's answers to
// others have numbers too.
func (s *messageLog) begin() {
	s.low, s.ahead, s.lossy = s.top+1, map[int]struct{}{}, false
}

// whole reports whether it is known that no message since begin is missing.
func (s *messageLog) whole() bool {
	return s.process != "" && !s.lossy && len(s.ahead) == 0
}
