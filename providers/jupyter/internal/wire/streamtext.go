package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// streamChunk is the size of the pieces in which a stream message is decoded.
const streamChunk = 32 << 10

var (
	stdoutHead = []byte(`{"name": "stdout", "text": "`)
	stderrHead = []byte(`{"name": "stderr", "text": "`)
)

// StreamText decodes the content of a stream message piece by piece. emit owns
// the pieces. Contents that are not laid out as ipykernel's are decoded whole,
// if they are not larger than max.
func StreamText(r io.Reader, size, max int64, emit func(name string, p []byte)) error {
	head := make([]byte, min(size, int64(len(stdoutHead))))
	if _, err := io.ReadFull(r, head); err != nil {
		return err
	}
	switch {
	case bytes.Equal(head, stdoutHead):
		return unquote(r, int64(len(head)), size, func(p []byte) { emit("stdout", p) })
	case bytes.Equal(head, stderrHead):
		return unquote(r, int64(len(head)), size, func(p []byte) { emit("stderr", p) })
	}
	if size > max {
		return ErrTooLarge
	}
	rest, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return WholeText(append(head, rest...), emit)
}

// Stream decodes the content of a stream message piece by piece; see StreamText.
func (f *Frame) Stream(max int64, emit func(name string, p []byte)) error {
	if f.Size >= 0 {
		return StreamText(f.Body, f.Size, max, emit)
	}
	return WholeText(f.Msg.Content, emit)
}

// WholeText decodes a stream message that is held whole.
func WholeText(content []byte, emit func(name string, p []byte)) error {
	var s struct{ Name, Text string }
	if err := json.Unmarshal(content, &s); err != nil {
		return err
	}
	if s.Text != "" {
		emit(s.Name, []byte(s.Text))
	}
	return nil
}

var errString = errors.New("malformed string in a stream message")

// unquote decodes a JSON string whose opening quote was read, up to its
// closing quote. Bytes that are no UTF-8 pass unchanged.
func unquote(r io.Reader, read, size int64, emit func([]byte)) error {
	raw := make([]byte, 0, min(streamChunk, size-read))
	for read < size {
		room := raw[len(raw):cap(raw)]
		if len(room) == 0 {
			return errString
		}
		n, err := r.Read(room[:min(int64(len(room)), size-read)])
		raw, read = raw[:len(raw)+n], read+int64(n)
		if err != nil && (err != io.EOF || read < size) {
			return err
		}
		// Until the piece is full: packets would make as many small outputs.
		if read < size && len(raw) < cap(raw) {
			continue
		}
		out := make([]byte, 0, len(raw))
		out, used, closed, err := unescape(out, raw)
		if err != nil {
			return err
		}
		if len(out) > 0 {
			emit(out)
		}
		if closed {
			return nil
		}
		raw = append(raw[:0], raw[used:]...)
	}
	return errString
}

// unescape appends the decoded form of raw to out, up to the closing quote or
// to an escape that raw does not finish, and returns how much it used.
func unescape(out, raw []byte) (_ []byte, used int, closed bool, err error) {
	for i := 0; ; {
		j := i + special(raw[i:])
		out = append(out, raw[i:j]...)
		if j == len(raw) {
			return out, j, false, nil
		}
		if raw[j] == '"' {
			return out, j + 1, true, nil
		}
		var n int
		if out, n, err = escape(out, raw[j:]); err != nil || n == 0 {
			return out, j, false, err
		}
		i = j + n
	}
}

// special returns the index of the first quote or backslash, or the length.
func special(p []byte) int {
	// In text of many lines the next escape is near; two scans pay off beyond that.
	for i, c := range p[:min(len(p), 16)] {
		if c == '"' || c == '\\' {
			return i
		}
	}
	if i := bytes.IndexByte(p, '\\'); i >= 0 {
		p = p[:i]
	}
	if i := bytes.IndexByte(p, '"'); i >= 0 {
		return i
	}
	return len(p)
}

const escapeFrom, escapeTo = `"\/bfnrt`, "\"\\/\b\f\n\r\t"

// escape appends what the escape at the start of p means. n is the escape's
// length, 0 where p does not hold all of it.
func escape(out, p []byte) (_ []byte, n int, err error) {
	if len(p) < 2 {
		return out, 0, nil
	}
	if i := strings.IndexByte(escapeFrom, p[1]); i >= 0 {
		return append(out, escapeTo[i]), 2, nil
	}
	r, ok := hex4(p)
	switch {
	case !ok && len(p) < 6 && p[1] == 'u':
		return out, 0, nil
	case !ok:
		return out, 0, errString
	case !utf16.IsSurrogate(r):
		return utf8.AppendRune(out, r), 6, nil
	// Half of a pair: the other half may come with the next piece.
	case len(p) < 12 && bytes.HasPrefix([]byte(`\u`), p[6:min(len(p), 8)]):
		return out, 0, nil
	}
	if low, ok := hex4(p[6:]); ok {
		if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
			return utf8.AppendRune(out, full), 12, nil
		}
	}
	// Python's surrogateescape (PEP 383): a byte that was no UTF-8.
	if r >= 0xdc80 && r <= 0xdcff {
		return append(out, byte(r)), 6, nil
	}
	return utf8.AppendRune(out, utf8.RuneError), 6, nil
}

// hex4 decodes an escape of four hexadecimal digits.
func hex4(p []byte) (rune, bool) {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(p[2:6]), 16, 16)
	return rune(v), err == nil
}
