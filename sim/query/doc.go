// Package query joins the store's rows for more than one handler: the staker index (validators and delegators with weight, reward and
// status at the world's clock), UTXO sets, transactions with consumed and produced UTXOs, balance sums, the purpose of reward outputs,
// token markets, and series: metrics up to the clock, staking and fees by day, ICM message counts by route. It only reads.
//
// A staker begins and ends by the clock, even before the block that says so; a stake stays staked until the block that returns it. A staker
// index is immutable and rebuilt for each block and second of the clock; the Data API and the node share it.
//
// Series end with the interval of the clock, even if no block has opened it: the rows hold what blocks changed, and query adds what time
// alone changes.
//
// Lists in memory are keysets: every item has a fixed cursor, and a page continues after it, wherever the item has moved by then.
package query
