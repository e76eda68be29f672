// Package txpool keeps the transactions of one EVM chain that wait for a block: coreth's and subnet-evm's core/txpool, legacypool and
// validation, with their rules, limits and errors.
//
// The pool keeps an account's transactions by nonce. Those with consecutive nonces from the account's next one on are pending: a block can
// take them. The others are queued until the gap before them is filled. A transaction replaces another with the same nonce if it offers 10
// % more, both as fee cap and as tip. Order returns the pending ones by effective tip and, among equals, by arrival.
//
// The pool differs from a node's in two ways, so that it never loses a transaction it accepted. When it is full, or when an account has too
// many queued transactions, it refuses new ones and never drops old ones for them. And no transaction expires, because the world's clock
// may stand still.
package txpool
