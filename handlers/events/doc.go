// Package events tells listeners what happens while the server runs: requests and their responses, new blocks, moves of the clock, faults,
// webhook deliveries. One [Hub] serves all worlds of a process; GET /sim/events streams it.
//
// Publishers call [Hub.Publish]. It costs one atomic load while nobody listens, and it never blocks: a listener that falls behind misses
// events and learns how many.
package events
