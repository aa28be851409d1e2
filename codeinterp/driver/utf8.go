package driver

import "unicode/utf8"

// incomplete returns how many bytes at the end of p begin a UTF-8 sequence
// that p does not finish, 0 where p ends whole or is not UTF-8 there.
func incomplete(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		b := p[len(p)-n]
		if utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// headCut returns the largest cut <= n at which p can be cut without
// splitting a UTF-8 sequence.
func headCut(p []byte, n int) int { return n - incomplete(p[:n]) }

// tailCut returns the smallest cut >= n at which p can be cut without
// splitting a UTF-8 sequence.
func tailCut(p []byte, n int) int {
	for i := n; i < len(p) && i < n+utf8.UTFMax; i++ {
		if utf8.RuneStart(p[i]) {
			return i
		}
	}
	return n
}
