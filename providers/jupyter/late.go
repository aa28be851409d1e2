package jupyter

import (
	"github.com/toolcell/toolcell/codeinterp"
)

// lateBytes bounds what is kept of output that came after its run had ended.
const lateBytes = 1 << 20

// late holds such output for the next run.
type late struct {
	events  []event
	bytes   int
	dropped bool
}

func (l *late) add(ev event) {
	ev.late = true
	if l.bytes+ev.size() > lateBytes {
		l.dropped = true
		return
	}
	l.bytes += ev.size()
	l.events = append(l.events, ev)
}

// moveTo puts what is held into the empty queue of a new run.
func (l *late) moveTo(q *queue) {
	for _, ev := range l.events {
		q.put(ev)
	}
	if l.dropped {
		q.put(event{kind: evLateDropped})
	}
	*l = late{}
}

// takeLate keeps output of a run that has ended.
func (k *kernel) takeLate(f *frame) error {
	m := &f.msg
	keep := func(ev event) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.late.add(ev)
	}
	switch m.Header.Type {
	case "stream":
		emit := func(name string, p []byte) { keep(event{kind: evStream, stream: name, data: p}) }
		if f.size >= 0 {
			return streamText(f.body, f.size, maxHeader, emit)
		}
		return wholeText(m.Content, emit)
	case "display_data", "execute_result":
		content, err := f.content(lateBytes)
		if err != nil {
			keep(event{kind: evLateDropped, data: make([]byte, lateBytes)})
			return nil
		}
		m.Content = content
		keep(event{msg: m})
	}
	return nil
}

// lateLost tells that output between the runs was dropped.
var lateLost = codeinterp.Truncation{Stream: "stdout", Bytes: -1, Reason: codeinterp.TruncatedByLimit}
