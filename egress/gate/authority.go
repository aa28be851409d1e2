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
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/egress"
)

const (
	day        = 24 * time.Hour
	caDays     = 3650
	leafDays   = 30
	maxLeaves  = 1024
	serialBits = 120
)

// An authority signs for the hosts that are inspected. Its certificate permits no
// others (RFC 5280, section 4.2.1.10), unless a rule inspects every host.
type authority struct {
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
	leafKey *ecdsa.PrivateKey

	mu     sync.Mutex
	leaves map[string]leaf
}

type leaf struct {
	config *tls.Config
	made   time.Time
}

func newAuthority(p *egress.Policy) (*authority, error) {
	a := &authority{leaves: map[string]leaf{}}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	if a.leafKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	t, err := template("network policy of this process", caDays)
	if err != nil {
		return nil, err
	}
	t.IsCA, t.BasicConstraintsValid, t.MaxPathLenZero, t.KeyUsage = true, true, true, x509.KeyUsageCertSign
	constrain(t, p)
	der, err := x509.CreateCertificate(rand.Reader, t, t, a.key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	a.cert, err = x509.ParseCertificate(der)
	return a, err
}

// constrain limits what a certificate may sign to the inspected hosts of a policy.
func constrain(t *x509.Certificate, p *egress.Policy) {
	for i := range p.Rules {
		r := &p.Rules[i]
		if !r.Inspects() {
			continue
		}
		for _, h := range r.Hosts {
			if h == "*" {
				t.PermittedDNSDomains, t.PermittedIPRanges = nil, nil
				return
			}
			if a, err := netip.ParseAddr(h); err == nil {
				t.PermittedIPRanges = append(t.PermittedIPRanges, &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(a.BitLen(), a.BitLen())})
			} else {
				t.PermittedDNSDomains = append(t.PermittedDNSDomains, strings.TrimPrefix(h, "*."))
			}
		}
	}
	t.PermittedDNSDomainsCritical = true
	if t.PermittedDNSDomains == nil {
		t.ExcludedDNSDomains = []string{""}
	}
	if t.PermittedIPRanges == nil {
		t.ExcludedIPRanges = []*net.IPNet{{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}, {IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}}
	}
}

func template(name string, days int) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-day), NotAfter: now.Add(time.Duration(days) * day),
	}, err
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// rootFiles are where systems keep the certificates that they trust.
var rootFiles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}

// WriteBundle writes the system's certificates and the gate's own to a file in a new
// directory below temp, for programs that read it, and returns its path; "" if no host is
// inspected. The directory is the caller's.
func (g *Gate) WriteBundle(temp string) (string, error) {
	own := g.Certificate()
	if own == nil {
		return "", nil
	}
	var roots []byte
	for _, f := range rootFiles {
		var err error
		if roots, err = os.ReadFile(f); err == nil {
			break
		}
	}
	dir, err := os.MkdirTemp(temp, "toolcell-certificates-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "bundle.pem")
	if err := errors.Join(os.WriteFile(file, append(append(roots, '\n'), own...), 0o644), os.Chmod(dir, 0o755)); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return file, nil
}

// config returns the server's side of TLS for a host.
func (a *authority) config(host string) (*tls.Config, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l, ok := a.leaves[host]; ok && time.Since(l.made) < leafDays/2*day {
		return l.config, nil
	}
	t, err := template(host[:min(len(host), 64)], leafDays)
	if err != nil {
		return nil, err
	}
	t.KeyUsage, t.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if ip := net.ParseIP(host); ip != nil {
		t.Subject.CommonName = "" // OpenSSL takes it for a name where there is no other
		t.IPAddresses = []net.IP{ip}
	} else {
		t.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, a.leafKey.Public(), a.key)
	if err != nil {
		return nil, err
	}
	if len(a.leaves) >= maxLeaves {
		clear(a.leaves)
	}
	c := &tls.Config{
		NextProtos:   []string{"h2", "http/1.1"},
		Certificates: []tls.Certificate{{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: a.leafKey}},
	}
	a.leaves[host] = leaf{c, time.Now()}
	return c, nil
}
