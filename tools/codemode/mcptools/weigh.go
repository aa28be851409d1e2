package mcptools

import (
	"errors"
	"fmt"
	"io"

	"github.com/toolcell/toolcell/internal/jsontally"
)

var (
	errMembers  = fmt.Errorf("the answer has more than %d members", maxMembers)
	errUnwanted = errors.New("nobody waits for the answer any more")
	errMore     = fmt.Errorf("more than one message of more than %d bytes for one request, or one without a request", maxLight)
)

// maxLight is how large an answer over HTTP may be that waits for no room.
const maxLight = 32 << 10

// A weighedBody is the body of an HTTP server's answer, which fails where it has
// too many members, and, where it is large, waits for room to be decoded before the
// rest of it is read. One message of it may be large: answers to other requests would
// take no room of theirs. (The protocol has them come in other bodies.)
type weighedBody struct {
	io.ReadCloser
	by       *caller // nil where it is no call's
	stream   bool    // of events
	light    bool    // none may be large: no request is answered
	tally    jsontally.Tally
	admitted bool
	large    bool // the message that is being read
}

func (b *weighedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for _, c := range p[:n] {
		if b.tally.Add(c); b.stream && c == '\n' {
			b.tally.Line()
		}
		if b.tally.Members > maxMembers {
			if b.by != nil {
				b.by.refuse(errMembers)
			}
			return 0, errMembers
		}
		if b.tally.Size > maxLight && !b.large {
			if err := b.admit(); err != nil {
				return 0, err
			}
		}
		b.large = b.tally.Size > maxLight
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
	// As much as any answer may take: how much is known only once it is read.
	b.admitted = b.by == nil || b.by.admit(decoded(maxMessage, maxMembers), nil)
	if !b.admitted {
		return errUnwanted
	}
	return nil
}
