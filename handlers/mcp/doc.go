// Package mcp serves the Model Context Protocol (https://modelcontextprotocol.io), by which agents use a world: over HTTP at /mcp, and over the standard
// streams of snowglobe mcp.
//
// A tool makes requests of the world's other interfaces in the name of its client, so it can do what the client could do by itself and no more. Over
// HTTP there are no sessions: each request is answered by a server of its own, which ends with it.
package mcp
