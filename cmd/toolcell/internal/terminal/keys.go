package terminal

import (
	"io"
	"strings"
	"unicode/utf8"
)

// A key is a key press, or a paste with its text.
type key struct {
	code rune
	text string
}

// Codes of keys that are not characters.
const (
	enter     = '\r'
	backspace = 127

	none rune = utf8.MaxRune + iota
	up
	down
	left
	right
	home
	end
	del
	wordLeft
	wordRight
	paste
)

func ctrl(letter rune) rune { return letter & 0x1f }

// sequences are what terminals send behind an escape.
var sequences = map[string]rune{
	"[A": up, "[B": down, "[C": right, "[D": left, "[H": home, "[F": end, "OA": up, "OB": down, "OC": right, "OD": left, "OH": home, "OF": end,
	"[1~": home, "[4~": end, "[7~": home, "[8~": end, "[3~": del, "[1;5C": wordRight, "[1;5D": wordLeft, "[1;3C": wordRight, "[1;3D": wordLeft,
	"b": wordLeft, "f": wordRight, "[200~": paste,
}

// A oneByte reads single bytes: what is typed ahead is left to the program.
type oneByte struct{ io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.Reader.Read(p[:min(1, len(p))]) }

// key reads a key press.
func (e *Editor) key() (key, error) {
	r, _, err := e.in.ReadRune()
	switch {
	case err != nil:
		return key{}, err
	case r == '\n':
		return key{code: enter}, nil
	case r != 0x1b:
		return key{code: r}, nil
	}
	sequence, err := e.readTo(16, func(s string) bool {
		c := s[len(s)-1]
		return c >= 0x40 && c <= 0x7e && s != "[" && s != "O"
	})
	k := key{code: none}
	if code, ok := sequences[sequence]; ok {
		k.code = code
	}
	if k.code == paste && err == nil {
		const stop = "\x1b[201~"
		k.text, err = e.readTo(maxPaste, func(s string) bool { return strings.HasSuffix(s, stop) })
		k.text = strings.TrimSuffix(k.text, stop)
	}
	return k, err
}

// maxPaste bounds a paste in bytes.
const maxPaste = 1 << 20

// readTo reads bytes until all of them are an end, or there are as many as limit.
func (e *Editor) readTo(limit int, isEnd func(string) bool) (string, error) {
	var b strings.Builder
	for b.Len() < limit {
		c, err := e.in.ReadByte()
		if err != nil {
			return "", err
		}
		b.WriteByte(c)
		if isEnd(b.String()) {
			break
		}
	}
	return b.String(), nil
}
