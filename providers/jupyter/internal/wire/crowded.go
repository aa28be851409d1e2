package wire

import (
	"bytes"
	"fmt"
)

const (
	// maxMembers is how many members the objects and arrays of a content may have as
	// deep as they are decoded. One of two bytes can take forty times as much then.
	maxMembers = 1 << 18

	// membersDepth is how deep contents are decoded, replyDepth how deep those of
	// execute_reply are, where a payload has a bundle.
	membersDepth = 2
	replyDepth   = 4
)

// CheckMembers returns ErrTooLarge for the content of a message that would exceed its
// size by far once it is decoded.
func CheckMembers(typ string, content []byte) error {
	depth := membersDepth
	if typ == "execute_reply" {
		depth = replyDepth
	}
	if Crowded(content, maxMembers, depth) {
		return fmt.Errorf("%w: more than %d members", ErrTooLarge, maxMembers)
	}
	return nil
}

// Crowded reports whether the objects and arrays of some JSON have as many members
// as that, down to a depth, and more than its size says once they are decoded.
func Crowded(content []byte, most, deepest int) bool {
	depth, members := 0, 0
	for i := 0; i < len(content); i++ {
		switch content[i] {
		case '"':
			i += stringLen(content[i+1:])
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth <= deepest {
				members++
			}
		}
		if members >= most {
			return true
		}
	}
	return false
}

// stringLen is the length of the JSON string whose opening quote is before p,
// with its closing quote.
func stringLen(p []byte) int {
	for i := 0; ; {
		end := bytes.IndexByte(p[i:], '"')
		if end < 0 {
			return len(p)
		}
		i += end + 1
		escapes := 0
		for j := i - 2; j >= 0 && p[j] == '\\'; j-- {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}
