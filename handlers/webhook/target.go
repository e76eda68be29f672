package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Targets states which hosts webhooks may call: this machine, and the hosts that the user named.
type Targets struct {
	Hosts []string // names or addresses in lower case; * for any
}

// NewClient makes a client that calls only the targets, follows no redirects and uses no proxy. It checks a name's address when it
// connects, because the name may have had another one before.
func (t Targets) NewClient(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: t.dial, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: timeout,
			MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
		},
	}
}

func (t Targets) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{}
	if !t.named(host) {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().Unmap().IsLoopback() {
				return fmt.Errorf("%s leads to %s, which is not this machine: name it with --webhook-hosts", host, address)
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}

func (t Targets) named(host string) bool {
	return slices.Contains(t.Hosts, "*") || slices.Contains(t.Hosts, strings.ToLower(strings.TrimSuffix(host, ".")))
}

// maxURL is the longest URL of a webhook.
const maxURL = 2048

var errURL = errors.New("expected an http or https URL")

// Check returns an error for a target that may not be called. It does not resolve names: a foreign name must not lead to this machine either.
func (t Targets) Check(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errURL
	}
	switch {
	case u.User != nil:
		return errors.New("webhooks cannot send a user and password: expected a URL without them; put a secret into the path or the query")
	case u.Fragment != "":
		return errors.New("webhooks cannot send a fragment: expected a URL without #")
	case len(text) > maxURL:
		return fmt.Errorf("expected a URL of at most %d bytes", maxURL)
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || port == 0) {
		return fmt.Errorf("the port %.20s does not exist: expected 1 to 65535", u.Port())
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if t.named(host) || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return nil
	}
	if at, err := netip.ParseAddr(host); err == nil && at.Unmap().IsLoopback() {
		return nil
	}
	return fmt.Errorf("%.100s is not this machine; start the server with --webhook-hosts %[1]s to let it call there", host)
}
