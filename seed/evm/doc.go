// Package evm decides what happens on an EVM chain: which contracts are deployed (deployment), what accounts and personas do
// (activity, personaActivity), which precompiles an L1's genesis enables and who calls them. A History turns all of that into
// blocks. What it needs from other chains reaches it as AtomicTxs (value between C, P and X) and ScheduledTxs (ICM messages).
package evm
