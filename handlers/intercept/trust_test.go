//go:build unix

package intercept

import (
	"bufio"
	"bytes"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// trustOwner is a variable that makes this test binary own certificates until it is killed.
const trustOwner = "INTERCEPT_TRUST_OWNER"

func TestMain(m *testing.M) {
	write := map[string]func([]byte) (*trustFile, error){"watched": watchedFile, "system": writeTrust}[os.Getenv(trustOwner)]
	if write == nil {
		os.Exit(m.Run())
	}
	f, err := write([]byte("certificates"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(f.path)
	time.Sleep(time.Hour)
	_ = f.Close() // keeps it from being collected earlier
}

// TestCertificatesEndWithTheirOwner: other processes read them, and they are gone once the process that wrote them was killed.
func TestCertificatesEndWithTheirOwner(t *testing.T) {
	for _, how := range []string{"watched", "system"} {
		folder := t.TempDir()
		owner := exec.Command(os.Args[0])
		owner.Env = append(os.Environ(), trustOwner+"="+how, "TMPDIR="+folder)
		out, err := owner.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := owner.Start(); err != nil {
			t.Fatal(err)
		}
		path, err := bufio.NewReader(out).ReadString('\n')
		path = strings.TrimSpace(path)
		if got, catErr := exec.Command("cat", path).Output(); err != nil || catErr != nil || string(got) != "certificates" {
			t.Fatalf("%s: %s: %q %v %v", how, path, got, err, catErr)
		}
		if err := owner.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = owner.Wait() // it was killed
		gone := func() bool {
			left, _ := os.ReadDir(folder)
			_, err := os.Stat(path)
			return len(left) == 0 && os.IsNotExist(err)
		}
		for end := time.Now().Add(20 * time.Second); !gone(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %s is left", how, path)
			}
		}
	}
}

func TestCertificatesAreRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	expired, other := filepath.Join(os.TempDir(), "snowglobe-ca-1.pem"), filepath.Join(os.TempDir(), "other.pem")
	for _, path := range []string{expired, other} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-validity-time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	for _, write := range []func([]byte) (*trustFile, error){watchedFile, writeTrust} {
		f, err := write([]byte("certificates"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.path); err != nil || !bytes.Equal(got, []byte("certificates")) {
			t.Errorf("%q %v", got, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(f.path); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", f.path, err)
		}
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) != 1 || left[0].Name() != "other.pem" {
		t.Error(left)
	}
}

// TestEnvironmentKeepsWhatTheUserHas: the user's own certificates and Node options stay.
func TestEnvironmentKeepsWhatTheUserHas(t *testing.T) {
	p := run(t, Options{Sealed: true, Allow: []string{"*.example.com"}})
	own := filepath.Join(t.TempDir(), "own.pem")
	if err := os.WriteFile(own, []byte("OWN"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := p.Environment(p.url, 4, []string{"NODE_EXTRA_CA_CERTS=" + own, "SSL_CERT_FILE=" + own, "NODE_OPTIONS=--no-warnings", "HTTP_PROXY=http://outer"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, pair := range e.Variables {
		name, value, _ := strings.Cut(pair, "=")
		got[name] = value
	}
	for _, name := range []string{"HTTP_PROXY", "https_proxy", "ALL_PROXY", ProxyVariable} {
		if got[name] != p.url {
			t.Errorf("%s=%s", name, got[name])
		}
	}
	certificate, err := p.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"NODE_EXTRA_CA_CERTS", "DENO_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"} {
		if text, err := os.ReadFile(got[name]); err != nil || !bytes.HasPrefix(text, certificate) || !bytes.HasSuffix(text, []byte("\nOWN")) {
			t.Errorf("%s=%s: %v %s", name, got[name], err, text)
		}
	}
	if !strings.HasPrefix(got["NODE_OPTIONS"], "--no-warnings --import=data:text/javascript,const%20plan") || strings.ContainsAny(got["NODE_OPTIONS"][14:], " \"'\\\n") {
		t.Error(got["NODE_OPTIONS"])
	}
	for name, in := range map[string]string{"CURL_CA_BUNDLE": "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE": "SSL_CERT_FILE", "GIT_SSL_CAINFO": "CURL_CA_BUNDLE", "DENO_CERT": "NODE_EXTRA_CA_CERTS"} {
		e, err := p.Environment(p.url, 4, []string{name + "=" + own, "SSL_CERT_DIR=/x", "REQUESTS_CA_BUNDLE=" + map[bool]string{true: own, false: t.TempDir()}[name == "REQUESTS_CA_BUNDLE"]})
		if err != nil {
			t.Fatal(name, err)
		}
		for _, pair := range e.Variables {
			variable, value, _ := strings.Cut(pair, "=")
			if text, err := os.ReadFile(value); variable == in && (err != nil || !bytes.HasSuffix(text, []byte("\nOWN"))) {
				t.Errorf("own %s is not in %s: %v", name, in, err)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if flags := strings.Fields(got[ChromiumVariable]); len(flags) != 4 || flags[0] != "--proxy-server="+p.url {
		t.Error(flags)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if e, err = p.Environment("http://[::1]:5", 4, nil); err != nil {
		t.Fatal(err)
	}
	if script, err := url.PathUnescape(strings.Join(e.Variables, " ")); err != nil || !strings.Contains(script, `"proxy":{"host":"::1","port":5}`) {
		t.Error("the script reports to another address than the proxy's", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CURL_CA_BUNDLE"} {
		if _, err := p.Environment(p.url, 4, []string{name + "=" + own + ".none"}); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Error(name, err)
		}
	}
}
