package miner

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Loaded describes what LoadState did.
type Loaded struct {
	Values   int              // that changed
	Unlisted []common.Address // contracts with more holders than LoadState finds: the index lists the others once they move
}

// LoadState sets accounts without a transaction, all or none. As in anvil_loadState, a nonce never falls, and slots that an account does not
// list keep their value. The changes are those that the methods for one value would make. holders may hold tokens among the accounts, as the
// accounts themselves may.
func (m *Miner) LoadState(ctx context.Context, accounts types.GenesisAlloc, holders []common.Address) (*Loaded, error) {
	loaded := &Loaded{}
	return loaded, m.changeState(ctx, func() (all []store.StateChange, err error) {
		addresses := slices.SortedFunc(maps.Keys(accounts), common.Address.Cmp)
		l := loader{m, loaded, balanceSlots(slices.Concat(addresses, holders))}
		for _, address := range addresses {
			account := accounts[address]
			changes, err := l.changes(address, &account)
			if err != nil {
				return nil, err
			}
			all = append(all, changes...)
		}
		loaded.Values = len(all)
		return all, nil
	})
}

type loader struct {
	*Miner
	loaded *Loaded
	owners map[common.Hash]common.Address // whose balance a slot holds, if the slot's contract is an ordinary token
}

// erc20Storage is where OpenZeppelin 5's upgradeable tokens begin their storage: ERC-7201, openzeppelin.storage.ERC20.
var erc20Storage = common.HexToHash("0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00")

// mappingSlots bounds the first slots of a contract that may be its mapping of balances.
const mappingSlots = 16

// balanceSlots returns the slots of a mapping from addresses in the layouts of Solidity and Vyper, with their addresses.
func balanceSlots(owners []common.Address) map[common.Hash]common.Address {
	all := make(map[common.Hash]common.Address, 2*(mappingSlots+1)*len(owners))
	for _, owner := range owners {
		key := common.LeftPadBytes(owner[:], 32)
		for n := range mappingSlots + 1 {
			at := common.Hash{31: byte(n)}
			if n == mappingSlots {
				at = erc20Storage
			}
			all[crypto.Keccak256Hash(key, at[:])] = owner
			all[crypto.Keccak256Hash(at[:], key)] = owner
		}
	}
	return all
}

// mostHolders bounds the holders that are found in one contract: the index reads the balances of all known ones again for each.
const mostHolders = 500

// changes returns the changes that lead to an account. Most slots come before the code, so that the index looks at a new token once, when it is
// complete; those of holders come after it, because only a token has any. Storage would give an otherwise empty account a nonce, so there the
// code comes first.
func (l *loader) changes(address common.Address, to *types.Account) (all []store.StateChange, err error) {
	nonce, balance, err := l.account(address)
	if err != nil {
		return nil, err
	}
	change := func(kind string, key, value []byte) store.StateChange {
		return store.StateChange{Kind: kind, Address: address.Bytes(), Key: key, Value: value}
	}
	want := uint256.MustFromBig(to.Balance)
	if !want.Eq(balance) {
		all = append(all, change(store.BalanceChange, nil, want.PaddedBytes(32)))
	}
	if to.Nonce > nonce {
		all = append(all, change(store.NonceChange, nil, binary.BigEndian.AppendUint64(nil, to.Nonce)))
	}
	var code, slots, held []store.StateChange
	hash, err := l.builder.CodeHash(address)
	if err != nil {
		return nil, err
	}
	if hash != crypto.Keccak256Hash(to.Code) {
		code = append(code, change(store.CodeChange, nil, append([]byte{}, to.Code...)))
	}
	for _, key := range slices.SortedFunc(maps.Keys(to.Storage), common.Hash.Cmp) {
		value, err := l.builder.Storage(address, evm.StateKey(l.Chain.Kind, key))
		if err != nil {
			return nil, err
		}
		if value == to.Storage[key] {
			continue
		}
		c := change(store.StorageChange, key.Bytes(), bytes.Clone(to.Storage[key].Bytes()))
		if owner, is := l.owners[key]; is && len(to.Code) > 0 {
			if len(held) < mostHolders {
				c.Owner = owner.Bytes()
				held = append(held, c)
				continue
			}
			if !slices.Contains(l.loaded.Unlisted, address) {
				l.loaded.Unlisted = append(l.loaded.Unlisted, address)
			}
		}
		slots = append(slots, c)
	}
	if want.IsZero() && max(to.Nonce, nonce) == 0 {
		return slices.Concat(all, code, slots, held), nil
	}
	return slices.Concat(all, slots, code, held), nil
}
