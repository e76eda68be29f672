// Package index derives the rows of lists and searches from an executed block: token transfers, tokens, token balances, items of NFT
// contracts, contract deployments, Teleporter messages, and the addresses that took part in a transaction.
//
// CallRecorder is the tracer that keeps the calls inside transactions while a block executes. Index.Add then reads the logs and calls of
// the block. It asks the contracts, with a ContractReader, for what logs leave out: the standard a token follows, balances after the block,
// token URIs. An Index holds the tokens of one chain and nothing else, and Index.Restore reads them from the file.
package index
