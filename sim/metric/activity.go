package metric

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
)

// Role is a way to take part in a block.
type Role int

// Roles: in a from or to, in a from, and as the creator of a contract.
const (
	Present Role = iota
	Sender
	Deployer
	roles
)

// Roles is a set of roles.
type Roles uint8

func (r Role) set() Roles { return 1 << r }

// Participant is an address that took part in a block.
type Participant struct {
	Address common.Address
	Roles   Roles
}

// Activity is one block's contribution to its chain's metrics.
type Activity struct {
	Time         int64 // of the block, Unix seconds
	Gap          int64 // seconds since the previous block, 0 for a chain's first
	Txs          int64
	Gas          int64
	Contracts    int64 // created
	Fees         uint256.Int
	Prices       uint256.Int // sum over transactions
	TopPrice     uint256.Int
	Participants []Participant // sorted by address, without duplicates after Close
}

// NewActivity starts an empty activity of a block at a time. The previous block's time is nil for a chain's first block.
func NewActivity(time int64, before *int64) *Activity {
	a := &Activity{Time: time}
	if before != nil {
		a.Gap = max(time-*before, 1)
	}
	return a
}

// Transaction adds a transaction; the recipient is empty for a creation.
func (a *Activity) Transaction(sender, recipient []byte, gas uint64, price *uint256.Int) {
	a.Txs++
	a.Gas += int64(gas)
	a.Prices.Add(&a.Prices, price)
	a.Fees.Add(&a.Fees, new(uint256.Int).Mul(price, uint256.NewInt(gas)))
	if price.Gt(&a.TopPrice) {
		a.TopPrice.Set(price)
	}
	a.mention(sender, Present.set()|Sender.set())
	if len(recipient) > 0 {
		a.mention(recipient, Present.set())
	}
}

// Creation adds a contract.
func (a *Activity) Creation(creator []byte) {
	a.Contracts++
	a.mention(creator, Deployer.set())
}

// Transfer adds a token's transfer event.
func (a *Activity) Transfer(from, to []byte) {
	a.mention(from, Present.set()|Sender.set())
	a.mention(to, Present.set())
}

func (a *Activity) mention(address []byte, as Roles) {
	a.Participants = append(a.Participants, Participant{common.BytesToAddress(address), as})
}

// Close sorts the participants and merges those with the same address.
func (a *Activity) Close() {
	slices.SortFunc(a.Participants, func(x, y Participant) int { return x.Address.Cmp(y.Address) })
	kept := a.Participants[:0]
	for _, m := range a.Participants {
		if last := len(kept) - 1; last >= 0 && kept[last].Address == m.Address {
			kept[last].Roles |= m.Roles
		} else {
			kept = append(kept, m)
		}
	}
	a.Participants = kept
}
