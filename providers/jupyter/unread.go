package jupyter

import (
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// maxUnread is how many bytes of output a reference carries.
const maxUnread = 64 << 10

// An unread is text that came before a context was given up, and that nobody has
// seen.
type unread struct {
	Stderr bool   `json:"stderr,omitempty"`
	Text   []byte `json:"text"`
}

func (u unread) output() codeinterp.Output {
	o := codeinterp.Output{Kind: codeinterp.Stdout, Data: u.Text, Late: true}
	if u.Stderr {
		o.Kind = codeinterp.Stderr
	}
	return o
}

// unreadOf returns what a reference carries of late output, and what is to be
// said of the rest. whole tells that the server had nothing more to send.
func unreadOf(late codeinterp.Result, whole bool) (list []unread) {
	room, bytes, displays := maxUnread, 0, 0
	for _, o := range late.Outputs {
		// Displays can be of any size, and a reference is kept as text: they are counted.
		if o.Kind != codeinterp.Stdout && o.Kind != codeinterp.Stderr {
			displays++
			continue
		}
		text := o.Data[:min(len(o.Data), room)]
		room -= len(text)
		bytes += len(o.Data) - len(text)
		if len(text) > 0 {
			list = append(list, unread{o.Kind == codeinterp.Stderr, text})
		}
	}
	if bytes+displays > 0 {
		list = append(list, unread{true, fmt.Appendf(nil, "%d bytes and %d displays that came before the context was handed over are not shown.\n", bytes, displays)})
	}
	if !whole || len(late.Truncated) > 0 {
		list = append(list, unread{true, []byte("Output that came before the context was handed over may be missing.\n")})
	}
	return list
}
