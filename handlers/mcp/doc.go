// Package mcp serves the Model Context Protocol (https://modelcontextprotocol.io), through which agents use a world: over HTTP at /mcp, and over stdin
// and stdout of snowglobe mcp.
//
// A tool calls the world's other interfaces on behalf of its client, so it can do what the client could do itself and no more. Over HTTP there are no
// sessions: each request gets a server of its own, which ends with it.
package mcp
