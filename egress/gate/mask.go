package gate

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolcell/toolcell/egress"
)

// gram is how many bytes of a secret, in a row, are recognized.
const gram = 8

// A masker writes stars over a credential, and pieces of it, in answers. It knows the
// credential as it is, in percent, hexadecimal and base64 encoding.
type masker struct {
	grams  map[[gram]byte]struct{}
	pairs  [1 << 16 / 64]uint64 // a bit for each two bytes that a gram begins with
	starts map[string]struct{}  // what a gram begins with, of 1 to gram-1 bytes
	short  [][]byte             // secrets shorter than a gram
}

func newMasker(c egress.Credential) *masker {
	m := &masker{grams: map[[gram]byte]struct{}{}, starts: map[string]struct{}{}}
	values := c.Values
	if len(values) == 0 {
		for _, list := range c.Header {
			values = append(values, list...)
		}
	}
	for _, v := range values {
		m.add(v)
		m.add(url.QueryEscape(v))
		m.add(url.PathEscape(v))
		m.add(hex.EncodeToString([]byte(v)))
		m.add(strings.ToUpper(hex.EncodeToString([]byte(v))))
		for shift := range 3 {
			m.addBase64(v, shift)
		}
	}
	return m
}

// addBase64 adds what base64 makes of v behind shift other bytes: the letters that
// depend on v alone.
func (m *masker) addBase64(v string, shift int) {
	whole := (len(v) + shift) / 3 * 4
	first := []int{0, 2, 3}[shift]
	if whole <= first {
		return
	}
	s := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + v))[first:whole]
	m.add(s)
	m.add(strings.NewReplacer("+", "-", "/", "_").Replace(s))
}

func (m *masker) add(v string) {
	if len(v) < gram {
		if len(v) >= 4 {
			m.short = append(m.short, []byte(v))
			m.addStarts(v, len(v))
		}
		return
	}
	for i := range len(v) - gram + 1 {
		g := v[i : i+gram]
		m.grams[[gram]byte([]byte(g))] = struct{}{}
		pair := int(g[0])<<8 | int(g[1])
		m.pairs[pair/64] |= 1 << (pair % 64)
		m.addStarts(g, gram)
	}
}

func (m *masker) addStarts(v string, n int) {
	for i := 1; i < n; i++ {
		m.starts[v[:i]] = struct{}{}
	}
}

// mask writes stars over what it knows in b, and over the first bytes of it, up to
// stars. It returns where the last stars end.
func (m *masker) mask(b []byte, stars int) int {
	raw := bytes.Clone(b)
	star := func(from, to int) {
		for i := from; i < to; i++ {
			b[i] = '*'
		}
		stars = max(stars, to)
	}
	star(0, min(stars, len(b)))
	for i := 0; i+gram <= len(raw); i++ {
		if pair := int(raw[i])<<8 | int(raw[i+1]); m.pairs[pair/64]&(1<<(pair%64)) == 0 {
			continue
		}
		if _, ok := m.grams[[gram]byte(raw[i:i+gram])]; ok {
			star(i, i+gram)
		}
	}
	for _, s := range m.short {
		for i := bytes.Index(raw, s); i >= 0; {
			star(i, i+len(s))
			j := bytes.Index(raw[i+1:], s)
			if j < 0 {
				break
			}
			i += 1 + j
		}
	}
	return stars
}

// tail is how many bytes at b's end could be the beginning of what is masked.
func (m *masker) tail(b []byte) int {
	for n := min(len(b), gram-1); n > 0; n-- {
		if _, ok := m.starts[string(b[len(b)-n:])]; ok {
			return n
		}
	}
	return 0
}

func (m *masker) response(r *http.Response) {
	m.header(r.Header)
	m.header(r.Trailer)
	r.Status = m.text(r.Status)
	body := &maskedBody{ReadCloser: r.Body, m: m, trailer: &r.Trailer}
	if rw, ok := r.Body.(io.ReadWriteCloser); ok && r.StatusCode == http.StatusSwitchingProtocols {
		r.Body = struct {
			io.Reader
			io.Writer
			io.Closer
		}{body, rw, rw}
		return
	}
	r.Body = body
}

func (m *masker) text(s string) string {
	b := []byte(s)
	m.mask(b, 0)
	return string(b)
}

// error returns err, or one with the masked text if that has a secret: errors of HTTP
// quote what a server has sent. A nil m has no secrets.
func (m *masker) error(err error) error {
	if m == nil {
		return err
	}
	if s := m.text(err.Error()); s != err.Error() {
		return errors.New(s)
	}
	return err
}

func (m *masker) header(h http.Header) {
	for name, list := range h {
		for i, v := range list {
			list[i] = m.text(v)
		}
		if m.text(name) != name {
			delete(h, name)
		}
	}
}

// A maskedBody masks a stream. It holds back what could be the beginning of a secret.
type maskedBody struct {
	io.ReadCloser
	m       *masker
	trailer *http.Header
	buf     []byte // read; the first ready bytes are masked, the others are not
	ready   int
	stars   int // bytes behind the ready ones that are to be masked
	err     error
	chunk   []byte // what buf is part of
}

const bodyChunk = 32 << 10

func (r *maskedBody) Read(p []byte) (int, error) {
	for r.ready == 0 && r.err == nil {
		r.fill()
	}
	n := copy(p, r.buf[:r.ready])
	r.buf, r.ready = r.buf[n:], r.ready-n
	if n == 0 && len(p) > 0 {
		return 0, r.err
	}
	return n, nil
}

func (r *maskedBody) fill() {
	if r.chunk == nil {
		r.chunk = make([]byte, bodyChunk)
	}
	held := copy(r.chunk, r.buf)
	n, err := r.ReadCloser.Read(r.chunk[held:])
	r.buf, r.err = r.chunk[:held+n], err
	r.ready = len(r.buf)
	if err == nil {
		r.ready -= r.m.tail(r.buf)
	} else if r.m.header(*r.trailer); err != io.EOF {
		r.err = r.m.error(err)
	}
	rest := bytes.Clone(r.buf[r.ready:])
	end := r.m.mask(r.buf, r.stars)
	copy(r.buf[r.ready:], rest)
	r.stars = max(0, end-r.ready)
}
