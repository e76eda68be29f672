// Package primary makes one primary network of the P-, X- and C-Chain: it accepts blocks under the rules of the packages
// pchain, xchain and utxo, checks who proposes them, and turns what they change into rows. The generator, a client's
// transaction and verify all hand their blocks to a Network. Restore makes a Network from rows, Replay from the bytes of all blocks.
package primary
