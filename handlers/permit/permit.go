// Package permit says who may change the world. It is the one place with that rule; every interface asks it before it calls
// a method or an operation:
//
//	Read               any client and any page of the web may
//	SignedTransaction  so may anyone send one: its signature says who wants it
//	Control            everything else that changes the world: no page save those of loopback, of this server's own address and of --allow-origin, and
//	                   nobody when the server listens beyond loopback, unless --allow-control is given
//
// A JSON-RPC method has the class that [Of] gives its name, so that a new method is covered without a word about it; a REST
// operation names its own (rest.Operation.Class). The methods themselves check nothing: JSON-RPC refuses before it calls one
// (package node/rpc, members of batches and messages over WebSocket included).
package permit

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Class is what a request does to the world.
type Class int

// The classes, in the order of what they can do.
const (
	Read Class = iota
	SignedTransaction
	Control
)

// Rule is what the user chose. The zero value, as a nil Rule, is that of a server on loopback without flags.
type Rule struct {
	Origins []string // of --allow-origin: origins as ParseOrigin gives them, or "*"
	Exposed bool     // the server listens beyond loopback
	Control bool     // --allow-control: it may be controlled from there
}

// code is that of a JSON-RPC error for what a client may not do: EIP-1193, "unauthorized".
const code = 4100

// Refusal is why a request may not do what it asks for, as a sentence for the client.
type Refusal struct{ text string }

func (e *Refusal) Error() string { return e.text }

// ErrorCode is the code of the refusal in an answer of an EVM chain.
func (e *Refusal) ErrorCode() int { return code }

var errExposed = &Refusal{"this server listens beyond loopback, where only signed transactions may change the world; start it with --allow-control to allow this too"}

// Check refuses a request that may not do what its class does. It judges the request that opened the connection where there
// are many on one, as on a WebSocket.
func (r *Rule) Check(request *http.Request, c Class) error {
	if c != Control {
		return nil
	}
	if err := r.CheckPage(request, c); err != nil {
		return err
	}
	if r != nil && r.Exposed && !r.Control {
		return errExposed
	}
	return nil
}

// CheckPage is the part of Check that depends on the page from which a request comes: what a browser is told that asks before
// it sends it.
func (r *Rule) CheckPage(request *http.Request, c Class) error {
	if c != Control || !FromPage(request) {
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

// FromPage says whether a browser sent the request for a page, by the headers that pages cannot leave out. What other programs
// send has neither.
func FromPage(request *http.Request) bool {
	return request.Header.Get("Origin") != "" || request.Header.Get("Sec-Fetch-Site") != ""
}

// trusts says whether pages of an origin may control the world.
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

// ownPage says whether a request comes from a page of this server that was reached by an address. One that was reached by a name is
// not trusted: anyone can let a name of their own lead here.
func ownPage(request *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Host != request.Host {
		return false
	}
	_, err = netip.ParseAddr(u.Hostname())
	return err == nil
}

// loopback says whether a host name of a page stands for this machine: browsers resolve localhost and what is below it without
// asking anyone.
func loopback(host string) bool {
	host = strings.TrimSuffix(host, ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

var errOrigin = errors.New("expected an origin such as https://app.example:8080, without a path")

// ParseOrigin reads an origin in the form in which browsers send it: lower case, without the port that the scheme implies.
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
