package jupyter

import (
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// maxUnread is how many bytes of output a reference carries.
const maxUnread = 64 << 10

// A lateText is text that no run has shown when its context is detached.
type lateText struct {
	Stderr bool   `json:"stderr,omitempty"`
	Text   []byte `json:"text"`
}

func (u lateText) output() codeinterp.Output {
	o := codeinterp.Output{Kind: codeinterp.Stdout, Data: u.Text, Late: true}
	if u.Stderr {
		o.Kind = codeinterp.Stderr
	}
	return o
}

// unreadOf returns the late output for a reference, and notes about the rest. whole says
// that the server had nothing more to send.
func unreadOf(late codeinterp.Result, whole bool) (list []lateText) {
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
			list = append(list, lateText{o.Kind == codeinterp.Stderr, text})
		}
	}
	if bytes+displays > 0 {
		list = append(list, lateText{true, fmt.Appendf(nil, "%d bytes and %d displays that came before the context was detached are not shown.\n", bytes, displays)})
	}
	if !whole || len(late.Truncated) > 0 {
		list = append(list, lateText{true, []byte("Output that came before the context was detached may be missing.\n")})
	}
	return list
}
