// Package metric defines the chain metrics and keeps their roll-ups.
//
// A block adds an [Activity]: its transactions, gas and fees, the contracts it created and the addresses that took part.
// A [Rollup] folds it into one [Tally] for each interval that holds the block (its hour, day, week and month) of each
// [Scope] that holds the chain: the chain itself, its network and all chains together. Nothing is computed again later,
// and what a block costs depends on what is in it, not on what came before.
//
// Distinct counts are true ones. For each address and month the roll-up keeps in which hours on which chains the address
// took part ([Presence]); an address is counted in an interval if it was not there before. This holds in whatever order the
// blocks of different chains arrive.
//
// What the definitions leave open is defined here:
//
//   - An interval holds the blocks from its first second on, up to but without the first second of the next one. So
//     "up to 24 hours after the timestamp" is everything before the next day, and "up to the timestamp", which only
//     cumulativeContracts says, is everything before the day.
//   - Failed transactions count: they were sent, paid for, and have a from and a to. Creations count when they left a
//     contract behind: one that was undone did not create a contract.
//   - A creation by a transaction is its sender's, one by a contract is that contract's. CREATE3 is no operation of its
//     own but a CREATE2 followed by a CREATE, and counts as those.
//   - The zero address that tokens are minted from and burned to is in the from and to of transfer events, so it counts.
//   - Averages over a day divide by the time from the last block before the day to the last block of the day; on the
//     first day, from the chain's first block. A day without blocks has rate zero.
//   - The rate of a block is over the time since the block before it on its own chain, one second at least; a chain's
//     first block has none.
//   - Gas prices are averaged over receipts, each counting once. Prices and fees are in wei.
//
// Beside the chains' metrics there are those of the P-Chain and of messages, kept in the same way, by the day (messages by
// each interval) and in the commit of the block that changes something:
//
//   - The stake of a subnet is that at the end of the day, on the newest day that by the clock. A validator counts from
//     when it begins, not when it is announced; an L1 validator until it is removed, with a balance or without.
//   - The fees of L1 validators are in nAVAX: what left balances for the continuous fee, with the rest of a balance that no
//     longer pays for a second. Who was active in a second of the day is a paying validator of that day. Without an id the
//     fees are those of both networks.
//   - A message counts for the interval in which it was sent; one from a chain outside the world for that in which it
//     arrived. There are points for every two chains of which one ever wrote to the other.
package metric
