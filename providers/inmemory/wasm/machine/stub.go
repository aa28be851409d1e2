package machine

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// A stub is a module whose functions all fail, and the checksum of a whole module. The
// cache has the native code of the whole one in the place of the stub's, so that a later
// process neither reads nor validates any code.
type stub []byte

const (
	stubHead = "\x00asm\x01\x00\x00\x00" + "\x00\x29" + "\x08toolcell"
	stubSize = len(stubHead) + sha256.Size
	idCode   = 10
)

// stubOf returns the stub of a module that was rewritten.
func stubOf(code []byte) stub {
	sum := sha256.Sum256(code)
	out := append([]byte(stubHead), sum[:]...)
	for rest := code[8:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest[1:])
		section, body := rest[:1+n+int(size)], rest[1+n:]
		if rest = rest[len(section):]; section[0] != idCode {
			out = append(out, section...)
			continue
		}
		count, _ := binary.Uvarint(body)
		bodies := append(binary.AppendUvarint(nil, count), bytes.Repeat([]byte{3, 0, 0x00, 0x0b}, int(count))...)
		out = append(binary.AppendUvarint(append(out, idCode), uint64(len(bodies))), bodies...)
	}
	return out
}

// module returns the name of the whole module, "" where s is no stub.
func (s stub) module() string {
	if len(s) < stubSize || string(s[:len(stubHead)]) != stubHead {
		return ""
	}
	return hex.EncodeToString(s[len(stubHead):stubSize][:16])
}
