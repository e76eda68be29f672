package intercept

import (
	"bytes"
	_ "embed" // of the script
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// preload redirects the sockets of a Node program that are for hosts of the table to a listener of this server, and refuses others if the
// proxy is sealed. Node reads proxies from the environment since 22.21 and 24.5 only, and even then only for fetch and for http's own agents:
// the package ws, and with it ethers and viem, passes every agent by. A library such as undici would reach fetch alone, and an application's
// fetch is not the library's.
//
//go:embed preload.mjs
var preload string

// noProxy lists the hosts for which programs use no proxy.
const noProxy = "localhost,127.0.0.1,::1,.localhost"

// systemRoots lists where systems keep their trusted certificates in one file, as Go's crypto/x509 and OpenSSL look for it.
var systemRoots = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/cacert.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem", "/usr/local/etc/ssl/cert.pem", "/usr/local/share/certs/ca-root-nss.crt",
}

// Environment is what a program needs to use the proxy.
type Environment struct {
	Variables []string // NAME=value
	files     []*trustFile
}

// Close removes the files that the variables name.
func (e *Environment) Close() error {
	var errs []error
	for _, f := range e.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Environment returns the variables for a program with an environment of its own: the proxy at a URL, and certificates in files that end with
// this process. Node's redirected sockets go to a port of loopback.
func (p *Proxy) Environment(proxyURL string, direct int, environ []string) (*Environment, error) {
	own := func(name string) (value string) {
		for _, pair := range environ {
			if n, v, _ := strings.Cut(pair, "="); n == name {
				value = v
			}
		}
		return value
	}
	certificate, err := p.Certificate()
	if err != nil {
		return nil, err
	}
	var contents [2][]byte
	for i, names := range [][]string{extraVariables, rootVariables} {
		contents[i] = certificate
		if i == 1 && own(names[0]) == "" {
			if contents[i], err = withFile(certificate, systemFile()); err != nil {
				return nil, fmt.Errorf("the system's certificates: %w", err)
			}
		}
		var read []string
		for _, name := range names {
			path := own(name)
			if slices.Contains(read, path) {
				continue
			}
			if contents[i], err = withFile(contents[i], path); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			read = append(read, path)
		}
	}
	e := &Environment{}
	var paths [2]string
	for i, content := range contents {
		f, err := writeTrust(content)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("certificates for the command: %w", err), e.Close())
		}
		e.files = append(e.files, f)
		paths[i] = f.path
	}
	at, err := url.Parse(proxyURL)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	port, _ := strconv.Atoi(at.Port()) // of our own listener
	script, err := json.Marshal(map[string]any{"hosts": p.Names(), "direct": direct, "proxy": map[string]any{"host": at.Hostname(), "port": port}, "sealed": p.options.Sealed, "allow": append([]string{}, p.options.Allow...)})
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	nodeOptions := strings.TrimSpace(own("NODE_OPTIONS") + " --import=data:text/javascript," + url.PathEscape("const plan = "+string(script)+";\n"+preload))
	add := func(value string, names ...string) {
		for _, name := range names {
			e.Variables = append(e.Variables, name+"="+value)
		}
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		add(proxyURL, name, strings.ToLower(name)) // curl reads http_proxy only, and others prefer it
	}
	add(noProxy, "NO_PROXY", "no_proxy")
	add(paths[0], extraVariables...)
	add(paths[1], rootVariables...)
	add("1", "NODE_USE_ENV_PROXY")
	add(nodeOptions, "NODE_OPTIONS")
	add(proxyURL, ProxyVariable)
	add(strings.Join(p.ChromiumFlags(proxyURL), " "), ChromiumVariable)
	return e, nil
}

// Variables of our own among them.
const (
	ProxyVariable    = "SNOWGLOBE_PROXY_URL"
	ChromiumVariable = "SNOWGLOBE_CHROMIUM_FLAGS"
)

// Variables that name certificates to trust: besides those of the program itself, and instead of the system's. A user's own files are kept in
// both: they have a company's proxy, or another local service.
var (
	extraVariables = []string{"NODE_EXTRA_CA_CERTS", "DENO_CERT"}
	rootVariables  = []string{"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO"}
)

// systemFile returns the file with the system's trusted certificates, or "" for none.
func systemFile() string {
	for _, path := range systemRoots {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// withFile returns certificates followed by those of a file, if it has a name. A folder, which only Python's requests takes, is left out.
func withFile(certificate []byte, path string) ([]byte, error) {
	if path == "" {
		return certificate, nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return certificate, nil
	}
	text, err := os.ReadFile(path)
	return append(append(bytes.Clone(certificate), '\n'), text...), err
}
