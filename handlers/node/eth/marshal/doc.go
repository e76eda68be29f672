// Package marshal writes blocks, transactions, receipts and logs for the eth methods without reflection, because clients ask for them most
// often: internal/ethapi.RPCMarshalBlock and its kin.
package marshal
