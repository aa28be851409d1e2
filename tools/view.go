package tools

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/scrub"
	"github.com/toolcell/toolcell/internal/shorten"
)

// A class is a kind of text with a guaranteed share of the cap.
type class int

const (
	stdout class = iota
	stderr
	bundles
	failure
	classes
)

var newline = []byte("\n")

// A view is what a model sees of a Result: cleaned, and cut with the loss counted.
// Text and JSON are both made from it.
type view struct {
	res    *codeinterp.Result
	pieces []piece
	errs   piece          // the program's error; empty if there is none
	gone   [classes]int64 // frames of progress bars that were overwritten
	total  [classes]int   // what there is, headings included
	size   [classes]int   // what there is of text
	kept   [classes]int   // what is shown of it
	arena  []byte

	secrets *scrub.Set
}

// A piece is what is shown of one Output.
type piece struct {
	out   *codeinterp.Output
	class class
	mime  string // of a bundle: what the text shows
	head  []byte
	tail  []byte
	lost  loss // left out between head and tail
	prior loss // left out before head
	after loss // left out at the end of the class
	image int  // number of the image in the answer, from 1; 0: none
	note  string
}

// A loss counts what was left out. Lines are -1 if that is not known.
type loss struct{ bytes, lines int64 }

func (l *loss) add(bytes, lines int64) {
	l.bytes += bytes
	if lines < 0 || l.lines < 0 {
		l.lines = -1
		return
	}
	l.lines += lines
}

// newView cuts res to max bytes of text. shown has the image number of each output and
// a note on it.
func newView(res *codeinterp.Result, shown []shownImage, max int, secrets *scrub.Set) *view {
	v := &view{res: res, secrets: secrets}
	var errText []byte
	if res.Error != nil {
		errText = []byte(errorText(res.Error, lastStderr(res)))
	}
	for i := range res.Outputs {
		c, raw, mime := source(&res.Outputs[i])
		// Two passes, so that memory holds only what is kept.
		size, gone := v.measure(raw)
		v.gone[c] += gone
		v.size[c] += size
		v.total[c] += size + overhead(&res.Outputs[i], mime)
	}
	n, _ := v.measure(errText)
	v.total[failure], v.size[failure] = n, n
	v.arena = make([]byte, 0, min(max, v.total[stdout]+v.total[stderr]+v.total[bundles]+n))
	v.pieces = make([]piece, 0, min(len(res.Outputs), 8))
	cuts := newCutter(v, share(v.total, max))
	for i := range res.Outputs {
		o := &res.Outputs[i]
		p := piece{out: o}
		if i < len(shown) {
			p.image, p.note = shown[i].number, shown[i].note
		}
		var raw []byte
		p.class, raw, p.mime = source(o)
		if o.Dropped > 0 {
			cuts.pending[p.class].add(o.Dropped, -1)
		}
		cuts.take(&p, raw, overhead(o, p.mime))
		if o.Kind == codeinterp.Value && p.note == "" && p.image == 0 && len(raw) == 0 {
			p.note = emptyValue(o)
		}
		if len(p.head)+len(p.tail) > 0 || p.image > 0 || p.note != "" {
			v.pieces = append(v.pieces, p)
		}
	}
	v.errs.class = failure
	cuts.take(&v.errs, errText, 0)
	cuts.finish()
	return v
}

// emptyValue returns the text for a value whose text is empty, such as that of a
// string.
func emptyValue(o *codeinterp.Output) string {
	if n := len(o.Value); n > 0 && n <= 80 && utf8.Valid(o.Value) {
		return plaintext.Line(string(o.Value))
	}
	return "[a value without a text]"
}

// clean passes the clean text of raw to emit, without secrets that only cleaning puts
// together, such as one with a color in its middle. It returns how many bytes of frames
// were overwritten.
func (v *view) clean(raw []byte, emit func([]byte)) int64 {
	if len(raw) == 0 {
		return 0
	}
	text := v.secrets.Text()
	c := plaintext.Cleaner{Emit: func(p []byte) { emit(text.Next(p)) }}
	c.Clean(raw)
	emit(text.End())
	return c.Overwritten
}

// measure returns the size of the clean text of raw, and of frames that were overwritten.
func (v *view) measure(raw []byte) (size int, gone int64) {
	gone = v.clean(raw, func(p []byte) { size += len(p) })
	return size, gone
}

// line returns text as it stands in one line.
func (v *view) line(text string) string {
	return shorten.Head(v.secrets.Scrub(plaintext.Line(text)), maxLine)
}

// message returns text with its line breaks.
func (v *view) message(text string) string {
	return shorten.Head(v.secrets.Scrub(plaintext.Clean(text)), maxLine)
}

// overhead is the size of an output's heading.
func overhead(o *codeinterp.Output, mime string) int {
	if o.Size() == 0 {
		return 0
	}
	return len("--- stdout ---\n") + len(mime)
}

// lastStderr returns the end of stderr, where a runtime may have printed the
// traceback.
func lastStderr(res *codeinterp.Result) string {
	for i := len(res.Outputs) - 1; i >= 0; i-- {
		if o := &res.Outputs[i]; o.Kind == codeinterp.Stderr {
			return string(o.Data[max(0, len(o.Data)-16<<10):])
		}
	}
	return ""
}

// source returns the text of an output: a stream's bytes, or the representation of a
// bundle that is most useful to a model, with its type.
func source(o *codeinterp.Output) (c class, raw []byte, mime string) {
	switch o.Kind {
	case codeinterp.Stdout:
		return stdout, o.Data, ""
	case codeinterp.Stderr:
		return stderr, o.Data, ""
	}
	rep := readable(o)
	return bundles, rep.Data, rep.MIME
}

// share divides max among the classes: those that need less than an equal share get
// what they need, the others divide the rest.
func share(need [classes]int, max int) (got [classes]int) {
	if need[stdout]+need[stderr]+need[bundles]+need[failure] <= max {
		return need
	}
	order := []class{stdout, stderr, bundles, failure}
	slices.SortStableFunc(order, func(a, b class) int { return need[a] - need[b] })
	for i, c := range order {
		got[c] = min(need[c], max/(len(order)-i))
		max -= got[c]
	}
	return got
}

// A cutter copies what is kept of each class into the view's arena.
type cutter struct {
	v       *view
	head    [classes]int // bytes from the start of the class that are kept
	tail    [classes]int // where the kept end of the class begins
	at      [classes]int
	pending [classes]loss
}

func newCutter(v *view, budget [classes]int) *cutter {
	c := &cutter{v: v}
	for i, b := range budget {
		if v.total[i] <= b {
			c.head[i] = v.total[i]
			c.tail[i] = v.total[i]
			continue
		}
		c.head[i] = b * codeinterp.OutputHeadPercent / 100
		c.tail[i] = v.total[i] - (b - c.head[i])
	}
	return c
}

// take fills in p's head, tail and losses from raw.
func (c *cutter) take(p *piece, raw []byte, overhead int) {
	k := p.class
	c.at[k] += overhead
	size, lines := c.copy(p, raw)
	c.at[k] += size
	if len(p.head)+len(p.tail) < size {
		p.head = trimHead(p.head)
		p.tail = trimTail(p.tail)
	}
	kept := len(p.head) + len(p.tail)
	c.v.kept[k] += kept
	gone := loss{int64(size - kept), int64(lines - bytes.Count(p.head, newline) - bytes.Count(p.tail, newline))}
	switch {
	case kept == 0:
		c.pending[k].add(gone.bytes, gone.lines)
	case len(p.head) == 0:
		c.pending[k].add(gone.bytes, gone.lines)
		p.prior, c.pending[k] = c.pending[k], loss{}
	case len(p.tail) == 0:
		p.prior, c.pending[k] = c.pending[k], gone
	default:
		p.prior, c.pending[k] = c.pending[k], loss{}
		p.lost = gone
	}
}

// copy puts what is kept of raw into the arena. It returns the size and the newlines
// of all of the clean text.
func (c *cutter) copy(p *piece, raw []byte) (size, lines int) {
	head, tail, start := c.head[p.class], c.tail[p.class], c.at[p.class]
	a := c.v.arena
	headAt, tailAt := len(a), -1
	c.v.clean(raw, func(b []byte) {
		at := start + size
		size += len(b)
		lines += bytes.Count(b, newline)
		if n := min(head-at, len(b)); n > 0 {
			a = append(a, b[:n]...)
			b, at = b[n:], at+n
		}
		if skip := max(tail-at, 0); skip < len(b) {
			if tailAt < 0 {
				tailAt = len(a)
			}
			a = append(a, b[skip:]...)
		}
	})
	if tailAt < 0 {
		tailAt = len(a)
	}
	p.head, p.tail = a[headAt:tailAt:tailAt], a[tailAt:len(a):len(a)]
	c.v.arena = a
	return size, lines
}

// finish adds what was left out at the end of a class to its last piece.
func (c *cutter) finish() {
	for i := len(c.v.pieces) - 1; i >= 0; i-- {
		p := &c.v.pieces[i]
		if len(p.head)+len(p.tail) > 0 {
			p.after, c.pending[p.class] = c.pending[p.class], loss{}
		}
	}
	c.v.errs.after = c.pending[failure]
}

// trimHead cuts p back to the end of a line if one is near, else to the end of a rune.
func trimHead(p []byte) []byte {
	if i := bytes.LastIndexByte(p, '\n') + 1; i > 0 && len(p)-i <= nearBy(p) {
		return p[:i]
	}
	for range min(utf8.UTFMax-1, len(p)) {
		if utf8.Valid(p) {
			break
		}
		p = p[:len(p)-1]
	}
	return p
}

// trimTail cuts p forward to the start of a line if one is near, else to the start of
// a rune.
func trimTail(p []byte) []byte {
	if i := bytes.IndexByte(p, '\n') + 1; i > 0 && i <= nearBy(p) {
		return p[i:]
	}
	for len(p) > 0 && !utf8.RuneStart(p[0]) {
		p = p[1:]
	}
	return p
}

// nearBy is how many bytes are given up for a cut between lines.
func nearBy(p []byte) int { return max(len(p)/4, 80) }

// cut reports whether something of the Result was left out here.
func (v *view) cut() bool { return v.kept != v.size || v.gone != [classes]int64{} }
