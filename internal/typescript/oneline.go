package typescript

import "strings"

// A gap is space and comments between two tokens, or characters of a template.
type gap struct {
	start, end int
	template   bool
}

// gap notes one, unless it is looked at again.
func (p *parser) gap(start, end int, template bool) {
	list := *p.gaps
	if n := len(list); n == 0 || list[n-1].end <= start {
		*p.gaps = append(list, gap{start, end, template})
	}
}

// oneLine returns an expression without its line breaks, which must not move
// those of the program. In templates they become escapes.
func (p *parser) oneLine(code string) string {
	if firstLine(code) == code {
		return code
	}
	q := newParser(p.ctx, code)
	q.depth, q.gaps = p.depth, &[]gap{}
	q.next()
	q.scopes = []scope{nil}
	q.assign(0)
	p.step(q.steps)
	var b strings.Builder
	at := 0
	for _, g := range *q.gaps {
		b.WriteString(code[at:g.start])
		at = g.end
		switch part := code[g.start:g.end]; {
		case firstLine(part) == part:
			b.WriteString(part)
		case g.template:
			b.WriteString(breaks.Replace(part))
		default:
			b.WriteByte(' ')
		}
	}
	b.WriteString(code[at:])
	return b.String()
}

// breaks escapes the line breaks of a template. One after a backslash is none
// of the template's characters, and \r\n is \n there.
var breaks = strings.NewReplacer("\\\\", "\\\\", "\\\r\n", "", "\\\n", "", "\\\r", "", "\\\u2028", "", "\\\u2029", "",
	"\r\n", `\n`, "\n", `\n`, "\r", `\n`, "\u2028", `\u2028`, "\u2029", `\u2029`)
