package gate

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/toolcell/toolcell/egress"
)

// A body with secrets, cut at every kind of place, has stars in their place and is
// otherwise what it was.
func TestMask(t *testing.T) {
	const secret = "aab-aaab-SECRET"
	m := newMasker(egress.Bearer("x", secret))
	for i := range 5000 {
		var b strings.Builder
		for b.Len() < 200 {
			b.WriteString([]string{secret, "aab-aa", "a", "SECRE", " ", "CRET"}[rand.IntN(6)])
		}
		body := b.String()
		want := []byte(body)
		for j := range body {
			for k := 0; j+gram <= len(body) && k+gram <= len(secret); k++ {
				if body[j:j+gram] == secret[k:k+gram] {
					copy(want[j:], "********")
				}
			}
		}
		var r io.Reader = strings.NewReader(body)
		switch i % 3 {
		case 1:
			r = iotest.OneByteReader(r)
		case 2:
			r = iotest.DataErrReader(iotest.HalfReader(r))
		}
		var out bytes.Buffer
		masked := &maskedBody{ReadCloser: io.NopCloser(r), m: m, trailer: new(http.Header)}
		_, err := io.CopyBuffer(struct{ io.Writer }{&out}, masked, make([]byte, 1+rand.IntN(60)))
		if err != nil || out.String() != string(want) {
			t.Fatalf("%v\n%s\n%s\n%s", err, body, out.String(), want)
		}
	}
}

// A credential that could not be recognized in an answer is not used.
func TestMaskShort(t *testing.T) {
	for c, ok := range map[*egress.Credential]bool{
		{Header: http.Header{"X": {"1234567"}}}: false, {Values: []string{"12345678", ""}}: false, {Header: http.Header{"X": {"12345678"}}}: true,
	} {
		if m := newMasker(*c); (m != nil) != ok {
			t.Errorf("%v: %t", c, m != nil)
		}
	}
	if m := newMasker(egress.Basic("x", "token-0123", "")); m == nil || strings.Contains(m.text("a token-0123"), "token") {
		t.Error("a token in the place of the user is not masked")
	}
}

// BenchmarkMask is what masking costs for each byte of an answer.
func BenchmarkMask(b *testing.B) {
	body := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog. "), 1<<14)
	m := newMasker(egress.Bearer("x", "sk-12345-ABCDEF-67890"))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r := &maskedBody{ReadCloser: io.NopCloser(bytes.NewReader(body)), m: m, trailer: new(http.Header)}
		if _, err := io.Copy(struct{ io.Writer }{io.Discard}, r); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzQuestion: no message of a program makes DNS fail, or answer more than a question.
func FuzzQuestion(f *testing.F) {
	f.Add([]byte{1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 'a', 4, 't', 'e', 's', 't', 0, 0, 1, 0, 1})
	g, err := New(&egress.Options{Policy: egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"*"}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { g.Close() })
	s := g.Session()
	f.Fuzz(func(t *testing.T, b []byte) {
		a := s.DNS(b)
		if a != nil && (len(a) > len(b)+16 || a[0] != b[0] || a[2]&0x80 == 0) {
			t.Errorf("%x: %x", b, a)
		}
	})
}

// FuzzSocks: no greeting of a program makes SOCKS5 fail or read beyond the request.
func FuzzSocks(f *testing.F) {
	f.Add([]byte("\x05\x01\x00\x05\x01\x00\x03\x08api.test\x01\xbb"))
	f.Fuzz(func(t *testing.T, b []byte) {
		host, _, err := readSocks(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(b), io.Discard})
		if err == nil && len(host) > 255 {
			t.Errorf("%q", host)
		}
	})
}

// FuzzHello: what is no TLS hello is refused, and what was read of it is put back.
func FuzzHello(f *testing.F) {
	f.Add([]byte{0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := newConn(bytesConn{Reader: bytes.NewReader(b)}, nil)
		_, _ = readHello(c)
		if got, _ := io.ReadAll(c.r); !bytes.Equal(got, b) {
			t.Errorf("%x: %x is left", b, got)
		}
	})
}

// A bytesConn is a connection from which bytes come.
type bytesConn struct {
	net.Conn
	io.Reader
}

func (c bytesConn) Read(b []byte) (int, error)      { return c.Reader.Read(b) }
func (bytesConn) SetReadDeadline(t time.Time) error { return nil }
