package driver

import (
	"slices"

	"github.com/toolcell/toolcell/codeinterp"
)

const (
	// maxEntries bounds the overhead of output that comes in tiny pieces of
	// alternating kinds; together they cost about 8 MiB.
	maxEntries = 1 << 15

	// maxNames bounds what outputs cost beside their bytes: display ids, the
	// names of MIME types, and being there at all, which is eachOutput and
	// eachRepresentation.
	maxNames           = 1 << 20
	eachOutput         = 64
	eachRepresentation = 64

	// joinBelow is the size up to which a chunk grows by appending.
	joinBelow = 32 << 10
)

// A keeper holds the head and the tail of a run's outputs. Everything is kept
// until it exceeds max bytes (-1: no limit), maxEntries or maxNames.
type keeper struct {
	max        int
	head, tail []entry
	one        [1]entry // where head begins: most runs have one output
	first      int      // index of the first live entry of tail
	size       int      // bytes in head and tail
	names      int      // what comes beside these bytes
	frozen     bool     // the head is closed: something went to the tail
	total      [kinds]int64
	dropped    [kinds]int64
	before     [kinds]int64 // dropped before it came here
}

// kinds is the number of kinds that can be kept, plus one for the unused zero.
const kinds = int(codeinterp.Value) + 1

type entry struct {
	codeinterp.Output
	own bool // Data may be appended to
}

func isStream(k codeinterp.Kind) bool { return k == codeinterp.Stdout || k == codeinterp.Stderr }

func (k *keeper) clear() { *k = keeper{max: k.max, before: k.before} }

// weigh returns the size of o in bytes and the overhead of its names and
// representations. A bundle without data has size one, so that its loss is reported.
func weigh(o *codeinterp.Output) (n, names int) {
	n = o.Size()
	if isStream(o.Kind) {
		return n, 0
	}
	names = eachOutput + len(o.DisplayID)
	for i := range o.Bundle {
		names += eachRepresentation + len(o.Bundle[i].MIME)
	}
	return max(n, 1), names
}

func (k *keeper) add(o codeinterp.Output) {
	n, names := weigh(&o)
	k.total[o.Kind] += int64(n)
	if k.max < 0 {
		k.head = put(k.head, o)
		return
	}
	if !k.frozen {
		if o = k.addHead(o); o.Kind == 0 {
			return
		}
		k.frozen = true
		n, names = weigh(&o)
	}
	k.size += n
	k.names += names
	k.tail = put(k.tail, o)
	k.trim()
}

// addHead puts what fits into the head and returns the rest, with Kind 0 if there is
// none.
func (k *keeper) addHead(o codeinterp.Output) codeinterp.Output {
	room := k.max*codeinterp.OutputHeadPercent/100 - k.size
	n, names := weigh(&o)
	full := len(k.head) >= maxEntries*codeinterp.OutputHeadPercent/100 || k.names+names > maxNames*codeinterp.OutputHeadPercent/100
	switch {
	case full:
		return o
	case n <= room:
		k.head = put(k.head, o)
		k.size += n
		k.names += names
		return codeinterp.Output{}
	// Bundles are kept or dropped whole.
	case !isStream(o.Kind) || room <= 0:
		return o
	}
	cut := headCut(o.Data, room)
	rest := o
	// Capped, so that appending to the head does not overwrite the rest.
	o.Data, rest.Data = o.Data[:cut:cut], o.Data[cut:]
	if cut > 0 {
		k.head = put(k.head, o)
		k.size += cut
	}
	return rest
}

// put appends o to list, growing the last entry where both are small pieces
// of one stream.
func put(list []entry, o codeinterp.Output) []entry {
	if len(list) > 0 && isStream(o.Kind) && o.Dropped == 0 {
		last := &list[len(list)-1]
		if last.Kind == o.Kind && last.Late == o.Late && len(last.Data)+len(o.Data) <= joinBelow {
			// OnOutput may keep the old memory, or it is part of a larger chunk.
			if !last.own {
				last.Data = append(make([]byte, 0, 2*(len(last.Data)+len(o.Data))), last.Data...)
				last.own = true
			}
			last.Data = append(last.Data, o.Data...)
			return list
		}
	}
	return append(list, entry{Output: o})
}

// trim drops the oldest of the tail until the limits hold.
func (k *keeper) trim() {
	for k.first < len(k.tail) {
		over := k.size - k.max
		many := len(k.head)+len(k.tail)-k.first > maxEntries || k.names > maxNames
		if over <= 0 && !many {
			break
		}
		e := &k.tail[k.first]
		n, names := weigh(&e.Output)
		if isStream(e.Kind) && n > over && !many {
			n = tailCut(e.Data, over)
			e.Data = e.Data[n:]
		} else {
			// Its Kind is read below.
			*e = entry{Output: codeinterp.Output{Kind: e.Kind}}
			k.first++
		}
		k.size -= n
		k.names -= names
		k.dropped[e.Kind] += int64(n)
	}
	// Compact only when half of the list is dead, so that dropping is cheap.
	if k.first == len(k.tail) || k.first > len(k.tail)/2 && k.first > 64 {
		k.tail = slices.Delete(k.tail, 0, k.first)
		k.first = 0
	}
	// An update can make the head too large.
	for len(k.head) > 0 && (k.size > k.max || k.names > maxNames) {
		k.frozen = true
		e := &k.head[len(k.head)-1]
		n, names := weigh(&e.Output)
		k.size -= n
		k.names -= names
		k.dropped[e.Kind] += int64(n)
		*e = entry{}
		k.head = k.head[:len(k.head)-1]
	}
}

// update replaces the bundles of the displays with o's id. It returns false if there
// are none.
func (k *keeper) update(o codeinterp.Output) bool {
	found := false
	for _, list := range [][]entry{k.head, k.tail[k.first:]} {
		for i := range list {
			e := &list[i]
			if e.Kind != codeinterp.Display || e.DisplayID != o.DisplayID {
				continue
			}
			found = true
			n, names := weigh(&e.Output)
			e.Bundle, e.Metadata = o.Bundle, o.Metadata
			m, more := weigh(&e.Output)
			k.size += m - n
			k.names += more - names
			k.total[o.Kind] += int64(m - n)
		}
	}
	if found && k.max >= 0 {
		k.trim()
	}
	return found
}

// outputs returns what was kept, with the chunks of each stream joined and the
// gap marked.
func (k *keeper) outputs() []codeinterp.Output {
	// Capped, so that the tail is appended to a copy.
	all := append(k.head[:len(k.head):len(k.head)], k.tail[k.first:]...)
	gap := k.dropped
	for i := len(k.head); i < len(all); i++ {
		// the first of each kind after the gap says how much is missing before it.
		if e := &all[i]; gap[e.Kind] > 0 {
			e.Dropped, gap[e.Kind] = gap[e.Kind], 0
		}
	}
	var list []codeinterp.Output
	for len(all) > 0 {
		n := joinable(all)
		list = append(list, join(all[:n]))
		all = all[n:]
	}
	return list
}

// joinable returns how many entries at the head of list make one output.
func joinable(list []entry) int {
	n := 1
	for isStream(list[0].Kind) && n < len(list) &&
		list[n].Kind == list[0].Kind && list[n].Late == list[0].Late && list[n].Dropped == 0 {
		n++
	}
	return n
}

// join returns one output for the chunks of a stream.
func join(list []entry) codeinterp.Output {
	o := list[0].Output
	if !isStream(o.Kind) {
		return o
	}
	size := 0
	for i := range list {
		size += len(list[i].Data)
	}
	o.Data = make([]byte, 0, size)
	for i := range list {
		o.Data = append(o.Data, list[i].Data...)
	}
	return o
}

func (k *keeper) truncated() []codeinterp.Truncation {
	var list []codeinterp.Truncation
	for kind, n := range k.dropped {
		if before := k.before[kind]; plus(n, before) > 0 {
			list = append(list, codeinterp.Truncation{
				Stream: codeinterp.Kind(kind).String(),
				Bytes:  plus(k.total[kind], before),
				Kept:   k.total[kind] - n,
				Reason: codeinterp.TruncatedByLimit,
			})
		}
	}
	return list
}

// lacking adds what is kept of streams whose loss is of unknown size.
func (k *keeper) lacking(list []codeinterp.Truncation) []codeinterp.Truncation {
	for i, t := range list {
		if kind := kindOf(t.Stream); kind > 0 && t.Bytes < 0 {
			list[i].Kept = k.total[kind] - k.dropped[kind]
		}
	}
	return list
}
