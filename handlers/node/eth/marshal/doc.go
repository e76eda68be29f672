// Package marshal writes blocks, transactions, receipts and logs as the eth methods answer them, which are asked for most, without
// reflection: internal/ethapi.RPCMarshalBlock and its kin.
package marshal
