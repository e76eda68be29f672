package eth

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
)

// A call of discover in a batch or over WebSocket is put to discoverMethod: the names of go-ethereum's methods have no point in them.
const (
	discover       = "rpc.discover"
	discoverMethod = refusalService + "_discover"
)

// discoverer is the key of what tells of the methods to the client of a request, among the values of its context.
type discoverer struct{}

// Discover is the OpenRPC document about the methods of the endpoint.
func (refusals) Discover(ctx context.Context) any {
	if tell, ok := ctx.Value(discoverer{}).(func() any); ok {
		return tell()
	}
	return nil
}

// telling has the endpoint tell of itself as the client of a request reached it, over WebSocket that which opened the connection.
func (e *Endpoint) telling(ctx context.Context, from *http.Request) context.Context {
	return context.WithValue(ctx, discoverer{}, func() any { return e.discover(from, e.capabilities.Methods()) })
}

// discovering puts the calls of discover in a request to the method that answers them.
func discovering(body []byte) []byte {
	if !bytes.Contains(body, []byte(discover)) {
		return body
	}
	if !isBatch(body) {
		return discovered(body)
	}
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) != nil {
		return body
	}
	for i, call := range batch {
		batch[i] = discovered(call)
	}
	return encode(batch)
}

func discovered(call json.RawMessage) json.RawMessage {
	var m message
	if json.Unmarshal(call, &m) != nil || m.Method != discover {
		return call
	}
	m.Method, m.Params = discoverMethod, nil
	return encode(m)
}
