package evm

import (
	"bytes"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/store"
)

// Events that the index reads.
var (
	eventTransfer   = crypto.Keccak256([]byte("Transfer(address,address,uint256)"))
	eventSingle     = crypto.Keccak256([]byte("TransferSingle(address,address,address,uint256,uint256)"))
	eventBatch      = crypto.Keccak256([]byte("TransferBatch(address,address,address,uint256[],uint256[])"))
	eventDeposit    = crypto.Keccak256([]byte("Deposit(address,uint256)"))
	eventWithdrawal = crypto.Keccak256([]byte("Withdrawal(address,uint256)"))
	eventURI        = crypto.Keccak256([]byte("URI(string,uint256)"))
	eventMetadata   = crypto.Keccak256([]byte("MetadataUpdate(uint256)"))
)

// movement is what a log says: how much of which item went from whom to whom.
type movement struct{ from, to, item, amount []byte }

// transferShaped reports whether a log looks like a token's transfer, whatever the contract is.
func transferShaped(l *store.Log) bool {
	switch {
	case bytes.Equal(l.Topic, eventTransfer):
		return len(l.Topics) == 64 && len(l.Data) == 32 || len(l.Topics) == 96 && len(l.Data) == 0
	case bytes.Equal(l.Topic, eventSingle), bytes.Equal(l.Topic, eventBatch):
		return len(l.Topics) == 96
	}
	return false
}

// parties are from whom and to whom a transfer-shaped log says that something went. An ERC-1155 names the operator first.
func parties(l *store.Log) (from, to []byte) {
	if bytes.Equal(l.Topic, eventTransfer) {
		return party(l, 0), party(l, 1)
	}
	return party(l, 1), party(l, 2)
}

// movements reads a log of a token of the given standard. A log that does not have the standard's shape moves nothing.
func movements(s store.Standard, l *store.Log) []movement {
	switch {
	case s == store.ERC20 && bytes.Equal(l.Topic, eventTransfer) && len(l.Topics) == 64 && len(l.Data) == 32:
		return []movement{{party(l, 0), party(l, 1), nil, number(l.Data)}}
	case s == store.ERC721 && bytes.Equal(l.Topic, eventTransfer) && len(l.Topics) == 96 && len(l.Data) == 0:
		return []movement{{party(l, 0), party(l, 1), number(l.Topics[64:]), []byte{1}}}
	case s == store.ERC1155 && bytes.Equal(l.Topic, eventSingle) && len(l.Topics) == 96 && len(l.Data) == 64:
		return []movement{{party(l, 1), party(l, 2), number(l.Data[:32]), number(l.Data[32:])}}
	case s == store.ERC1155 && bytes.Equal(l.Topic, eventBatch) && len(l.Topics) == 96:
		return batch(l)
	}
	return nil
}

func batch(l *store.Log) []movement {
	items, ok := tail(l.Data, 0, 32)
	amounts, ok2 := tail(l.Data, 1, 32)
	if !ok || !ok2 || len(items) != len(amounts) {
		return nil
	}
	var all []movement
	for i := 0; i < len(items); i += 32 {
		all = append(all, movement{party(l, 1), party(l, 2), number(items[i : i+32]), number(amounts[i : i+32])})
	}
	return all
}

// party is the address in the n-th of a log's topics after the first.
func party(l *store.Log, n int) []byte { return l.Topics[32*n+12 : 32*n+32] }

// number is never nil: zero is an empty blob, not an absent value.
func number(word []byte) []byte { return append([]byte{}, common.TrimLeftZeroes(word)...) }

// wrapper is the holder in a log of a wrapped native token, which changes balances without a transfer.
func wrapper(l *store.Log) []byte {
	if len(l.Topics) == 32 && (bytes.Equal(l.Topic, eventDeposit) || bytes.Equal(l.Topic, eventWithdrawal)) {
		return party(l, 0)
	}
	return nil
}

// renewed is the item whose metadata a log says to have changed, nil if none.
func renewed(s store.Standard, l *store.Log) []byte {
	switch {
	case s == store.ERC1155 && bytes.Equal(l.Topic, eventURI) && len(l.Topics) == 32:
		return number(l.Topics)
	case s == store.ERC721 && bytes.Equal(l.Topic, eventMetadata) && len(l.Data) == 32:
		return number(l.Data)
	}
	return nil
}
