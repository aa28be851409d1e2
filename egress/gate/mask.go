package gate

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/egress"
)

// gram is how many bytes of a secret, in a row, are recognized.
const gram = 8

// A masker writes stars over a credential, and pieces of it, in answers. It knows the
// credential as it is, in percent, hexadecimal and base64 encoding.
type masker struct {
	grams []string             // sorted
	pairs [1 << 16 / 64]uint64 // a bit for each two bytes that a gram begins with
}

// newMasker returns nil if a part of the credential is too short.
func newMasker(c egress.Credential) *masker {
	values := c.Values
	if len(values) == 0 {
		for _, list := range c.Header {
			values = append(values, list...)
		}
	}
	m := &masker{}
	for _, v := range values {
		if len(v) < gram {
			return nil
		}
		for _, text := range []string{v, url.QueryEscape(v), url.PathEscape(v), hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v)))} {
			m.add(text)
		}
		for shift := range 3 {
			m.addBase64(v, shift)
		}
	}
	slices.Sort(m.grams)
	m.grams = slices.Compact(m.grams)
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
	for i := range len(v) - gram + 1 {
		pair := int(v[i])<<8 | int(v[i+1])
		m.pairs[pair/64] |= 1 << (pair % 64)
		m.grams = append(m.grams, v[i:i+gram])
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
		if _, ok := slices.BinarySearch(m.grams, string(raw[i:i+gram])); ok {
			star(i, i+gram)
		}
	}
	return stars
}

// tail is how many bytes at b's end could be the beginning of what is masked.
func (m *masker) tail(b []byte) int {
	for n := min(len(b), gram-1); n > 0; n-- {
		end := string(b[len(b)-n:])
		if i, _ := slices.BinarySearch(m.grams, end); i < len(m.grams) && strings.HasPrefix(m.grams[i], end) {
			return n
		}
	}
	return 0
}

func (m *masker) response(r *http.Response) {
	m.header(r.Header)
	m.header(r.Trailer)
	r.Status = m.text(r.Status)
	r.Body = &maskedBody{ReadCloser: r.Body, m: m, trailer: &r.Trailer}
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
