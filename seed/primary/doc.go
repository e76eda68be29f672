// Package primary decides what happens on the P- and X-Chain of a network: its genesis, validators and delegators, subnets and L1s
// (ACP-77), X-Chain assets, payments, atomic transfers to and from the C-Chain, and the ICM messages between the network's chains. A
// Network plans all of that at the beginning and makes the blocks when Advance reaches their time. Its wallet builds transactions as a
// client's would: it chooses UTXOs, pays the fee and signs.
//
// The generator makes an L1's history and the P-Chain's in parallel. So that neither waits for the other, the bytes of every ICM message are known
// before any chain sends it, and the sending chain checks that it sent exactly those.
package primary
