package kernel

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

var errPiece = errors.New("malformed piece of a spool")

// A spool reads the pieces in which a kernel gives what it spooled: STREAM:BASE64 for
// text, TYPE SIZE:BASE64 for the content of a message of SIZE bytes, which can come in
// several pieces, and "lost STREAM:BYTES" or "lost TYPE:BYTES" for what there was no
// room for. What belongs to no run in progress has "late " before it. A program can
// forge all of it.
type spool struct {
	max  int64 // bytes of a content
	text func(kind codeinterp.Kind, text []byte, late bool)
	show func(typ string, content []byte, late bool)
	lost func(kind codeinterp.Kind, n int64)

	name    string // of the content that is not whole yet, as it came
	late    bool   // that content
	size    int64  // of it, by the kernel's word
	rest    int64  // bytes of it that are to come
	content []byte // what has come of it, unless that is too large
}

// take reads pieces with ";" between them and returns how many bytes they have.
func (s *spool) take(pieces string) (size int, err error) {
	for piece := range strings.SplitSeq(pieces, ";") {
		n, err := s.piece(piece)
		if size += n; err != nil {
			return size, err
		}
	}
	return size, nil
}

func (s *spool) piece(piece string) (int, error) {
	whole, data, ok := strings.Cut(piece, ":")
	if !ok || s.rest > 0 && whole != s.name {
		return 0, errPiece
	}
	name, late := strings.CutPrefix(whole, "late ")
	if name, lost := strings.CutPrefix(name, "lost "); lost {
		n, err := strconv.ParseInt(data, 10, 64)
		if err == nil && n > 0 {
			s.lost(spooledKind(name), n)
		}
		return 0, err
	}
	p, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return 0, err
	}
	typ, size, shown := strings.Cut(name, " ")
	if !shown {
		s.text(StreamKind(name), p, late)
		return len(p), nil
	}
	if s.rest == 0 {
		s.size, err = strconv.ParseInt(size, 10, 64)
		if kind := spooledKind(typ); err != nil || s.size <= 0 || kind == codeinterp.Stdout || kind == codeinterp.Stderr {
			return 0, errPiece
		}
		s.name, s.late, s.rest = whole, late, s.size
	}
	return len(p), s.join(typ, p)
}

// join adds a piece of a content, and shows that once it is whole. Only what comes
// takes memory, whatever size it is said to have.
func (s *spool) join(typ string, p []byte) error {
	if len(p) == 0 || int64(len(p)) > s.rest {
		return errPiece
	}
	s.rest -= int64(len(p))
	if s.size <= s.max {
		s.content = append(s.content, p...)
	}
	if s.rest > 0 {
		return nil
	}
	content := s.content
	s.content = nil
	if s.size > s.max || wire.CheckMembers(typ, content) != nil {
		s.lost(spooledKind(typ), s.size)
		return nil
	}
	s.show(typ, content, s.late)
	return nil
}

// spooledKind is what a name in a spool stands for.
func spooledKind(name string) codeinterp.Kind {
	switch name {
	case "display_data", "update_display_data":
		return codeinterp.Display
	case "execute_result":
		return codeinterp.Value
	}
	return StreamKind(name)
}
