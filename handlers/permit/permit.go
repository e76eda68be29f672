// Package permit decides who may change the world. Every interface asks it before calling a method or an operation:
//
//	Read               any client and any page of the web may
//	SignedTransaction  anyone may send one, because its signature proves the sender
//	Payment            personas pay any account: programs, and pages that may control the world; on a Public server the operation itself limits
//	                   payments
//	Control            everything else that changes the world: no page save those of loopback, of this server's own address and of --allow-origin, and
//	                   nobody when the server listens beyond loopback, unless --allow-control is given
//
// A JSON-RPC method has the class that [Of] derives from its name, so a new method is covered without further work; a REST operation states
// its own (rest.Operation.Class). The methods themselves check nothing: package node/rpc rejects a call before it runs, including members
// of batches and WebSocket messages.
package permit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Class is the kind of permission that a request needs.
type Class int

// The classes, in ascending order of power.
const (
	Read Class = iota
	SignedTransaction
	Payment
	Control
)

// Rule is the user's choice. The zero value, like a nil Rule, is the rule of a server on loopback without flags.
type Rule struct {
	Origins []string // of --allow-origin: origins in ParseOrigin's form, or "*"
	Exposed bool     // the server listens beyond loopback
	Control bool     // --allow-control: clients beyond loopback may control it
}

// code is the JSON-RPC error code for a call that the client may not make: EIP-1193, "unauthorized".
const code = 4100

// Refusal explains to the client why it may not make a request.
type Refusal struct{ text string }

func (e *Refusal) Error() string { return e.text }

// ErrorCode returns the refusal's code on an EVM chain.
func (e *Refusal) ErrorCode() int { return code }

var errExposed = &Refusal{"this server listens beyond loopback, where only signed transactions may change the world; start it with --allow-control to allow this too"}

// Check rejects a request that its client may not make. On a WebSocket, it judges the request that opened the connection.
func (r *Rule) Check(request *http.Request, c Class) error {
	if err := r.CheckPage(request, c); err != nil {
		return err
	}
	if c == Control && r.Public() {
		return errExposed
	}
	return nil
}

// Public reports whether anyone may reach the server, and nobody may control it.
func (r *Rule) Public() bool { return r != nil && r.Exposed && !r.Control }

// CheckPage is the part of Check that depends on the requesting page: it answers a browser's preflight.
func (r *Rule) CheckPage(request *http.Request, c Class) error {
	if c < Payment || !FromPage(request) {
		return nil
	}
	origin := request.Header.Get("Origin")
	if origin == "" && request.Header.Get("Sec-Fetch-Site") == "none" { // the address bar
		return nil
	}
	if r.trusts(origin) || ownPage(request, origin) {
		return nil
	}
	if origin == "" {
		origin = "another origin"
	}
	return &Refusal{fmt.Sprintf("a page of %.200s may not do this; start the server with --allow-origin and the page's origin to allow it", origin)}
}

// FromPage reports whether a browser sent the request for a page, by headers that pages cannot suppress. Other programs send neither.
func FromPage(request *http.Request) bool {
	return request.Header.Get("Origin") != "" || request.Header.Get("Sec-Fetch-Site") != ""
}

// trusts reports whether pages of an origin may control the world.
func (r *Rule) trusts(origin string) bool {
	parsed, err := ParseOrigin(origin)
	if err != nil {
		return false
	}
	if u, err := url.Parse(parsed); err == nil && loopback(u.Hostname()) {
		return true
	}
	return r != nil && (slices.Contains(r.Origins, parsed) || slices.Contains(r.Origins, "*"))
}

// ownPage reports whether a request comes from a page of this server reached by an address, or by a name that --as-network answers for. It does
// not trust one reached by another name, because anyone can point a name of their own at this machine.
func ownPage(request *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Host != request.Host {
		return false
	}
	if TrustedHost(request) != "" {
		return true
	}
	_, err = netip.ParseAddr(u.Hostname())
	return err == nil
}

// loopback reports whether a page's host name means this machine: browsers resolve localhost and names below it without DNS.
func loopback(host string) bool {
	host = strings.TrimSuffix(host, ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

var errOrigin = errors.New("expected an origin such as https://app.example:8080, without a path")

// ParseOrigin reads an origin in the form that browsers send: lower case, without the scheme's default port.
func ParseOrigin(text string) (string, error) {
	u, err := url.Parse(strings.ToLower(text))
	if err != nil || u.Scheme == "" || u.Hostname() == "" || u.User != nil || u.Opaque != "" || u.ForceQuery ||
		u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%.200q: %w", text, errOrigin)
	}
	host := u.Host
	if u.Scheme == "http" && u.Port() == "80" || u.Scheme == "https" && u.Port() == "443" {
		host = strings.TrimSuffix(host, ":"+u.Port())
	}
	return u.Scheme + "://" + host, nil
}

type hostKey struct{}

// TrustHost marks a request whose host name the server itself has matched with its table of --as-network, with the scheme of its URL. No page can
// have pointed that name at this machine.
func TrustHost(ctx context.Context, scheme string) context.Context {
	return context.WithValue(ctx, hostKey{}, scheme)
}

// TrustedHost returns the scheme of a request that TrustHost marked, or "".
func TrustedHost(r *http.Request) (scheme string) {
	scheme, _ = r.Context().Value(hostKey{}).(string)
	return scheme
}
