// Package fault lets a world answer as a backend does on a bad day: error statuses, JSON-RPC errors, latency, reset connections, bodies
// that are truncated, slow, not JSON or of another content type, empty or short pages and pages without their token, notifications and webhooks
// that are lost, doubled, late or out of order.
//
// A [Rule] states which requests it matches, what happens to them and how often. The [Set] of a world decides. The same requests in the
// same order get the same faults, because every choice follows from the world's seed, the rule's text and the ordinal of the request among
// those that the rule matched. Rules live in memory, outside the world: a fault replaces or alters a response and writes nothing.
//
// rule.go defines what users write, set.go decides, writer.go alters responses, header.go reads the header x-sim-fault.
// Package rest applies what was decided to a response (its fault.go), package rpc to each call of JSON-RPC (its server.go).
package fault
