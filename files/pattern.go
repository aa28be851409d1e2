package files

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// maxPattern is how long patterns and expressions may be.
const maxPattern = 1000

// CheckPattern says what is wrong with a pattern for Glob.
func CheckPattern(pattern string) error {
	_, err := compile(pattern)
	return err
}

// class matches a character class: whether it is negated, and its characters.
var class = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^\[([!^]?)(.[^\]]*)\]`) })

// compile returns what a glob pattern matches, among relative paths. It becomes
// a regular expression, so that matching takes linear time.
func compile(pattern string) (func(name string) bool, error) {
	expr, err := translate(strings.TrimPrefix(pattern, "./"))
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(`(?s)\A(?:` + expr + `)\z`)
	if err != nil {
		return nil, fmt.Errorf("%w: pattern %.200q: bad character range in [class]", codeinterp.ErrInvalid, pattern)
	}
	if strings.Contains(pattern, "/") {
		return re.MatchString, nil
	}
	return func(name string) bool { return re.MatchString(path.Base(name)) }, nil
}

// translate turns a glob pattern into a regular expression.
func translate(pattern string) (string, error) {
	if pattern == "" || len(pattern) > maxPattern || strings.HasPrefix(pattern, "/") {
		return "", fmt.Errorf("%w: pattern %.200q: use 1 to %d bytes, relative to the directory", codeinterp.ErrInvalid, pattern, maxPattern)
	}
	var b strings.Builder
	braces := 0
	for i := 0; i < len(pattern); {
		rest := pattern[i:]
		n := 1
		switch c := pattern[i]; {
		// Any number of directories, none among them.
		case strings.HasPrefix(rest, "**/") && (i == 0 || pattern[i-1] == '/'):
			b.WriteString(`(?:[^/]+/)*`)
			n = 3
		case strings.HasPrefix(rest, "**"):
			b.WriteString(`.*`)
			n = 2
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '{':
			b.WriteString(`(?:`)
			braces++
		case c == '}' && braces > 0:
			b.WriteString(`)`)
			braces--
		case c == ',' && braces > 0:
			b.WriteString(`|`)
		case c == '[' && class().MatchString(rest):
			m := class().FindStringSubmatch(rest)
			n = len(m[0])
			b.WriteString("[")
			if m[1] != "" { // negated, it would match a slash, which * and ? never do
				b.WriteString("^/")
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(m[2]) + "]")
		case c == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			n = 2
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
		i += n
	}
	if braces > 0 {
		return "", fmt.Errorf("%w: pattern %.200q: a { is not closed", codeinterp.ErrInvalid, pattern)
	}
	return b.String(), nil
}
