// Package handlers serves every interface of one world on one port: the Data API, the Metrics API, the node's JSON-RPC
// under /ext, an API like Etherscan's under /api and the simulator's own operations under /sim.
//
// # How a request travels
//
// [New] mounts the node's interface (package node) and registers the operations of packages data, metrics and control
// with a rest.Server. A request under /ext goes to node.Node as it came. Every other one takes these steps:
//
//	rest.Server.ServeHTTP        request id, dialect (specification or upstream), cross-origin headers, path without doubled slashes
//	rest.endpoint.ServeHTTP      the operation for the path and the method; 404 with a suggestion, or 405
//	requestContext.enter         who may change the world (package permit), API key (keys.go), rate limit (rate_limit.go), parameters (parse.go), body (body.go);
//	                             one 400 names everything that is wrong
//	requestContext.reply         the answer from the cache (response_writer.go) if the world has not changed, else:
//	Operation.Handle             one call into package sim or sim/query, whose rows become the answer's structs
//	responseWriter.sendBody      JSON, ETag and 304, gzip
//	requestContext.finish        access log, journal (package journal), and the counters behind /ext/metrics (package prometheus)
//
// A call of JSON-RPC goes on from node.Node, which finds the server for its path:
//
//	rpc.Server.ServeHTTP         the body, read once with its limits (call.go); websocket.go for a message of a connection
//	rpc.Server.answer            each call: may the client make it, does a fault answer it, is its result remembered, else its method
//	rpc.Server.send              the answers, results of many megabytes while the client takes them
//
// # How to add something
//
// A REST endpoint over rows that exist:
//
//	handlers/data/<family>/<noun>.go          the Operation, the type of its answer and its handler; the file's list of
//	                                          operations is already registered in register.go
//	handlers/data/<noun>_test.go              what it answers, and with which errors
//
// The router, the 400 texts, /openapi.json, what the page at /docs shows of it and the list of endpoints at /sim/world follow from the Operation.
//
// Its example in /openapi.json is made of the samples in handlers/web/samples.go.
//
// A metric over a quantity that is counted already:
//
//	sim/metric/metric.go                      one entry of Metrics
//
// An RPC method of the node:
//
//	handlers/node/<service>/<noun>.go         one Go method of the service; its name is that of the RPC method
//	handlers/permit/method.go                 its class, if the name does not say that it changes the world and it does
//	testdata/transcripts/node/<noun>.txt      questions; the answers are written by
//	                                          go test ./handlers/node -run TestTranscripts -update
//
//	go test ./handlers/openrpc -update        the names of its parameters, for /openrpc.json
//
// A page:
//
//	handlers/web/<noun>.go                    a function that names the calls whose answers it shows, and its path in site.go
//	handlers/web/templates/<noun>.html        how they are shown
//
// A persona:
//
//	fixtures/personas.go                      one row of Personas
//	seed/population/persona.go                a field, only if actions name the persona
//	seed/evm/persona_activity.go              what it does on EVM chains, if anything
//
// An indexed fact (a new table or column that is filled when a block is accepted):
//
//	sim/store/schema.sql, indexes.sql         the table and its indexes; primary.sql and primary_indexes.sql for P and X
//	sim/store/<noun>.go                       the struct of the row, the statement that writes it and those that read it
//	sim/store/batch.go                        a field of Delta; CountedTables in integrity.go
//	sim/evm/index/<noun>.go                   make the row out of logs and calls; sim/primary/index_block.go for P and X
//	sim/verify/verify.go, evm_index.go        count it and compare it when the world is built again
//	handlers/data/<family>/<noun>.go          serve it
//
// A persona and an indexed fact change the bytes of generated worlds: raise Generator in sim/world.go, and run make golden.
package handlers
