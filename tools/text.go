package tools

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/lossnote"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/shorten"
)

// readable returns the representation that is most useful to a model as text: plain
// text, unless it only names an object that another representation shows.
func readable(o *codeinterp.Output) codeinterp.Representation {
	if len(o.Bundle) == 0 {
		return codeinterp.Representation{}
	}
	plain, ok := o.Richest("text/markdown", "text/plain", "text/latex")
	if ok && !objectName().Match(plain.Data) {
		return plain
	}
	if _, isPicture := pictureOf(o); !isPicture {
		for _, rep := range o.Bundle {
			if rep.MIME != "text/plain" && (codeinterp.IsText(rep.MIME) || codeinterp.IsJSON(rep.MIME)) {
				return rep
			}
		}
	}
	return plain
}

// objectName matches what Python prints for an object without a text form.
var objectName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^<[\w.]+(?: [^<>]*)?>$`) })

// text renders the view: a line on how the run ended, then each output under a
// heading, in order, then the error.
func (v *view) text(notes []string) string {
	var b strings.Builder
	n := 512 + len(v.arena)
	for i := range v.pieces {
		n += 40 + len(v.pieces[i].note) + len(v.pieces[i].rep.MIME)
	}
	b.Grow(n)
	b.WriteString(v.status())
	b.WriteByte('\n')
	for _, note := range notes {
		b.WriteString(note)
		b.WriteByte('\n')
	}
	last := ""
	for i := range v.pieces {
		p := &v.pieces[i]
		if h := p.heading(); h != last || p.class == bundles {
			b.WriteString(h)
			last = h
		}
		p.write(&b)
	}
	if len(v.errs.head)+len(v.errs.tail) > 0 {
		b.WriteString("--- error ---\n")
		v.errs.write(&b)
	}
	return b.String()
}

// status returns the line on how the run ended.
func (v *view) status() string {
	r := v.res
	s := fmt.Sprintf("%s, exit code %d", r.Status, r.ExitCode)
	if r.Status == codeinterp.StatusOK && r.ExitCode == 0 {
		s = "ok"
	}
	if why := outcomes[r.Status]; why != "" {
		s += ": " + why
	}
	if why := causes[r.Cause]; why != "" {
		s += ": " + why
	}
	if r.StateLost {
		s += "\nThe variables of earlier runs are gone: the context is empty now."
	}
	if len(v.pieces) == 0 && r.Error == nil {
		s += "\n" + noOutput(r)
	}
	return s
}

// noOutput returns the line for a run without output, unless some was lost.
func noOutput(r *codeinterp.Result) string {
	for _, t := range r.Truncated {
		if t.Stream != artifacts {
			return "No output arrived."
		}
	}
	return "There was no output."
}

var outcomes = map[codeinterp.Status]string{
	codeinterp.StatusTimeout:  "stopped because its time was up",
	codeinterp.StatusCanceled: "stopped because the call was canceled",
	codeinterp.StatusLost:     "the process that ran the code is gone",
}

var causes = map[codeinterp.Cause]string{
	codeinterp.CauseMemory:    "out of memory",
	codeinterp.CauseSignal:    "killed by a signal",
	codeinterp.CauseCPU:       "out of CPU time",
	codeinterp.CauseDisk:      "out of disk space",
	codeinterp.CauseProcesses: "too many processes or threads",
	codeinterp.CauseExit:      "the runtime exited",
	codeinterp.CauseInterrupt: "interrupted",
	codeinterp.CauseRestart:   "the context was restarted",
	codeinterp.CauseClosed:    "closed under the run",
	codeinterp.CauseServer:    "the server or the connection to it went away",
}

// heading returns the line that stands above a piece.
func (p *piece) heading() string {
	late := ""
	if p.out.Late {
		late = " (came after the end of an earlier run)"
	}
	switch {
	case p.class != bundles:
		return "--- " + p.out.Kind.String() + late + " ---\n"
	case p.rep.MIME == "" || p.rep.MIME == "text/plain":
		return "--- " + p.out.Kind.String() + late + " ---\n"
	}
	return "--- " + p.out.Kind.String() + " " + plaintext.Line(shorten.Head(p.rep.MIME, 80)) + late + " ---\n"
}

// write writes a piece with its losses marked, ending with a newline.
func (p *piece) write(b *strings.Builder) {
	p.prior.write(b)
	writeBody(b, p.head)
	p.lost.write(b)
	writeBody(b, p.tail)
	p.after.write(b)
	if p.image > 0 {
		fmt.Fprintf(b, "[image %d]\n", p.image)
	}
	if p.note != "" {
		b.WriteString(p.note)
		b.WriteByte('\n')
	}
}

func (l loss) write(b *strings.Builder) {
	if l.bytes > 0 {
		b.WriteString(l.String())
		b.WriteByte('\n')
	}
}

// String returns the marker that stands for the loss.
func (l loss) String() string {
	if l.lines < 1 {
		return fmt.Sprintf("[... %d bytes left out ...]", l.bytes)
	}
	return fmt.Sprintf("[... %d bytes, %d lines left out ...]", l.bytes, l.lines)
}

// writeBody writes a program's text so that none of its lines can be taken for
// a heading or a note of ours: those that look like one get a backslash in front.
func writeBody(b *strings.Builder, p []byte) {
	if len(p) == 0 {
		return
	}
	ended := p[len(p)-1] == '\n'
	for len(p) > 0 {
		n := len(p)
		if i := bytes.IndexAny(p, lineEnds); i >= 0 {
			_, size := utf8.DecodeRune(p[i:])
			n = i + size
		}
		if seen := seen(p[:n]); likeHeading(seen) || likeNote(seen) {
			b.WriteByte('\\')
		}
		b.Write(p[:n])
		p = p[n:]
	}
	if !ended {
		b.WriteByte('\n')
	}
}

// lineEnds are characters that a reader may see as the end of a line.
const lineEnds = "\n\v\f\u0085\u2028\u2029"

// seen returns a line as a reader sees it: without invisible characters, and with
// spaces for characters that look like them.
func seen(line []byte) []byte {
	line = bytes.TrimFunc(line, blank)
	if len(line) == 0 || line[0] != '-' && line[0] != '[' {
		return line
	}
	return bytes.Map(func(r rune) rune {
		switch {
		case !blank(r):
			return r
		case unicode.IsSpace(r) || r == 0x2800:
			return ' '
		}
		return -1
	}, line)
}

// likeHeading reports whether a line, as seen, looks like a heading.
func likeHeading(line []byte) bool {
	line, starts := bytes.CutPrefix(line, dashes)
	line, ends := bytes.CutSuffix(line, dashes)
	first, _ := utf8.DecodeRune(line)
	last, _ := utf8.DecodeLastRune(line)
	return starts && ends && blank(first) && blank(last)
}

var dashes = []byte("---")

// noteLike matches the notes of an answer; see image, note and loss.
var noteLike = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\[((?i:image)[\s\pZ]*\p{Nd}+|\.\.\. .* \.\.\.|further displays .*|[^\s\[\],]+/[^\s,]+, \d+ bytes: .*|a value without a text)\]$`)
})

// likeNote reports whether a line, as seen, looks like a note.
func likeNote(line []byte) bool {
	return len(line) > 0 && line[0] == '[' && noteLike().Match(line)
}

// blank reports whether a character is not seen, or seen as a space.
func blank(r rune) bool {
	return unicode.IsSpace(r) || r == 0x2800 ||
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// lostNotes reports losses of the provider that no marker reports.
func (v *view) lostNotes() []string {
	var list []string
	for _, n := range lossnote.Of(v.res.Truncated) {
		switch n.Reason {
		case codeinterp.TruncatedByRate:
			list = append(list, fmt.Sprintf("Some of %s may be lost: it came faster than the server passes on. Print less, or write it to a file.", n.Streams))
		case codeinterp.TruncatedByConnection:
			list = append(list, fmt.Sprintf("Some of %s may be lost: the connection to the server broke.", n.Streams))
		case codeinterp.TruncatedByExit:
			list = append(list, fmt.Sprintf("The last of %s may be lost: it can go with the process.", n.Streams))
		}
	}
	for _, t := range v.res.Truncated {
		if t.Reason == codeinterp.TruncatedByLimit && !v.marked(t.Stream) && t.Bytes >= 0 {
			list = append(list, fmt.Sprintf("Of %s, %d of %d bytes were not kept.", t.Stream, t.Bytes-t.Kept, t.Bytes))
		}
	}
	for c, n := range v.gone {
		if n > 0 {
			list = append(list, fmt.Sprintf("Of %s, %d bytes that later ones overwrote are not shown, as on a terminal.", classNames[c], n))
		}
	}
	return list
}

// marked reports whether a marker stands for what was dropped of a stream.
func (v *view) marked(stream string) bool {
	for i := range v.pieces {
		if p := &v.pieces[i]; p.out.Kind.String() == stream && (!p.whole()) {
			return true
		}
	}
	return false
}
