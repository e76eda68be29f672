// Package handlers serves every interface of one world on one port: the Data API, the Metrics API, the node's JSON-RPC
// under /ext and the simulator's own operations under /sim.
//
// # How a request travels
//
// [New] mounts the node's interface (package node) and registers the operations of packages data, metrics and control
// with a rest.Server. A request under /ext goes to node.Node as it came. Every other one takes these steps:
//
//	rest.Server.ServeHTTP        request id, dialect (specification or upstream), cross-origin headers, path without doubled slashes
//	rest.endpoint.ServeHTTP      the operation for the path and the method; 404 with a suggestion, or 405
//	requestContext.enter         API key and rate limit (keys.go, rate_limit.go), parameters (parse.go) and body (body.go);
//	                             one 400 names all that is wrong
//	requestContext.reply         the answer from the cache (response_cache.go) if the world has not changed, else:
//	Operation.Handle             one call into package sim or sim/query, whose rows become the answer's structs
//	responseWriter.sendBody      JSON, ETag and 304, gzip
//	requestContext.finish        access log, and the counters behind /ext/metrics (prometheus.go)
//
// # How to add something
//
// A REST endpoint over rows that exist:
//
//	handlers/data/<family>/<noun>.go          the Operation, its answer type and its handler
//	handlers/data/<family>/<noun>_test.go     what it answers, and with which errors
//
// The router, the 400 texts, /openapi.json, /docs and the list of endpoints at /sim/world follow from the Operation.
//
// A metric over a quantity that is counted already:
//
//	sim/metric/metric.go                      one entry of the table
//
// An RPC method of the node:
//
//	handlers/node/<service>/<service>*.go     one function, and its entry in the service's table
//	testdata/transcripts/<service>/*.txt      a question and its answer (go test ./handlers/node/... -update)
//
// A persona:
//
//	fixtures/persona.go                       one row of the table
//
// An indexed fact (a new table or column, filled when a block is accepted):
//
//	sim/store/schema.go                       the table, and its indexes
//	sim/store/<noun>.go                       write it, list it by keyset, delete it
//	sim/evm/index/<noun>.go                   make the row of receipts, or of a P- or X-Chain transaction in sim/primary
//	sim/verify/verify.go                      compare it when the world is built again
//	testdata/digests.txt                      written anew, with the generator's version in sim raised by one
//	handlers/data/<family>/<noun>.go          serve it
package handlers
