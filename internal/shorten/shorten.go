// Package shorten bounds texts of a program's making.
package shorten

import (
	"fmt"
	"strings"
)

// Middle returns s as valid UTF-8, with its middle left out, told and counted, where
// it is longer than limit bytes. It keeps nothing of a longer one's memory.
func Middle[T ~string | ~[]byte](s T, limit int) (short string, lost int64) {
	if len(s) <= limit {
		return strings.ToValidUTF8(string(s), "\uFFFD"), 0
	}
	half := limit/2 - 50
	head, tail := strings.ToValidUTF8(string(s[:half]), "\uFFFD"), strings.ToValidUTF8(string(s[len(s)-half:]), "\uFFFD")
	return fmt.Sprintf("%s\n[%d bytes are left out]\n%s", head, len(s)-2*half, tail), int64(len(s) - 2*half)
}
