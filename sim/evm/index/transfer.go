package index

import (
	"bytes"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/store"
)

// Events that the index reads.
var (
	eventTransfer       = crypto.Keccak256([]byte("Transfer(address,address,uint256)"))
	eventTransferSingle = crypto.Keccak256([]byte("TransferSingle(address,address,address,uint256,uint256)"))
	eventTransferBatch  = crypto.Keccak256([]byte("TransferBatch(address,address,address,uint256[],uint256[])"))
	eventDeposit        = crypto.Keccak256([]byte("Deposit(address,uint256)"))
	eventWithdrawal     = crypto.Keccak256([]byte("Withdrawal(address,uint256)"))
	eventURI            = crypto.Keccak256([]byte("URI(string,uint256)"))
	eventMetadataUpdate = crypto.Keccak256([]byte("MetadataUpdate(uint256)"))
)

// tokenTransfer is one transfer in a log: the item, the amount, the sender and the recipient.
type tokenTransfer struct{ from, to, item, amount []byte }

// IsTransfer reports whether a log looks like a token's transfer, regardless of its contract.
func IsTransfer(l *store.Log) bool {
	switch {
	case bytes.Equal(l.Topic, eventTransfer):
		return len(l.Topics) == 64 && len(l.Data) == 32 || len(l.Topics) == 96 && len(l.Data) == 0
	case bytes.Equal(l.Topic, eventTransferSingle), bytes.Equal(l.Topic, eventTransferBatch):
		return len(l.Topics) == 96
	}
	return false
}

// TransferParties returns the sender and recipient that a transfer-shaped log names. An ERC-1155 names the operator first.
func TransferParties(l *store.Log) (from, to []byte) {
	if bytes.Equal(l.Topic, eventTransfer) {
		return topicAddress(l, 0), topicAddress(l, 1)
	}
	return topicAddress(l, 1), topicAddress(l, 2)
}

// tokenTransfers parses a log of a token of the given standard. A log of another shape moves nothing.
func tokenTransfers(s store.Standard, l *store.Log) []tokenTransfer {
	switch {
	case s == store.ERC20 && bytes.Equal(l.Topic, eventTransfer) && len(l.Topics) == 64 && len(l.Data) == 32:
		return []tokenTransfer{{topicAddress(l, 0), topicAddress(l, 1), nil, trimmed(l.Data)}}
	case s == store.ERC721 && bytes.Equal(l.Topic, eventTransfer) && len(l.Topics) == 96 && len(l.Data) == 0:
		return []tokenTransfer{{topicAddress(l, 0), topicAddress(l, 1), trimmed(l.Topics[64:]), []byte{1}}}
	case s == store.ERC1155 && bytes.Equal(l.Topic, eventTransferSingle) && len(l.Topics) == 96 && len(l.Data) == 64:
		return []tokenTransfer{{topicAddress(l, 1), topicAddress(l, 2), trimmed(l.Data[:32]), trimmed(l.Data[32:])}}
	case s == store.ERC1155 && bytes.Equal(l.Topic, eventTransferBatch) && len(l.Topics) == 96:
		return batchTransfers(l)
	}
	return nil
}

func batchTransfers(l *store.Log) []tokenTransfer {
	items, ok := dynamicValue(l.Data, 0, 32)
	amounts, ok2 := dynamicValue(l.Data, 1, 32)
	if !ok || !ok2 || len(items) != len(amounts) {
		return nil
	}
	var all []tokenTransfer
	for i := 0; i < len(items); i += 32 {
		all = append(all, tokenTransfer{topicAddress(l, 1), topicAddress(l, 2), trimmed(items[i : i+32]), trimmed(amounts[i : i+32])})
	}
	return all
}

// topicAddress returns the address in the n-th of a log's topics after the first.
func topicAddress(l *store.Log, n int) []byte { return l.Topics[32*n+12 : 32*n+32] }

// trimmed never returns nil: zero is an empty blob, not an absent value.
func trimmed(word []byte) []byte { return append([]byte{}, common.TrimLeftZeroes(word)...) }

// wrappedHolder returns the holder in a wrapped native token's log, which changes balances without a transfer.
func wrappedHolder(l *store.Log) []byte {
	if len(l.Topics) == 32 && (bytes.Equal(l.Topic, eventDeposit) || bytes.Equal(l.Topic, eventWithdrawal)) {
		return topicAddress(l, 0)
	}
	return nil
}

// updatedItem returns the item whose metadata a log reports as changed, nil if none.
func updatedItem(s store.Standard, l *store.Log) []byte {
	switch {
	case s == store.ERC1155 && bytes.Equal(l.Topic, eventURI) && len(l.Topics) == 32:
		return trimmed(l.Topics)
	case s == store.ERC721 && bytes.Equal(l.Topic, eventMetadataUpdate) && len(l.Data) == 32:
		return trimmed(l.Data)
	}
	return nil
}
