// Package events tells those who listen what happens while the server runs: requests and their answers, new blocks, moves of
// the clock, faults, deliveries of webhooks. One [Hub] serves all worlds of a process; GET /sim/events streams it.
//
// Whoever has something to tell calls [Hub.Publish]. It costs an atomic load while nobody listens, and never waits: a listener
// that does not keep up misses events, and is told how many.
package events
