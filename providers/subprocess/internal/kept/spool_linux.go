package kept

import "github.com/toolcell/toolcell/codeinterp"

// A spool keeps the last output of a run. Outputs have numbers.
type spool struct {
	max     int // bytes
	list    []codeinterp.Output
	first   int                         // the number of the first of list
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

// end returns the number of the next output.
func (s *spool) end() int { return s.first + len(s.list) }

// put keeps o, whose memory is the spool's from then on. What has a number below sent stays
// as it is.
func (s *spool) put(o codeinterp.Output, sent int) {
	s.size += weigh(&o)
	if n := len(s.list) - 1; n >= 0 && s.first+n >= sent && joins(&s.list[n], &o) {
		s.list[n].Data = append(s.list[n].Data, o.Data...)
		s.size -= eachOutput
		return
	}
	o.Data = o.Data[:len(o.Data):len(o.Data)]
	s.list = append(s.list, o)
}

// drop drops the oldest output.
func (s *spool) drop() {
	first := &s.list[0]
	s.size -= weigh(first)
	s.dropped[first.Kind] += int64(max(first.Size(), 1))
	*first = codeinterp.Output{}
	s.list = s.list[1:]
	s.first++
}

// joins reports whether b goes on with a.
func joins(a, b *codeinterp.Output) bool {
	stream := b.Kind == codeinterp.Stdout || b.Kind == codeinterp.Stderr
	return stream && a.Kind == b.Kind && a.Late == b.Late && len(a.Data)+len(b.Data) <= joinBelow
}

// lost returns how much was dropped.
func (s *spool) lost() (by []codeinterp.Truncation) {
	for kind, n := range s.dropped[:codeinterp.Clear] {
		if n > 0 {
			by = append(by, codeinterp.Truncation{Stream: codeinterp.Kind(kind).String(), Bytes: n, Reason: codeinterp.TruncatedByLimit})
		}
	}
	return by
}
