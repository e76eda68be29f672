// Package describe reads from a world's rows what there is in it, for the banner and for /sim/world: chains with their contracts, a
// transaction or a message of each kind to look at, personas, and what is on the P- and X-Chain of each network.
package describe
