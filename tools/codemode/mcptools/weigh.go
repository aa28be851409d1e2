package mcptools

import (
	"errors"
	"fmt"
	"io"
)

var (
	errMembers  = fmt.Errorf("the answer has more than %d members", maxMembers)
	errUnwanted = errors.New("nobody waits for the answer any more")
	errMore     = fmt.Errorf("more than one message of more than %d bytes for one request, or one without a request", maxLight)
)

// maxLight is how large an answer over HTTP may be that waits for no room.
const maxLight = 32 << 10

// A tally counts the members of JSON as it comes.
type tally struct {
	size, members           int
	quoted, escaped, filled bool
}

func (t *tally) add(c byte) {
	t.size++
	switch {
	// JSON has no such bytes in strings, and whatever a stream has around it ends with
	// its line.
	case c == '\n' || c == '\r':
		t.quoted, t.escaped = false, false
		return
	case t.escaped:
		t.escaped = false
	case t.quoted:
		t.quoted, t.escaped = c != '"', c == '\\'
	case c == '"':
		t.quoted = true
	case c == ',' || c == '[' || c == '{':
		t.members++
	}
	t.filled = true
}

// line notes the end of a line of a stream, of which an empty one ends an event.
func (t *tally) line() {
	if !t.filled {
		*t = tally{}
	}
	t.filled = false
}

// A weighedBody is the body of an HTTP server's answer, which fails where it has
// too many members, and, where it is large, waits for room to be decoded before the
// rest of it is read. One message of it may be large: answers to other requests would
// take no room of theirs. (The protocol has them come in other bodies.)
type weighedBody struct {
	io.ReadCloser
	by       *caller // nil where it is no call's
	stream   bool    // of events
	light    bool    // none may be large: no request is answered
	tally    tally
	admitted bool
	large    bool // the message that is being read
}

func (b *weighedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for _, c := range p[:n] {
		if b.tally.add(c); b.stream && c == '\n' {
			b.tally.line()
		}
		if b.tally.members > maxMembers {
			if b.by != nil {
				b.by.refuse(errMembers)
			}
			return 0, errMembers
		}
		if b.tally.size > maxLight && !b.large {
			if err := b.admit(); err != nil {
				return 0, err
			}
		}
		b.large = b.tally.size > maxLight
	}
	return n, err
}

// admit lets one large message in.
func (b *weighedBody) admit() error {
	if b.light || b.admitted {
		if b.by != nil {
			b.by.refuse(errMore)
		}
		return errMore
	}
	b.admitted = b.by == nil || b.by.admit(decoded(maxMessage, maxMembers), nil)
	if !b.admitted {
		return errUnwanted
	}
	return nil
}
