// Package describe reads an inventory of a world from its rows, for the banner and /sim/world: chains with their contracts, one transaction
// and one message of each kind, personas, and the contents of each network's P- and X-Chain.
package describe
