package tools

import "strings"

// stripFence returns the inside of code where all of it is one Markdown code
// fence, else code itself. Backticks within the program survive.
func stripFence(code string) string {
	s := strings.TrimSpace(code)
	fence := fenceOf(s)
	first, rest, ok := strings.Cut(s, "\n")
	if fence == "" || !ok || strings.Contains(first[len(fence):], fence[:1]) {
		return code
	}
	i := strings.LastIndexByte(rest, '\n') + 1
	last := strings.TrimSpace(rest[i:])
	if len(last) < len(fence) || strings.Trim(last, fence[:1]) != "" || severalBlocks(rest[:i], fence) {
		return code
	}
	return rest[:i]
}

// fenceOf returns the run of at least three backticks or tildes that s begins
// with.
func fenceOf(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	if n < 3 {
		return ""
	}
	return s[:n]
}

// severalBlocks reports whether body, the lines between the first and the last
// fence, closes the first block and opens another.
func severalBlocks(body, fence string) bool {
	closed := false
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, " \t\r\n")
		f := fenceOf(line)
		if len(f) < len(fence) || f[0] != fence[0] {
			continue
		}
		bare := f == line
		if !closed && !bare {
			return false
		}
		if closed && !bare {
			return true
		}
		closed = true
	}
	return false
}
