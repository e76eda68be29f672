package evm

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

var (
	topicTransfer = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))
	topicApproval = crypto.Keccak256Hash([]byte("Approval(address,address,uint256)"))
	topicSingle   = crypto.Keccak256Hash([]byte("TransferSingle(address,address,address,uint256,uint256)"))
)

// holding names who holds what.
type holding struct{ token, owner common.Address }

// item names one non-fungible token, or one kind of an ERC-1155.
type item struct {
	token common.Address
	id    uint64
}

// tokenHoldings is what accounts know of tokens when they decide.
type tokenHoldings interface {
	balance(token, owner common.Address) *big.Int
	allows(token, owner, spender common.Address) bool     // it was approved
	items(token, owner common.Address) (numbers []uint64) // that are held of a token, the oldest first
	observe(r *types.Receipt)                             // what a transaction changed
}

// tokenBalances is who holds which tokens, by the logs of transfers.
type tokenBalances struct {
	balances map[holding]*big.Int
	approved map[[3]common.Address]bool // token, owner, spender
	held     map[holding][]item
}

func newTokenBalances() *tokenBalances {
	return &tokenBalances{balances: map[holding]*big.Int{}, approved: map[[3]common.Address]bool{}, held: map[holding][]item{}}
}

func (b *tokenBalances) observe(r *types.Receipt) {
	for _, log := range r.Logs {
		switch {
		case len(log.Topics) == 3 && log.Topics[0] == topicTransfer && len(log.Data) == 32:
			b.move(log.Address, addressOf(log.Topics[1]), addressOf(log.Topics[2]), new(big.Int).SetBytes(log.Data))
		case len(log.Topics) == 4 && log.Topics[0] == topicTransfer:
			b.moveItem(log.Address, addressOf(log.Topics[1]), addressOf(log.Topics[2]), log.Topics[3].Big().Uint64())
		case len(log.Topics) == 4 && log.Topics[0] == topicSingle && len(log.Data) == 64:
			b.moveItem(log.Address, addressOf(log.Topics[2]), addressOf(log.Topics[3]), new(big.Int).SetBytes(log.Data[:32]).Uint64())
		case len(log.Topics) == 3 && log.Topics[0] == topicApproval:
			b.approved[[3]common.Address{log.Address, addressOf(log.Topics[1]), addressOf(log.Topics[2])}] = true
		}
	}
}

func addressOf(topic common.Hash) common.Address { return common.BytesToAddress(topic[:]) }

func (b *tokenBalances) move(token, from, to common.Address, amount *big.Int) {
	b.balances[holding{token, from}] = new(big.Int).Sub(b.balance(token, from), amount)
	b.balances[holding{token, to}] = new(big.Int).Add(b.balance(token, to), amount)
}

// moveItem moves an item. One of an ERC-1155's kind counts as one item, however many there are of it.
func (b *tokenBalances) moveItem(token, from, to common.Address, id uint64) {
	it := item{token, id}
	had := b.held[holding{token, from}]
	for i := range had {
		if had[i] == it {
			b.held[holding{token, from}] = append(had[:i:i], had[i+1:]...)
			break
		}
	}
	b.held[holding{token, to}] = append(b.held[holding{token, to}], it)
}

func (b *tokenBalances) balance(token, owner common.Address) *big.Int {
	if amount := b.balances[holding{token, owner}]; amount != nil {
		return amount
	}
	return new(big.Int)
}

func (b *tokenBalances) allows(token, owner, spender common.Address) bool {
	return b.approved[[3]common.Address{token, owner, spender}]
}

func (b *tokenBalances) items(token, owner common.Address) []uint64 {
	held := b.held[holding{token, owner}]
	numbers := make([]uint64, len(held))
	for i := range held {
		numbers[i] = held[i].id
	}
	return numbers
}
