package seed

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

// ledger is what the actors know of who holds what: they read it off the logs, as people read a wallet.
type tokenBalances struct {
	balances map[holding]*big.Int
	approved map[[3]common.Address]bool // token, owner, spender
	items    map[holding][]item
}

func newTokenBalances() *tokenBalances {
	return &tokenBalances{balances: map[holding]*big.Int{}, approved: map[[3]common.Address]bool{}, items: map[holding][]item{}}
}

func (l *tokenBalances) observe(r *types.Receipt) {
	for _, log := range r.Logs {
		switch {
		case len(log.Topics) == 3 && log.Topics[0] == topicTransfer && len(log.Data) == 32:
			l.move(log.Address, address(log.Topics[1]), address(log.Topics[2]), new(big.Int).SetBytes(log.Data))
		case len(log.Topics) == 4 && log.Topics[0] == topicTransfer:
			l.hand(log.Address, address(log.Topics[1]), address(log.Topics[2]), log.Topics[3].Big().Uint64())
		case len(log.Topics) == 4 && log.Topics[0] == topicSingle && len(log.Data) == 64:
			l.hand(log.Address, address(log.Topics[2]), address(log.Topics[3]), new(big.Int).SetBytes(log.Data[:32]).Uint64())
		case len(log.Topics) == 3 && log.Topics[0] == topicApproval:
			l.approved[[3]common.Address{log.Address, address(log.Topics[1]), address(log.Topics[2])}] = true
		}
	}
}

func address(topic common.Hash) common.Address { return common.BytesToAddress(topic[:]) }

func (l *tokenBalances) move(token, from, to common.Address, amount *big.Int) {
	l.balances[holding{token, from}] = new(big.Int).Sub(l.balance(token, from), amount)
	l.balances[holding{token, to}] = new(big.Int).Add(l.balance(token, to), amount)
}

// hand moves an item. One of an ERC-1155's kind counts as one item, however many there are of it.
func (l *tokenBalances) hand(token, from, to common.Address, id uint64) {
	it := item{token, id}
	had := l.items[holding{token, from}]
	for i := range had {
		if had[i] == it {
			l.items[holding{token, from}] = append(had[:i:i], had[i+1:]...)
			break
		}
	}
	l.items[holding{token, to}] = append(l.items[holding{token, to}], it)
}

func (l *tokenBalances) balance(token, owner common.Address) *big.Int {
	if b := l.balances[holding{token, owner}]; b != nil {
		return b
	}
	return new(big.Int)
}
