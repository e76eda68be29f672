// Package web serves a world's pages: an explorer of its chains, controls for its clock, and everything else for a person with a browser. The
// server renders the pages.
//
// A page gets all its data from the calls that clients make: it names its calls ([page.load]), the server's own handler answers them within
// the process, and the template shows the decoded responses. So each panel can show the call behind it. The browser itself sends the
// requests that change the world, so package permit judges them like any other page's.
//
// Text from the world is data: html/template escapes it, the functions in format.go escape what they compose, and every page's
// Content-Security-Policy forbids inline scripts and other hosts.
package web
