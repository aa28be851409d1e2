package source

import "strings"

// maxNames is how many names are looked for.
const maxNames = 1000

// ExportedNames returns the names that a CommonJS file is seen to export without
// running it: those that it assigns to exports, or defines there.
func ExportedNames(code string, stopped func() bool) (names []string) {
	s := scanner{src: code}
	seen := map[string]bool{}
	for tokens := 0; len(names) < maxNames && s.next(); tokens++ {
		if tokens%askEvery == askEvery-1 && stopped() {
			break
		}
		if s.kind != word || s.text != "exports" {
			continue
		}
		if name := exportedName(s); name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// exportedName returns the name that is assigned or defined where s is at exports.
func exportedName(s scanner) string {
	defines := s.prev == "(" || s.prev == "." // as Object.defineProperty(module.exports
	code := s.src
	s.next()
	var name string
	switch s.text {
	case ".":
		if !s.next() || s.kind != word {
			return ""
		}
		name = s.text
	case "[":
		if !s.next() || s.kind != str || len(s.text) < 2 {
			return ""
		}
		name = s.text[1 : len(s.text)-1]
		s.next()
	case ",":
		before := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(code[:s.start], " \t\n"), "exports"), " \t\n")
		before = strings.TrimRight(strings.TrimSuffix(before, "module."), " \t\n")
		if !defines || !strings.HasSuffix(before, "defineProperty(") || !s.next() || s.kind != str || len(s.text) < 2 {
			return ""
		}
		return s.text[1 : len(s.text)-1]
	default:
		return ""
	}
	if !s.next() || s.text != "=" || s.pos < len(code) && (code[s.pos] == '=' || code[s.pos] == '>') {
		return ""
	}
	return name
}

// IsIdentifier reports whether a text is a name of ASCII letters, other than default.
func IsIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != "" && s != "default"
}

// isWord reports whether a byte can be in a name: all that are not ASCII can.
func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// before returns the byte before a place in a text, 0 at its beginning.
func before(s string, i int) byte {
	if i <= 0 || i > len(s) {
		return 0
	}
	return s[i-1]
}

func spaceBefore(s string) string { return strings.TrimRight(s, " \t\r\n") }
