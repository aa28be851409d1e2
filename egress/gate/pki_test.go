package gate_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// certificate returns a self-signed certificate for names, and adds it to roots.
func certificate(t *testing.T, roots *x509.CertPool, names ...string) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// converse sends the parts, waiting for an answer between two of them, and
// returns all answers.
func converse(t *testing.T, c net.Conn, parts ...string) string {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	var all strings.Builder
	buf := make([]byte, 64<<10)
	for i, p := range parts {
		if _, err := io.WriteString(c, p); err != nil {
			break
		}
		if i < len(parts)-1 {
			n, _ := c.Read(buf)
			all.Write(buf[:n])
		}
	}
	// net/http cancels a request whose client has ended its side.
	if w, ok := c.(interface{ CloseWrite() error }); ok && strings.HasPrefix(parts[len(parts)-1], "\x00") {
		_ = w.CloseWrite()
	}
	_, _ = io.Copy(&all, c)
	return all.String()
}
