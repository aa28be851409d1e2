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
	sequence, err := e.sequence()
	if err != nil {
		return key{}, err
	}
	code, ok := sequences[sequence]
	if !ok {
		return key{code: none}, nil
	}
	if code == paste {
		text, err := e.pasted()
		return key{paste, text}, err
	}
	return key{code: code}, nil
}

// A oneByte reads single bytes, so that it takes no more than it returns.
type oneByte struct{ io.Reader }

// ReadByte implements io.ByteReader.
func (o *oneByte) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(o, b[:])
	return b[0], err
}

// ReadRune implements io.RuneReader.
func (o *oneByte) ReadRune() (rune, int, error) {
	var b []byte
	for len(b) < utf8.UTFMax && (len(b) == 0 || !utf8.FullRune(b)) {
		c, err := o.ReadByte()
		if err != nil {
			return 0, 0, err
		}
		b = append(b, c)
	}
	r, size := utf8.DecodeRune(b)
	return r, size, nil
}

// sequence reads what follows an escape.
func (e *Editor) sequence() (string, error) {
	var b strings.Builder
	for b.Len() < 16 {
		c, err := e.in.ReadByte()
		if err != nil {
			return "", err
		}
		b.WriteByte(c)
		switch {
		case b.Len() == 1 && (c == '[' || c == 'O'):
		case c >= 0x40 && c <= 0x7e:
			return b.String(), nil
		}
	}
	return b.String(), nil
}

// maxPaste bounds a paste in bytes.
const maxPaste = 1 << 20

// pasted reads a paste up to its end.
func (e *Editor) pasted() (string, error) {
	const stop = "\x1b[201~"
	var b strings.Builder
	for b.Len() < maxPaste {
		c, err := e.in.ReadByte()
		if err != nil {
			return "", err
		}
		b.WriteByte(c)
		if c == '~' && strings.HasSuffix(b.String(), stop) {
			break
		}
	}
	return strings.TrimSuffix(b.String(), stop), nil
}
