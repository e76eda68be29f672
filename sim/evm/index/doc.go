// Package index makes the rows of lists and searches from a block that was executed: token transfers, tokens, token
// balances, items of NFT contracts, contract deployments, Teleporter messages, and the addresses that
// took part in a transaction.
//
// CallRecorder is the tracer that keeps the calls inside transactions while a block is executed. Index.Add then reads the
// logs and calls of the block; what logs do not say (which standard a token follows, balances after the block, token
// URIs) it reads from the contracts with a ContractReader. An Index holds the tokens of one chain and nothing else,
// and Index.Restore reads them from the file.
package index
