package intercept

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"sync"
	"time"
)

// validity bounds what a certificate that escapes is good for. The longest jobs of CI services end before.
const validity = 24 * time.Hour

// skew is how far a client's clock may be behind.
const skew = time.Hour

// authority issues the certificates of one run. Its keys exist only in memory. Its certificate permits the hosts of the table and nothing
// else (RFC 5280, section 4.2.1.10), so a client that trusts it refuses every other name, even one that the key has signed.
type authority struct {
	names         []string // in lower case
	key, leafKey  *ecdsa.PrivateKey
	fingerprint   string // of the leaves' key, as Chromium takes it
	mu            sync.Mutex
	certificate   *x509.Certificate
	leaves        map[string]*tls.Certificate
	serialNumbers *big.Int // exclusive bound
}

func newAuthority(names []string) (*authority, error) {
	a := &authority{names: names, serialNumbers: new(big.Int).Lsh(big.NewInt(1), 127)}
	var errs [2]error
	a.key, errs[0] = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.leafKey, errs[1] = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(a.leafKey.Public())
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(public)
	a.fingerprint = base64.StdEncoding.EncodeToString(sum[:])
	a.mu.Lock()
	defer a.mu.Unlock()
	return a, a.renew(time.Now())
}

// renew issues the authority's certificate, again with the same key, so that clients which have the earlier one trust new leaves until it
// expires.
func (a *authority) renew(now time.Time) error {
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "Snowglobe, for one run"},
		NotBefore: now.Add(-skew), NotAfter: now.Add(validity),
		KeyUsage: x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: a.names,
		ExcludedIPRanges: []*net.IPNet{{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}, {IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}},
	}
	certificate, _, err := a.sign(template, template, a.key)
	a.certificate, a.leaves = certificate, map[string]*tls.Certificate{}
	return err
}

// sign issues a certificate for a key.
func (a *authority) sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey) (*x509.Certificate, []byte, error) {
	var err error
	if template.SerialNumber, err = rand.Int(rand.Reader, a.serialNumbers); err != nil {
		return nil, nil, err
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(raw)
	return certificate, raw, err
}

// current returns the authority's certificate, which it renews halfway.
func (a *authority) current() (*x509.Certificate, error) {
	if now := time.Now(); a.certificate.NotAfter.Sub(now) < validity/2 {
		if err := a.renew(now); err != nil {
			return nil, err
		}
	}
	return a.certificate, nil
}

// leaf returns the certificate of a host of the table.
func (a *authority) leaf(host string) (*tls.Certificate, error) {
	if !slices.Contains(a.names, host) {
		return nil, fmt.Errorf("%.200q is not a host that this world answers for", host)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	parent, err := a.current()
	if err != nil {
		return nil, err
	}
	if c := a.leaves[host]; c != nil {
		return c, nil
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, NotBefore: parent.NotBefore, NotAfter: parent.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	leaf, raw, err := a.sign(template, parent, a.leafKey)
	if err != nil {
		return nil, err
	}
	c := &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: a.leafKey, Leaf: leaf}
	a.leaves[host] = c
	return c, nil
}

// pem returns the authority's certificate for a file.
func (a *authority) pem() ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, err := a.current()
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}), nil
}
