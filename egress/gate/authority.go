package gate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	day        = 24 * time.Hour
	caDays     = 3650
	leafDays   = 30
	serialBits = 120
)

// An authority signs for the hosts that are inspected, for each connection anew. Its keys
// are in this process's memory only.
type authority struct {
	cert         *x509.Certificate
	key, leafKey *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	a := &authority{key: key, cert: template("network policy of this process", caDays)}
	a.cert.IsCA, a.cert.BasicConstraintsValid, a.cert.MaxPathLenZero, a.cert.KeyUsage = true, true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, key.Public(), key)
	if err != nil {
		return nil, err
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	a.leafKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return a, err
}

func template(name string, days int) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits)) // which never fails
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-day), NotAfter: now.Add(time.Duration(days) * day),
	}
}

// certificate returns one for the host that a connection leads to.
func (a *authority) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	host := hello.Conn.(*conn).target.Load().host
	t := template(host[:min(len(host), 64)], leafDays)
	t.KeyUsage, t.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if ip := net.ParseIP(host); ip != nil {
		t.Subject.CommonName = "" // OpenSSL takes it for a name where there is no other
		t.IPAddresses = []net.IP{ip}
	} else {
		t.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, a.leafKey.Public(), a.key)
	return &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: a.leafKey}, err
}

// Certificate returns the certificate, in PEM, of the authority that signs for the
// inspected hosts, which programs must trust; nil if no host is inspected.
func (g *Gate) Certificate() []byte {
	if g.ca == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.ca.cert.Raw})
}

// rootFiles are where systems keep the certificates that they trust.
var rootFiles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}

// WriteBundle writes the system's certificates and the gate's own to a file in a new
// directory below temp, for programs that read it, and returns the directory; "" if no
// host is inspected. Environ names the file, and Close removes the directory.
func (g *Gate) WriteBundle(temp string) (dir string, err error) {
	own := g.Certificate()
	if own == nil {
		return "", nil
	}
	var roots []byte
	for _, f := range rootFiles {
		if roots, err = os.ReadFile(f); err == nil {
			break
		}
	}
	if dir, err = os.MkdirTemp(temp, "toolcell-certificates-"); err != nil {
		return "", err
	}
	g.bundle = filepath.Join(dir, "bundle.pem")
	return dir, errors.Join(os.WriteFile(g.bundle, append(append(roots, '\n'), own...), 0o644), os.Chmod(dir, 0o755))
}
