package control

import (
	"net"
	"net/url"
	"strconv"
)

// Origins tell at which port each network is served by itself, by its name. A network without a port is told from the others by
// the host's name alone.
type Origins map[string]int

// URL is the origin that speaks for one network, as seen by a client that reached the server by a base URL: its own port, or a
// name below localhost, which browsers resolve to this machine.
func (o Origins) URL(base, network string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	host, port := u.Hostname(), u.Port()
	if n := o[network]; n != 0 {
		port = strconv.Itoa(n)
	} else {
		host = network + ".localhost"
	}
	if port != "" {
		host = net.JoinHostPort(host, port)
	}
	return (&url.URL{Scheme: u.Scheme, Host: host}).String()
}
