package subprocess

import (
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// maxLate bounds the output that a context keeps between two runs.
const maxLate = 1 << 20

// A late holds what background threads and children of a context wrote while
// there was no run.
type late struct {
	list    []codeinterp.Output
	size    int
	dropped [2]int64
	shows   int
}

// write takes a chunk of a stream and copies it.
func (l *late) write(kind codeinterp.Kind, b []byte) {
	if room := maxLate - l.size; len(b) > room {
		l.dropped[kind-codeinterp.Stdout] += int64(len(b) - room)
		b = b[:room]
	}
	if len(b) == 0 {
		return
	}
	l.size += len(b)
	if n := len(l.list); n > 0 && l.list[n-1].Kind == kind {
		l.list[n-1].Data = append(l.list[n-1].Data, b...)
		return
	}
	l.list = append(l.list, codeinterp.Output{Kind: kind, Data: append([]byte(nil), b...), Late: true})
}

// add takes a display; clears and updates of what no run shows are dropped.
func (l *late) add(o codeinterp.Output) {
	if o.Kind != codeinterp.Display || o.Update {
		return
	}
	if l.size+o.Size() > maxLate {
		l.shows++
		return
	}
	l.size += o.Size()
	o.Late = true
	l.list = append(l.list, o)
}

// outputs returns what was kept, with a line for what was not.
func (l *late) outputs() []codeinterp.Output {
	for i, n := range l.dropped {
		if n > 0 {
			l.note(fmt.Sprintf("[%d more bytes of late %s were dropped]\n", n, codeinterp.Stdout+codeinterp.Kind(i)))
		}
	}
	if l.shows > 0 {
		l.note(fmt.Sprintf("[%d late displays were dropped]\n", l.shows))
	}
	return l.list
}

func (l *late) note(text string) {
	l.list = append(l.list, codeinterp.Output{Kind: codeinterp.Stderr, Data: []byte(text), Late: true})
}
