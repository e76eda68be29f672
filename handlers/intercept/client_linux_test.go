package intercept

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientsRefuseOtherNames: programs with other TLS libraries trust the authority for its table, and refuse another name that its key signed.
func TestClientsRefuseOtherNames(t *testing.T) {
	a, err := newAuthority(tableNames)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := func(name string) (port string) {
		template := &x509.Certificate{Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: a.certificate.NotBefore, NotAfter: a.certificate.NotAfter,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true}
		_, raw, err := a.sign(template, a.certificate, a.leafKey)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: a.leafKey}}}
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // clients break off the connection
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	}
	for _, c := range []struct{ program, script string }{
		{"curl", `curl -sS --noproxy '*' --cacert "$FILE" --resolve "$NAME:$PORT:127.0.0.1" "https://$NAME:$PORT/"`},
		{"python3", `python3 -c '
import os, socket, ssl
e = os.environ
ssl.create_default_context(cafile=e["FILE"]).wrap_socket(socket.create_connection(("127.0.0.1", int(e["PORT"]))), server_hostname=e["NAME"])'`},
		{"node", `NODE_EXTRA_CA_CERTS="$FILE" node -e '
const { NAME, PORT } = process.env;
require("node:tls").connect({ host: "127.0.0.1", port: PORT, servername: NAME }, function () { this.end() })'`},
	} {
		if _, err := exec.LookPath(c.program); err != nil {
			t.Logf("without %s, which is not here", c.program)
			continue
		}
		for name, trusted := range map[string]bool{tableNames[0]: true, "example.com": false, "avax.network": false} {
			run := exec.Command("sh", "-c", c.script)
			run.Env = append(os.Environ(), "FILE="+file, "NAME="+name, "PORT="+serve(name))
			if out, err := run.CombinedOutput(); (err == nil) != trusted {
				t.Errorf("%s trusts a certificate for %s: %t\n%s", c.program, name, err == nil, out)
			} else if !trusted && !strings.Contains(string(out), "permitted subtree violation") {
				t.Errorf("%s refuses %s for another reason: %s", c.program, name, out)
			}
		}
	}
}
