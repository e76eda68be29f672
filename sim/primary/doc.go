// Package primary joins the P-, X- and C-Chain into one primary network: it accepts blocks under the rules of the packages pchain, xchain
// and utxo, checks their proposers, and turns their changes into rows. The generator, a client's transaction and verify all hand their
// blocks to a Network. Restore makes a Network from rows, Replay from the bytes of all blocks.
package primary
