// Package shorten bounds texts of a program's making.
package shorten

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Middle returns s as valid UTF-8, with its middle left out and counted, if
// it is longer than limit bytes. It keeps nothing of a longer one's memory.
func Middle[T ~string | ~[]byte](s T, limit int) (short string, lost int64) {
	if len(s) <= limit {
		return strings.ToValidUTF8(string(s), "\uFFFD"), 0
	}
	half := limit/2 - 50
	head, tail := strings.ToValidUTF8(string(s[:half]), "\uFFFD"), strings.ToValidUTF8(string(s[len(s)-half:]), "\uFFFD")
	return fmt.Sprintf("%s\n[%d bytes are left out]\n%s", head, len(s)-2*half, tail), int64(len(s) - 2*half)
}

// Head returns the first bytes of s, up to n and whole characters, followed by
// "..." if something is missing.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}
