package gate

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"time"
)

// Replies of SOCKS5 (RFC 1928, section 6).
const (
	socksDone       = 0
	socksNotAllowed = 2
	socksNoCommand  = 7
)

// socks answers SOCKS5 without authentication; the only command is CONNECT.
func (s *Session) socks(c *conn) {
	_ = c.SetReadDeadline(time.Now().Add(helloTime))
	host, port, err := readSocks(c)
	_ = c.SetReadDeadline(time.Time{})
	ctx, cancel := context.WithTimeout(s.ctx, dialTime)
	defer cancel()
	t, err := s.settle(ctx, "socks5", host, port, err)
	if err != nil {
		_, _ = c.Write(socksReply(socksNotAllowed))
		_ = c.Close()
		return
	}
	s.established(c, t, "socks5", socksReply(socksDone))
}

func socksReply(code byte) []byte { return []byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0} }

func readSocks(c io.ReadWriter) (host string, port int, err error) {
	buf := make([]byte, 256)
	read := func(n int) []byte {
		if err == nil {
			_, err = io.ReadFull(c, buf[:n])
		}
		return buf[:n]
	}
	read(int(read(2)[1]))
	if err == nil {
		_, err = c.Write([]byte{5, 0}) // no authentication
	}
	head := read(4)
	if err != nil {
		return "", 0, err
	}
	if head[0] != 5 || head[1] != 1 {
		_, _ = c.Write(socksReply(socksNoCommand))
		return "", 0, errors.New("SOCKS5 is answered for CONNECT only")
	}
	switch head[3] {
	case 1, 4:
		if a, ok := netip.AddrFromSlice(read(4 * int(head[3]))); ok {
			host = a.String()
		}
	case 3:
		host = string(read(int(read(1)[0])))
	default:
		return "", 0, errors.New("SOCKS5 with an unknown kind of address")
	}
	return host, int(binary.BigEndian.Uint16(read(2))), err
}
