// Package unfinished guesses whether a program that is being typed continues in the next line.
package unfinished

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Program reports whether text, which ends with a newline, is the beginning of a
// program. It looks at brackets, quotes and the ends of lines. An empty line ends an
// indented block, and two end anything but a here-document of bash.
func Program(language, text string) bool {
	s := scanOf(language)
	s.scan(text)
	if len(s.ends) > 0 {
		return true // the lines of a here-document must not run
	}
	if strings.HasSuffix("\n"+text, "\n\n\n") {
		return false
	}
	if s.open() {
		return true
	}
	blank := strings.HasSuffix("\n"+text, "\n\n")
	line := strings.TrimRight(s.last, " \t")
	switch language {
	case "python":
		last := text[strings.LastIndexByte(text[:len(text)-1], '\n')+1:]
		block := strings.HasSuffix(line, ":") || strings.HasPrefix(line, "@") || strings.ContainsAny(last[:1], " \t")
		return !blank && (block || strings.HasSuffix(line, "\\") || s.lines > 1 && s.block)
	case "bash":
		return s.depth > 0 || !blank && (strings.HasSuffix(line, "\\") || strings.HasSuffix(line, "|") || strings.HasSuffix(line, "&&"))
	}
	return false
}

// A scan reads a program to find what is not closed.
type scan struct {
	comment string   // the beginning of a comment that ends with its line
	quotes  []string // longer ones first
	across  []string // quotes that span lines
	words   bool     // if, do and so on open and close blocks, as in bash

	ends     []string // of bash's here-documents that are open
	brackets int
	quote    string // the open one
	depth    int    // of words
	lines    int
	block    bool   // a line ended with a colon
	last     string // the last line that is not blank, without its comment
}

func scanOf(language string) *scan {
	switch language {
	case "python":
		return &scan{comment: "#", quotes: []string{`"""`, `'''`, `"`, `'`}, across: []string{`"""`, `'''`}}
	case "bash":
		return &scan{comment: "#", quotes: []string{`"`, `'`}, across: []string{`"`, `'`}, words: true}
	}
	return &scan{comment: "//", quotes: []string{"`", `"`, `'`, "/*"}, across: []string{"`", "/*"}}
}

// open reports whether a bracket or a quote is open.
func (s *scan) open() bool { return s.quote != "" || s.brackets > 0 && !s.words }

func (s *scan) scan(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		s.lines++
		if len(s.ends) > 0 && s.quote == "" {
			if strings.TrimLeft(line, "\t") == s.ends[0] {
				s.ends = s.ends[1:]
			}
			continue
		}
		line = s.line(line)
		if strings.TrimSpace(line) == "" {
			continue
		}
		s.last = line
		s.block = s.block || strings.HasSuffix(strings.TrimRight(line, " \t"), ":")
		if s.words {
			s.depth += depthOf(line)
		}
	}
}

// line scans a line and returns it without its comment.
func (s *scan) line(line string) string {
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case s.quote != "":
			i += s.quoted(rest)
		case strings.HasPrefix(rest, `\`):
			i += 2
		case strings.HasPrefix(rest, s.comment) && (!s.words || i == 0 || line[i-1] == ' '):
			return line[:i]
		case s.words && strings.HasPrefix(rest, "<<"):
			i += s.redirect(rest)
		case strings.ContainsAny(rest[:1], "([{"):
			s.brackets++
			i++
		case strings.ContainsAny(rest[:1], ")]}"):
			s.brackets--
			i++
		default:
			i += s.begin(rest)
		}
	}
	if !slices.Contains(s.across, s.quote) {
		s.quote = ""
	}
	return line
}

// hereWord matches the beginning of a here-document.
var hereWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<<-?[ \t]*(?:'([^']+)'|"([^"]+)"|\\?([A-Za-z_]\w*))`)
})

// redirect passes over <<, and returns how far it went.
func (s *scan) redirect(rest string) int {
	if strings.HasPrefix(rest, "<<<") {
		return len("<<<")
	}
	m := hereWord().FindStringSubmatch(rest)
	if m == nil {
		return len("<<")
	}
	s.ends = append(s.ends, m[1]+m[2]+m[3])
	return len(m[0])
}

// begin opens the quote that rest begins with, and returns how far it went.
func (s *scan) begin(rest string) int {
	for _, q := range s.quotes {
		if strings.HasPrefix(rest, q) {
			s.quote = q
			return len(q)
		}
	}
	return 1
}

// quoted scans the open quote, and returns how far it went.
func (s *scan) quoted(rest string) int {
	end := s.quote
	if end == "/*" {
		end = "*/"
	}
	switch {
	case rest[0] == '\\' && end != "*/" && !(s.words && end == "'"):
		return 2
	case strings.HasPrefix(rest, end):
		s.quote = ""
		return len(end)
	}
	return 1
}

// depthOf returns how many blocks of bash a line opens, less those it closes.
func depthOf(line string) (n int) {
	begins := true // a command can begin here
	for _, word := range strings.Fields(strings.NewReplacer(";", " ; ", "(", " ( ").Replace(line)) {
		if begins {
			n += depths[word]
		}
		begins = slices.Contains([]string{";", "(", "&&", "||", "|"}, word) || strings.HasSuffix(word, ")") ||
			begins && slices.Contains([]string{"then", "do", "else", "{", "!", "while", "until", "if", "elif"}, word)
	}
	return n
}

var depths = map[string]int{"if": 1, "case": 1, "do": 1, "{": 1, "fi": -1, "esac": -1, "done": -1, "}": -1}

// openers match lines after which the next one is indented.
var openers = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"python": regexp.MustCompile(`[:{(\[]\s*$`), "bash": regexp.MustCompile(`(?:\{|\bdo|\bthen|\belse)\s*$`), "": regexp.MustCompile(`[{(\[]\s*$`),
	}
})

// Indent returns the indentation of the line after text.
func Indent(language, text string) string {
	last := text[strings.LastIndexByte(text, '\n')+1:]
	indent := last[:len(last)-len(strings.TrimLeft(last, " \t"))]
	opens := cmp.Or(openers()[language], openers()[""])
	if opens.MatchString(last) {
		indent += "    "
	}
	return indent
}
