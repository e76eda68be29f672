// Package query joins the store's rows to what more than one handler needs to know: the staker index (who validates and delegates
// with what weight, reward and status by the world's clock), UTXO sets, transactions with the UTXOs that they consumed and
// produced, sums of balances, what a reward output is for, the markets of tokens; and series: points of metrics up to the
// clock, staking and fees by day, counts of ICM messages by route. It only reads.
//
// A staker begins and ends by the clock, also before the block that says so; a stake is staked until the block that returns
// it. A staker index is made anew for each block and second of the clock, and never changed: whoever lists stakers, the Data
// API and the node alike, asks the same one.
//
// Series end with the interval in which the clock stands, although no block has opened it yet: rows say what blocks brought,
// query adds what time alone changes.
//
// Lists that are kept in memory are keysets: every item has a cursor that never changes, and a page goes on after it, wherever
// the item stands by then.
package query
