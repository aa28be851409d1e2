package codeinterp

import (
	"fmt"
	"slices"
	"strings"
)

// aliases are other names that models and people use for a language.
var aliases = map[string]string{
	"py": "python", "python3": "python", "ipython": "python",
	"js": "javascript", "node": "javascript", "nodejs": "javascript", "ecmascript": "javascript",
	"ts": "typescript",
	"sh": "bash", "shell": "bash",
}

// ResolveLanguage returns the canonical name in languages that name means:
// itself, in any case and with spaces around it, or one of the usual aliases
// (py, js, node, ts, sh, ...). Where there is none it returns ErrLanguage,
// listing the languages.
func ResolveLanguage(name string, languages []string) (string, error) {
	// As it stands first: a provider's own name need not be lower case.
	if slices.Contains(languages, name) {
		return name, nil
	}
	n := strings.ToLower(strings.TrimSpace(name))
	if slices.Contains(languages, n) {
		return n, nil
	}
	if a, ok := aliases[n]; ok && slices.Contains(languages, a) {
		return a, nil
	}
	if len(name) > 40 {
		// The cut may be within a character.
		name = strings.ToValidUTF8(name[:40], "") + "..."
	}
	return "", fmt.Errorf("%w: %q; supported: %s", ErrLanguage, name, strings.Join(languages, ", "))
}
