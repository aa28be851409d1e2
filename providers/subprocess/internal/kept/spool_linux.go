package kept

import "github.com/toolcell/toolcell/codeinterp"

// A spool keeps the last output of a run.
type spool struct {
	max     int // bytes
	list    []codeinterp.Output
	size    int                         // of list
	dropped [codeinterp.Clear + 1]int64 // bytes by their kind
}

const (
	eachOutput = 256      // bytes that an output costs beside its own
	joinBelow  = 32 << 10 // chunks of a stream grow up to this size
)

func weigh(o *codeinterp.Output) int {
	n := o.Size() + len(o.DisplayID) + eachOutput
	for _, rep := range o.Bundle {
		n += len(rep.MIME)
	}
	return n
}

// add keeps o, whose memory is the spool's from then on.
func (s *spool) add(o codeinterp.Output) {
	if o.Kind == codeinterp.Clear && !o.Wait {
		*s = spool{max: s.max}
	}
	s.size += weigh(&o)
	if n := len(s.list) - 1; n >= 0 && joins(&s.list[n], &o) {
		s.list[n].Data = append(s.list[n].Data, o.Data...)
		s.size -= eachOutput
	} else {
		o.Data = o.Data[:len(o.Data):len(o.Data)]
		s.list = append(s.list, o)
	}
	for s.size > s.max {
		first := &s.list[0]
		s.size -= weigh(first)
		s.dropped[first.Kind] += int64(max(first.Size(), 1))
		*first = codeinterp.Output{}
		s.list = s.list[1:]
	}
}

// joins reports whether b goes on with a.
func joins(a, b *codeinterp.Output) bool {
	stream := b.Kind == codeinterp.Stdout || b.Kind == codeinterp.Stderr
	return stream && a.Kind == b.Kind && a.Late == b.Late && len(a.Data)+len(b.Data) <= joinBelow
}

// missed returns how many bytes were dropped, in all and by their kind.
func (s *spool) missed() (all int64, by []codeinterp.Truncation) {
	for kind, n := range s.dropped[:codeinterp.Clear] {
		if n > 0 {
			all += n
			by = append(by, codeinterp.Truncation{Stream: codeinterp.Kind(kind).String(), Bytes: n, Reason: codeinterp.TruncatedByLimit})
		}
	}
	return all, by
}
