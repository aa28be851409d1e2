package source

import (
	"strconv"
	"strings"
)

// ImportMeta is the global that stands for import.meta, which only modules may
// have. It is as long, so that columns stay.
const ImportMeta = "__esm__meta"

// ImportNamed is the global that tells whether a module exports names.
const ImportNamed = "__esm__named"

// askEvery is after how many tokens a long scan asks whether to stop.
const askEvery = 4 << 10

// RewriteImports turns a program with import and export declarations, which
// only modules may have, into a script with top-level await. Lines stay where
// they are. ok is false where there is nothing to rewrite.
//
// It is only tried on programs that the engine does not take for scripts, so
// it cannot do harm: where it gets something wrong, the program stays the
// syntax error that it was. It gives up where stopped says so, which it asks now and
// then: a program may have megabytes. With checked, what is imported by a name that
// the module does not export is a SyntaxError of the program.
func RewriteImports(code string, stopped func() bool, checked bool) (rewritten string, ok bool) {
	s := scanner{src: code}
	var b strings.Builder
	done := 0
	for tokens := 0; s.next(); tokens++ {
		if tokens%askEvery == askEvery-1 && stopped() {
			return "", false
		}
		if s.kind == word && s.text == "import" && s.prev != "." && strings.HasPrefix(code[s.end:], ".meta") {
			b.WriteString(code[done:s.start])
			b.WriteString(ImportMeta)
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
			text, end = importDeclaration(code, s.end, checked)
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
func importDeclaration(code string, pos int, checked bool) (text string, end int) {
	s := scanner{src: code, pos: pos}
	if !s.next() {
		return "", 0
	}
	if s.kind == str {
		return "await import(" + s.text + "); void 0;", attributes(code, s.end)
	}
	var def, star, names, exports string
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
		if names, exports, ok = s.names(": "); !ok {
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
		exports += `, "default"`
		names = strings.TrimSuffix("default: "+def+", "+names, ", ")
	}
	if checked && exports != "" {
		from = ImportNamed + "(" + from + ", " + s.text + exports + ")"
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
		if _, _, ok := s.names(": "); !ok {
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
// returns it with "a as b" as "a: b", and the exports' names, each as a literal behind
// a comma.
func (s *scanner) names(as string) (_, exports string, ok bool) {
	var list []string
	for s.next() && s.text != "}" {
		if s.kind != word && s.kind != str {
			return "", "", false
		}
		name := s.text
		if s.kind == word {
			exports += `, "` + name + `"`
		} else {
			exports += ", " + name
		}
		if s.peek() == "as" {
			s.next()
			if !s.next() || s.kind != word && s.kind != str {
				return "", "", false
			}
			name += as + s.text
		}
		list = append(list, name)
		if s.peek() == "," {
			s.next()
		} else if s.peek() != "}" {
			return "", "", false
		}
	}
	return strings.Join(list, ", "), exports, s.text == "}"
}
