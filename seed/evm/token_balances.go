package evm

import (
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
)

var (
	topicTransfer = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))
	topicApproval = crypto.Keccak256Hash([]byte("Approval(address,address,uint256)"))
	topicSingle   = crypto.Keccak256Hash([]byte("TransferSingle(address,address,address,uint256,uint256)"))
)

type holding struct{ token, owner common.Address }

// tokenHoldings answers what accounts need to know of tokens to act.
type tokenHoldings interface {
	balance(token, owner common.Address) *big.Int
	allows(token, owner, spender common.Address) bool     // after an approval
	items(token, owner common.Address) (numbers []uint64) // held items of a token, the oldest first
	observe(r *types.Receipt)                             // applies a transaction's changes
}

// tokenBalances tracks token holdings through transfer logs. There are hundreds of thousands: balances have no pointers for the garbage
// collector to follow.
type tokenBalances struct {
	balances map[holding]uint256.Int
	approved map[[3]common.Address]bool // token, owner, spender
	held     map[holding][]uint64       // token ids, the oldest first
}

func newTokenBalances() *tokenBalances {
	return &tokenBalances{balances: map[holding]uint256.Int{}, approved: map[[3]common.Address]bool{}, held: map[holding][]uint64{}}
}

func (b *tokenBalances) observe(r *types.Receipt) {
	for _, log := range r.Logs {
		switch {
		case len(log.Topics) == 3 && log.Topics[0] == topicTransfer && len(log.Data) == 32:
			b.move(log.Address, addressOf(log.Topics[1]), addressOf(log.Topics[2]), new(uint256.Int).SetBytes(log.Data))
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

// move moves an amount. A sender of more than the logs showed it receive gets a negative balance, in two's complement.
func (b *tokenBalances) move(token, from, to common.Address, amount *uint256.Int) {
	rest, sum := b.balances[holding{token, from}], b.balances[holding{token, to}]
	if from == to {
		return
	}
	b.balances[holding{token, from}] = *rest.Sub(&rest, amount)
	b.balances[holding{token, to}] = *sum.Add(&sum, amount)
}

// moveItem moves an item. Any amount of an ERC-1155 id counts as one item.
func (b *tokenBalances) moveItem(token, from, to common.Address, id uint64) {
	had := b.held[holding{token, from}]
	if i := slices.Index(had, id); i >= 0 {
		b.held[holding{token, from}] = slices.Delete(had, i, i+1)
	}
	b.held[holding{token, to}] = append(b.held[holding{token, to}], id)
}

func (b *tokenBalances) balance(token, owner common.Address) *big.Int {
	amount := b.balances[holding{token, owner}]
	if amount.Sign() < 0 { // of a token that did not log all its transfers
		return new(big.Int).Neg(amount.Neg(&amount).ToBig())
	}
	return amount.ToBig()
}

func (b *tokenBalances) allows(token, owner, spender common.Address) bool {
	return b.approved[[3]common.Address{token, owner, spender}]
}

func (b *tokenBalances) items(token, owner common.Address) []uint64 {
	return b.held[holding{token, owner}]
}
