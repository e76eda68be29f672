// Package metric defines the chain metrics and keeps their roll-ups.
//
// A block adds an [Activity]: its transactions, gas and fees, the contracts it created and the addresses that took part.
// A [Rollup] folds it into one [Tally] for each interval around the block (its hour, day, week and month) of each [Scope]
// that includes the chain: the chain itself, its network and all chains together. Nothing is recomputed later, and the
// cost of a block depends on its contents, not on what came before. What a block adds up, which is all but the addresses,
// goes into its chain's [OpenHour] first, which the first block of a later hour adds to the tallies; readers add the open
// hours themselves.
//
// Distinct counts are exact. For each address and month, the roll-up records the hours and chains in which the address
// took part ([Presence]); an interval counts an address when it first appears there. The order in which blocks of
// different chains arrive does not matter.
//
// This package settles what the definitions leave open:
//
//   - An interval runs from its first second up to, but without, the first second of the next. So "up to 24 hours after
//     the timestamp" means everything before the next day, and "up to the timestamp", which only cumulativeContracts
//     says, means everything before the day.
//   - Failed transactions count: somebody sent and paid for them, and they have a from and a to. Creations count if they
//     left a contract behind; a reverted one did not create a contract.
//   - A transaction's creation belongs to its sender, a contract's to that contract. CREATE3 is not an operation but a
//     CREATE2 followed by a CREATE, and counts as both.
//   - The zero address, which mints and burns tokens, appears in the from and to of transfer events, so it counts.
//   - Averages over a day divide by the time from the last block before the day to the last block of the day; on the
//     first day, from the chain's first block. A day without blocks has rate zero.
//   - A block's rate divides by the time since the previous block on its own chain, at least one second; a chain's first
//     block has no rate.
//   - Average gas prices weigh each receipt equally. Prices and fees are in wei.
//
// The metrics of the P-Chain and of messages work the same way, by day (messages by every interval), in the commit of the
// block that changes something:
//
//   - A subnet's stake is that at the end of the day, or at the clock on the newest day. A validator counts from its
//     start, not from its announcement; an L1 validator counts until it is removed, with or without a balance.
//   - L1 validators' fees are in nAVAX: all that left balances for the continuous fee, including a remainder too small for
//     another second. A validator that was active in any second of the day is a paying validator of that day. Without an
//     id, the fees are those of both networks.
//   - A message counts in the interval in which it was sent, or arrived if it comes from a chain outside the world. Every
//     two chains of which one ever wrote to the other have points.
package metric
