package intercept

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"strings"
	"testing"
	"time"
)

var tableNames = []string{"api.avax.network", "rpc.example.com"}

// verify verifies a leaf like a client that trusts only one authority.
func verify(authority, leaf *x509.Certificate, name string) error {
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name})
	return err
}

func TestCertificatesAreForTheTableOnly(t *testing.T) {
	a, err := newAuthority(tableNames)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tableNames {
		c, err := a.leaf(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(a.certificate, c.Leaf, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, _ := a.leaf(name); again != c {
			t.Errorf("%s has two certificates", name)
		}
	}
	for _, name := range []string{"example.com", "avax.network", "127.0.0.1", ""} {
		if _, err := a.leaf(name); err == nil {
			t.Errorf("there is a certificate for %q", name)
		}
	}
	// Not even the authority's key makes clients trust another name.
	for _, forged := range []x509.Certificate{
		{DNSNames: []string{"example.com"}}, {DNSNames: []string{"avax.network"}}, {DNSNames: []string{"api.avax.network", "example.com"}},
		{IPAddresses: []net.IP{net.IPv4(1, 1, 1, 1)}}, {IPAddresses: []net.IP{net.ParseIP("2606:4700::1111")}},
	} {
		forged.Subject, forged.NotBefore, forged.NotAfter = pkix.Name{CommonName: "x"}, a.certificate.NotBefore, a.certificate.NotAfter
		forged.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		leaf, _, err := a.sign(&forged, a.certificate, a.leafKey)
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(a.certificate, leaf, ""); err == nil || !strings.Contains(err.Error(), "authority is not authorized") && !strings.Contains(err.Error(), "excluded") && !strings.Contains(err.Error(), "not permitted") {
			t.Errorf("%v %v: %v", forged.DNSNames, forged.IPAddresses, err)
		}
	}
	if !a.certificate.PermittedDNSDomainsCritical {
		t.Error("a client that does not know name constraints would trust every name")
	}
	if left := time.Until(a.certificate.NotAfter); left > validity {
		t.Errorf("valid for %s", left)
	}
}

// TestRenewal: a server that runs for days has valid certificates, trusted by a client with the authority's first one.
func TestRenewal(t *testing.T) {
	a, err := newAuthority(tableNames)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.renew(time.Now().Add(-validity * 2 / 3)); err != nil { // as for a server that last renewed it then
		t.Fatal(err)
	}
	first := a.certificate
	if _, err := a.pem(); err != nil {
		t.Fatal(err)
	}
	if a.certificate == first || time.Until(a.certificate.NotAfter) < validity*3/4 {
		t.Errorf("it was not renewed: valid until %s", a.certificate.NotAfter)
	}
	second := a.certificate
	if _, err := a.pem(); err != nil || a.certificate != second {
		t.Errorf("it was renewed too early: %v", err)
	}
	c, err := a.leaf(tableNames[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, authority := range []*x509.Certificate{first, second} {
		if err := verify(authority, c.Leaf, tableNames[0]); err != nil {
			t.Error(err)
		}
	}
}
