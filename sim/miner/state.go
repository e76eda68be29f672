package miner

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm/index"
	"snowglobe/sim/store"
)

// changeState changes the state after the head without a block; decide chooses the changes while the lock is held. Either all of them are
// made or none. It drops waiting transactions that no block can take any more.
func (m *Miner) changeState(ctx context.Context, decide func() ([]store.StateChange, error)) error {
	defer m.world.Lock(ctx)()
	if err := m.restore(ctx); err != nil {
		return err
	}
	changes, err := decide()
	if err != nil || len(changes) == 0 {
		return err
	}
	head, _ := m.builder.Head()
	known := &index.LaterHoldings{Before: m.Chain.Holdings(ctx, head.Number.Uint64()), Tokens: map[store.TokenID]store.Token{}}
	made, err := m.builder.Changes(changes, known)
	if err != nil {
		m.builder = nil
		return err
	}
	var accounts []store.Account
	for i := range changes {
		accounts = append(accounts, made[i].Accounts...)
		m.noncesSet = m.noncesSet || changes[i].Kind == store.NonceChange
	}
	if err := m.world.CommitChanges(m.Chain, made); err != nil {
		m.builder = nil
		return fmt.Errorf("change the state: %w", err)
	}
	m.pending.forget()
	m.Pool.Reset(accounts, m.settings.now().limited(head).GasLimit)
	return nil
}

func (m *Miner) changeAccount(ctx context.Context, address common.Address, decide func() (store.StateChange, error)) error {
	return m.changeState(ctx, func() ([]store.StateChange, error) {
		c, err := decide()
		c.Address = address.Bytes()
		return []store.StateChange{c}, err
	})
}

// SetBalance sets an account's balance in wei, without a transaction.
func (m *Miner) SetBalance(ctx context.Context, address common.Address, wei *uint256.Int) error {
	return m.changeAccount(ctx, address, func() (store.StateChange, error) {
		return store.StateChange{Kind: store.BalanceChange, Value: wei.PaddedBytes(32)}, nil
	})
}

// AddBalance adds wei to an account's balance, up to the maximum.
func (m *Miner) AddBalance(ctx context.Context, address common.Address, wei *uint256.Int) error {
	return m.changeAccount(ctx, address, func() (store.StateChange, error) {
		_, old, err := m.account(address)
		if err != nil {
			return store.StateChange{}, err
		}
		sum, overflow := new(uint256.Int).AddOverflow(old, wei)
		if overflow {
			sum.SetAllOne()
		}
		return store.StateChange{Kind: store.BalanceChange, Value: sum.PaddedBytes(32)}, nil
	})
}

// SetNonce sets an account's next nonce. It refuses to lower the nonce unless that is allowed.
func (m *Miner) SetNonce(ctx context.Context, address common.Address, nonce uint64, mayFall bool) error {
	return m.changeAccount(ctx, address, func() (store.StateChange, error) {
		old, _, err := m.account(address)
		if err == nil && nonce < old && !mayFall {
			err = fmt.Errorf("New nonce (%d) must not be smaller than the existing nonce (%d)", nonce, old)
		}
		return store.StateChange{Kind: store.NonceChange, Value: binary.BigEndian.AppendUint64(nil, nonce)}, err
	})
}

// SetCode sets the code of an account.
func (m *Miner) SetCode(ctx context.Context, address common.Address, code []byte) error {
	return m.changeAccount(ctx, address, func() (store.StateChange, error) {
		return store.StateChange{Kind: store.CodeChange, Value: append([]byte{}, code...)}, nil
	})
}

// SetStorage sets a slot of an account's storage. owner may name the account whose token balance the slot holds, so that the index of
// balances includes it even if the account never held any.
func (m *Miner) SetStorage(ctx context.Context, address common.Address, key, value common.Hash, owner *common.Address) error {
	return m.changeAccount(ctx, address, func() (store.StateChange, error) {
		c := store.StateChange{Kind: store.StorageChange, Key: key.Bytes(), Value: value.Bytes()}
		if owner != nil {
			c.Owner = owner.Bytes()
		}
		return c, nil
	})
}
