// Package intercept answers for the real network's own host names, so that nothing in an application has to change. It is a forward proxy on
// the server's main address: a request for a host of the table (fixtures.Hosts, and --as-host) is answered by the world, any other passes
// through or, with --sealed, is refused and listed.
//
// A client reaches it in three ways:
//
//	CONNECT host:443      the proxy answers TLS with a certificate of this run (authority.go), HTTP/1.1 or 2 inside, and WebSocket
//	GET http://host/path  the absolute form, of plain HTTP and of clients that send https: URLs to proxies
//	TLS or HTTP, direct   on a second address, for Node programs whose sockets a preloaded script redirects (preload.mjs)
//
// The program whose traffic it answers learns of it by environment variables (environment.go). Its certificate authority exists in memory, and
// as a file only for that program (trust_linux.go, trust_watched.go). Nothing is ever put into a trust store.
//
// Proxies as libraries do not fit. goproxy (github.com/elazarl/goproxy, 1.9) and martian (github.com/google/martian, 3.3, last released in 2022)
// forward: what they decrypt goes on to another server as a request, and comes back as an http.Response. Here the other server is a handler of
// the same process, which hijacks connections for WebSocket and for faults that drop them, sets deadlines, and streams, so each request would
// need a second connection to ourselves, and its faults would hit the proxy instead of the client. net/http serves HTTP/1.1 and 2 on a
// decrypted connection like on any other, and httputil.ReverseProxy forwards the rest. What remains of our own is CONNECT and a table.
package intercept
