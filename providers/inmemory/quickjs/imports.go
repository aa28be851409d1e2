package quickjs

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// importMeta is the global that stands for import.meta, which only modules may
// have. It is as long, so that columns stay.
const importMeta = "__esm__meta"

// rewriteImports turns a program with import and export declarations, which
// only modules may have, into a script with top-level await. Lines stay where
// they are. ok is false where there is nothing to rewrite.
//
// It is only tried on programs that the engine does not take for scripts, so
// it cannot do harm: where it gets something wrong, the program stays the
// syntax error that it was. It gives up where stopped says so, which it asks now and
// then: a program may have megabytes.
func rewriteImports(code string, stopped func() bool) (rewritten string, ok bool) {
	const askEvery = 4 << 10
	s := scanner{src: code}
	var b strings.Builder
	done := 0
	for tokens := 0; s.next(); tokens++ {
		if tokens%askEvery == askEvery-1 && stopped() {
			return "", false
		}
		if s.kind == word && s.text == "import" && s.prev != "." && strings.HasPrefix(code[s.end:], ".meta") {
			b.WriteString(code[done:s.start])
			b.WriteString(importMeta)
			done, ok = s.end+len(".meta"), true
			s.pos, s.divides = done, true
			continue
		}
		if s.depth > 0 || s.kind != word || s.prev == "." {
			continue
		}
		var text string
		var end int
		switch s.text {
		case "import":
			text, end = importDeclaration(code, s.end)
		case "export":
			text, end = exportDeclaration(code, s.end)
		}
		if end == 0 {
			continue
		}
		b.WriteString(code[done:s.start])
		b.WriteString(text)
		b.WriteString(strings.Repeat("\n", max(0, strings.Count(code[s.start:end], "\n")-strings.Count(text, "\n"))))
		done, ok = end, true
		s.skipTo(end)
	}
	b.WriteString(code[done:])
	return b.String(), ok
}

// importDeclaration translates what follows the word import; end is 0 where
// that is no import declaration.
func importDeclaration(code string, pos int) (text string, end int) {
	s := scanner{src: code, pos: pos}
	if !s.next() {
		return "", 0
	}
	if s.kind == str {
		return "await import(" + s.text + "); void 0;", attributes(code, s.end)
	}
	var def, star, names string
	if s.kind == word && s.text != "from" || s.kind == word && s.peek() == "from" {
		def = s.text
		if !s.next() {
			return "", 0
		}
		if s.text == "," {
			s.next()
		}
	}
	switch s.text {
	case "*":
		if !s.next() || s.text != "as" || !s.next() || s.kind != word {
			return "", 0
		}
		star = s.text
		s.next()
	case "{":
		var ok bool
		if names, ok = s.names(": "); !ok {
			return "", 0
		}
		s.next()
	}
	if s.text != "from" || !s.next() || s.kind != str {
		return "", 0
	}
	from := "await import(" + s.text + ")"
	end = attributes(code, s.end)
	if star != "" {
		text = "const " + star + " = " + from + ";"
		if def != "" {
			text += " const " + def + " = " + star + ".default;"
		}
		return text, end
	}
	if def != "" {
		names = strings.TrimSuffix("default: "+def+", "+names, ", ")
	}
	return "const { " + names + " } = " + from + ";", end
}

// attributes returns the end of a declaration whose specifier ends at pos:
// behind the attributes, if any, and a semicolon.
func attributes(code string, pos int) int {
	s := scanner{src: code, pos: pos}
	end := pos
	if !s.next() {
		return end
	}
	if s.kind == word && (s.text == "with" || s.text == "assert") && s.peek() == "{" {
		s.next()
		for s.depth > 0 && s.next() {
		}
		end = s.pos
		if !s.next() {
			return end
		}
	}
	if s.text == ";" {
		end = s.end
	}
	return end
}

// exportDeclaration translates what follows the word export.
func exportDeclaration(code string, pos int) (text string, end int) {
	s := scanner{src: code, pos: pos}
	if !s.next() {
		return "", 0
	}
	switch s.text {
	case "default":
		return defaultExport(code, s.end)
	case "*":
		if s.next() && s.text == "as" && s.next() {
			s.next()
		}
		if s.text != "from" || !s.next() || s.kind != str {
			return "", 0
		}
		return "await import(" + s.text + "); void 0;", attributes(code, s.end)
	case "const", "let", "var", "function", "class", "async":
		return "", s.start
	case "{":
		if _, ok := s.names(": "); !ok {
			return "", 0
		}
		end = s.end
		if s.peek() == "from" {
			s.next()
			if !s.next() || s.kind != str {
				return "", 0
			}
			return "await import(" + s.text + "); void 0;", attributes(code, s.end)
		}
		return ";", attributes(code, end)
	}
	return "", 0
}

// defaultExport translates what follows export default: a declaration stays one,
// by a name of ours where it has none, and anything else is an expression.
func defaultExport(code string, pos int) (text string, end int) {
	s := scanner{src: code, pos: pos}
	if !s.next() {
		return "", 0
	}
	if s.text == "async" && s.peek() == "function" {
		s.next()
	}
	name := " __default_" + s.text + "_" + strconv.Itoa(pos)
	switch s.text {
	case "function":
		if s.peek() == "*" {
			s.next()
		}
		if s.peek() != "(" {
			return "", pos
		}
	case "class":
		if next := s.peek(); next != "{" && next != "extends" {
			return "", pos
		}
	default:
		return ";0,           ", pos // as long, so that columns stay
	}
	return ";" + code[pos:s.end] + name, s.end
}

// names reads the list after an opening brace up to the closing one and
// returns it with "a as b" as "a: b".
func (s *scanner) names(as string) (string, bool) {
	var list []string
	for s.next() && s.text != "}" {
		if s.kind != word && s.kind != str {
			return "", false
		}
		name := s.text
		if s.peek() == "as" {
			s.next()
			if !s.next() || s.kind != word && s.kind != str {
				return "", false
			}
			name += as + s.text
		}
		list = append(list, name)
		if s.peek() == "," {
			s.next()
		} else if s.peek() != "}" {
			return "", false
		}
	}
	return strings.Join(list, ", "), s.text == "}"
}

// A token's kind.
const (
	none = iota
	word
	str
	other
)

// A scanner splits JavaScript into tokens, as exactly as it takes to tell what
// is at the top level: strings, templates, regular expressions and comments
// count as one token or none.
type scanner struct {
	src        string
	pos        int
	depth      int // of brackets
	kind       int
	start, end int
	text, prev string
	divides    bool // a slash would divide here
	templates  int  // that it is in
}

func (s *scanner) skipTo(pos int) {
	s.pos, s.text, s.prev, s.divides = pos, ";", ";", false
}

// peek returns the next token's text without consuming it.
func (s *scanner) peek() string {
	t := *s
	if !t.next() {
		return ""
	}
	return t.text
}

// next reads a token; it returns false at the end.
func (s *scanner) next() bool {
	s.blank()
	if s.pos >= len(s.src) {
		s.kind = none
		return false
	}
	s.prev, s.start = s.text, s.pos
	switch c := s.src[s.pos]; {
	case c == '"' || c == '\'':
		s.kind, s.divides = str, true
		s.quoted(c)
	case c == '`':
		s.kind, s.divides = other, true
		s.template()
	case c == '/' && !s.divides:
		s.kind, s.divides = other, true
		s.regexp()
	case wordByte(c):
		s.kind = word
		for s.pos < len(s.src) && wordByte(s.src[s.pos]) {
			s.pos++
		}
		s.divides = !operators[s.src[s.start:s.pos]]
	default:
		s.kind = other
		s.punctuation(c)
	}
	s.end = s.pos
	s.text = s.src[s.start:s.end]
	return true
}

// operators are the words after which a slash begins a regular expression.
var operators = map[string]bool{"return": true, "typeof": true, "case": true, "in": true, "of": true, "delete": true, "void": true,
	"throw": true, "new": true, "instanceof": true, "do": true, "else": true, "await": true, "yield": true}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c == '#' || c == '\\' || c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (s *scanner) punctuation(c byte) {
	s.pos++
	switch c {
	case '(', '[', '{':
		s.depth++
		s.divides = false
	case ')', ']':
		s.depth = max(0, s.depth-1)
		s.divides = true
	case '}':
		s.depth = max(0, s.depth-1)
		s.divides = false
	default:
		s.divides = false
	}
}

// blank skips space and comments.
func (s *scanner) blank() {
	for s.pos < len(s.src) {
		rest := s.src[s.pos:]
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\uFEFF':
			s.pos += n
		case strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "#!") && s.pos == 0:
			if n = strings.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
			s.pos += n
		case strings.HasPrefix(rest, "/*"):
			if n = strings.Index(rest[2:], "*/"); n < 0 {
				s.pos = len(s.src)
			} else {
				s.pos += n + 4
			}
		default:
			return
		}
	}
}

func (s *scanner) quoted(q byte) {
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case q:
			s.pos++
			return
		case '\n':
			return
		}
	}
	s.pos = len(s.src)
}

// maxTemplates is how deep templates may be in each other: the engine itself has
// not the stack for more.
const maxTemplates = 1000

// template skips a template literal; what it interpolates is scanned.
func (s *scanner) template() {
	if s.templates == maxTemplates {
		s.pos = len(s.src)
		return
	}
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case '`':
			s.pos++
			return
		case '$':
			if strings.HasPrefix(s.src[s.pos:], "${") {
				inner := scanner{src: s.src, pos: s.pos + 2, depth: 1, templates: s.templates + 1}
				for inner.depth > 0 && inner.next() {
				}
				s.pos = inner.pos - 1
			}
		}
	}
	s.pos = min(s.pos, len(s.src))
}

func (s *scanner) regexp() {
	class := false
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case c == '\\':
			s.pos++
		case c == '\n':
			return
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.pos++
			return
		}
	}
	s.pos = min(s.pos, len(s.src))
}
