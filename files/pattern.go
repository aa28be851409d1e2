package files

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// maxPattern is how long patterns and expressions may be.
const maxPattern = 1000

// CheckPattern says what is wrong with a pattern for Glob.
func CheckPattern(pattern string) error {
	_, err := compile(pattern)
	return err
}

// compile returns what a glob pattern matches, among relative paths. It becomes
// a regular expression, so that matching takes linear time.
func compile(pattern string) (func(name string) bool, error) {
	expr, err := translate(strings.TrimPrefix(pattern, "./"))
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(`(?s)\A(?:` + expr + `)\z`)
	if err != nil {
		return nil, fmt.Errorf("%w: pattern %.200q: a [class] does not go from the lower to the higher", codeinterp.ErrInvalid, pattern)
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
		case c == '[' && class(rest) > 0:
			n = class(rest)
			b.WriteString(classExpr(rest[1 : n-1]))
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

// class returns the length of the character class that s begins with, 0 if it
// has no end.
func class(s string) int {
	start := 1
	if strings.HasPrefix(s[1:], "!") || strings.HasPrefix(s[1:], "^") {
		start = 2
	}
	if len(s) <= start {
		return 0
	}
	if i := strings.IndexByte(s[start+1:], ']'); i >= 0 {
		return start + 1 + i + 1
	}
	return 0
}

// classExpr is a character class, without its brackets, as an expression.
func classExpr(in string) string {
	out := "["
	if in[0] == '!' || in[0] == '^' {
		// Negated, it would match a slash, which * and ? never do.
		out, in = `[^/`, in[1:]
	}
	return out + strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(in) + "]"
}
