// Package txpool keeps the transactions of one EVM chain that wait for a block: coreth's and subnet-evm's core/txpool, legacypool
// and validation, with their rules, limits and errors.
//
// Transactions of an account are kept by nonce. Those that follow each other from the account's next nonce on are pending: a
// block can take them. The others are queued until the gap before them is filled. A transaction replaces another with the
// same nonce when it offers 10 % more, both as fee cap and as tip. Order gives the pending ones by effective tip and, among
// equals, by arrival.
//
// In two things the pool differs from a node's, so that what it took is not lost: when it is full, or when an account has
// too many queued transactions, it refuses new ones and never drops old ones for them; and nothing waits too long, because the
// world's clock may stand still.
package txpool
