// Package fault lets a world answer as a backend does on a bad day: refusals, errors of JSON-RPC, latency, connections that are
// reset, bodies that are cut off, slow, no JSON or of another type, pages that are empty or whose token is missing.
//
// A [Rule] says which requests are meant, what happens to them and how often. The [Set] of a world decides: the same requests
// in the same order get the same faults, as every choice follows from the world's seed, the rule's text and the ordinal of the
// request among those that the rule matched. Rules are kept in memory and are no part of the world: a fault takes an answer's
// place or alters it, and writes nothing.
//
// rule.go has what users write, set.go decides, writer.go alters answers, header.go reads the header x-sim-fault.
package fault
