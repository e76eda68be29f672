// Package evm decides what happens on an EVM chain: the contracts (deployment), the actions of accounts and personas (activity,
// personaActivity), the precompiles of an L1's genesis and their calls. A History turns all of that into blocks. Other chains reach it
// through AtomicTxs (value between C, P and X) and ScheduledTxs (ICM messages).
package evm
