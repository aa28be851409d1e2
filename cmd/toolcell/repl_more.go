package main

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

const morePrompt = "... "

// promptOf is what a language's users know.
func promptOf(language string) string {
	switch language {
	case "python":
		return ">>> "
	case "bash":
		return "$ "
	}
	return "> "
}

// wantsMore reports whether text, which ends with a newline, is the beginning
// of a program that goes on. It guesses from brackets, quotes and the ends of
// lines; an empty line ends what an indented block began, two end anything but one
// of bash's here-documents.
func wantsMore(language, text string) bool {
	s := scanOf(language)
	s.scan(text)
	if len(s.heres) > 0 {
		return true // its lines are text, and must not become commands
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
		block := strings.HasSuffix(line, ":") || strings.HasPrefix(line, "@") || strings.HasPrefix(text[lastLine(text):], " ") || strings.HasPrefix(text[lastLine(text):], "\t")
		return !blank && (block || strings.HasSuffix(line, "\\") || s.lines > 1 && s.block)
	case "bash":
		return s.depth > 0 || !blank && (strings.HasSuffix(line, "\\") || strings.HasSuffix(line, "|") || strings.HasSuffix(line, "&&"))
	}
	return false
}

// inTabbed reports whether the line after a text is of a here-document that tabs are
// taken out of, as <<- says, and spaces are not.
func inTabbed(language, text string) bool {
	s := scanOf(language)
	s.scan(text)
	return len(s.heres) > 0 && s.quote == "" && s.heres[0].tabs
}

// lastLine is where the last line of a text that ends with a newline begins.
func lastLine(text string) int { return strings.LastIndexByte(text[:len(text)-1], '\n') + 1 }

// A scan goes through a program as far as it takes to find what is not closed.
type scan struct {
	comment string   // begins one that ends with the line
	quotes  []string // longer ones first
	across  []string // quotes that go on over lines
	words   bool     // bash's words that open and close

	heres    []here // bash's here-documents that are open
	brackets int
	quote    string // the one that is open
	depth    int    // of words
	lines    int
	block    bool   // a line of it ended with a colon
	last     string // the last line that is not blank, less comments
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

// open reports whether a bracket or a quote is.
func (s *scan) open() bool { return s.quote != "" || s.brackets > 0 && !s.words }

func (s *scan) scan(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		s.lines++
		if len(s.heres) > 0 && s.quote == "" {
			if s.heres[0].ends(line) {
				s.heres = s.heres[1:]
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

// line goes through a line and returns it less its comment.
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
			i += s.redirect(line[:i], rest)
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

// A here is the word that ends a here-document.
type here struct {
	end  string
	tabs bool // which may stand before it
}

func (h here) ends(line string) bool {
	if h.tabs {
		line = strings.TrimLeft(line, "\t")
	}
	return line == h.end
}

// hereWord is what a here-document begins with.
var hereWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<<(-?)[ \t]*((?:'[^']*'|"[^"]*"|\\.|[^\s\\'"|&;()<>])+)`)
})

// redirect goes over what begins with <<, and returns how far it went.
func (s *scan) redirect(before, rest string) int {
	if strings.HasPrefix(rest, "<<<") {
		return len("<<<")
	}
	m := hereWord().FindStringSubmatch(rest)
	shifts := strings.LastIndex(before, "((") > strings.LastIndex(before, "))") || strings.HasPrefix(strings.TrimSpace(before), "let ")
	if m == nil || shifts {
		return len("<<")
	}
	s.heres = append(s.heres, here{strings.NewReplacer(`'`, "", `"`, "", `\`, "").Replace(m[2]), m[1] != ""})
	return len(m[0])
}

// begin opens a quote where rest begins with one, and returns how far it went.
func (s *scan) begin(rest string) int {
	for _, q := range s.quotes {
		if strings.HasPrefix(rest, q) {
			s.quote = q
			return len(q)
		}
	}
	return 1
}

// quoted goes on in the quote that is open, and returns how far it went.
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

// depthOf is how many of bash's words a line opens more than it closes.
func depthOf(line string) (n int) {
	begins := true // a command can begin here
	for _, word := range strings.Fields(strings.ReplaceAll(strings.ReplaceAll(line, ";", " ; "), "(", " ( ")) {
		switch word {
		case "if", "case", "do", "{":
			if begins {
				n++
			}
		case "fi", "esac", "done", "}":
			if begins {
				n--
			}
		}
		begins = slices.Contains([]string{";", "(", "&&", "||", "|"}, word) || strings.HasSuffix(word, ")") ||
			begins && slices.Contains([]string{"then", "do", "else", "{", "!", "while", "until", "if", "elif"}, word)
	}
	return n
}
