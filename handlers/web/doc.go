// Package web serves the pages of a world: an explorer of its chains, control of its clock, and what else a person wants to
// see in a browser. Pages are rendered on the server.
//
// Everything that a page shows comes from the same calls that clients make: a page names its calls ([page.load]), which go
// through the server's own handler without leaving the process, and its template shows the decoded answers. Each panel can
// thus show the call behind it. What changes the world is sent by the browser itself, so that it obeys package permit as any
// other page's request does.
//
// Text from the world is data: html/template escapes it, the functions in format.go escape what they put together, and the
// Content-Security-Policy of every page allows neither inline scripts nor anything from another host.
package web
