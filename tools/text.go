package tools

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

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
	if ok && !(bytes.HasPrefix(plain.Data, []byte("<")) && objectName().Match(plain.Data)) {
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
	status := v.status()
	n := 100 + len(status) + len(v.arena)
	for _, note := range notes {
		n += len(note) + 1
	}
	for i := range v.pieces {
		n += 40 + len(v.pieces[i].note) + len(v.pieces[i].mime)
	}
	b.Grow(n)
	b.WriteString(status)
	b.WriteByte('\n')
	for _, note := range notes {
		b.WriteString(note)
		b.WriteByte('\n')
	}
	for i := range v.pieces {
		p := &v.pieces[i]
		if i == 0 || p.class == bundles || p.class != v.pieces[i-1].class || p.out.Late != v.pieces[i-1].out.Late {
			p.writeHeading(&b)
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
	s := "ok"
	if r.Status != codeinterp.StatusOK || r.ExitCode != 0 {
		s = fmt.Sprintf("%s, exit code %d", r.Status, r.ExitCode)
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

// writeHeading writes the line that stands above a piece.
func (p *piece) writeHeading(b *strings.Builder) {
	b.WriteString("--- ")
	b.WriteString(p.out.Kind.String())
	if p.class == bundles && p.mime != "" && p.mime != "text/plain" {
		b.WriteString(" " + plaintext.Line(shorten.Head(p.mime, 80)))
	}
	if p.out.Late {
		b.WriteString(" (came after the end of an earlier run)")
	}
	b.WriteString(" ---\n")
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
	for line := range bytes.Lines(p) {
		seen := bytes.TrimFunc(line, blank)
		if len(seen) > 0 && (seen[0] == '-' || seen[0] == '[') && likeOurs().Match(bytes.Join(bytes.FieldsFunc(seen, blank), space)) {
			b.WriteByte('\\')
		}
		b.Write(line)
	}
	if len(p) > 0 && p[len(p)-1] != '\n' {
		b.WriteByte('\n')
	}
}

var space = []byte(" ")

// likeOurs matches a line that looks like a heading of an answer or like one of its notes;
// see image, note and loss.
var likeOurs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^--- .* ---$|^\[((?i:image) ?\p{Nd}+|\.\.\. .* \.\.\.|further displays .*|[^\s\[\],]+/[^\s,]+, \d+ bytes: .*|a value without a text)\]$`)
})

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
