package miner

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Load fills the pool with the transactions that waited when the world was closed. It leaves out transactions that no longer fit the state.
func (m *Miner) Load(ctx context.Context, rows []store.PooledTx) error {
	if len(rows) == 0 {
		return nil
	}
	head, err := m.Chain.Head(ctx)
	if err != nil {
		return err
	}
	states, err := m.Chain.State(ctx, head)
	if err != nil {
		return err
	}
	m.Pool.SetBaseFee(new(big.Int)) // transactions may have been accepted for a block with a base fee of 0
	for i := range rows {
		tx, sender := new(types.Transaction), common.BytesToAddress(rows[i].Sender)
		if err := tx.UnmarshalBinary(rows[i].Raw); err != nil {
			return fmt.Errorf("pooled transaction %d: %w", rows[i].Arrival, err)
		}
		_ = m.Pool.Add(tx, sender, states.GetNonce(sender), states.GetBalance(sender)) // a block may have included it before a kill
	}
	m.Pool.SetBaseFee(m.settings.now().baseFee)
	m.stored = m.Pool.Changes()
	return evm.Fault(states)
}

// Stored returns the rows from which Load restores the pool, and whether they differ from the file's.
func (m *Miner) Stored() (rows []store.PooledTx, changed bool, err error) {
	for i, t := range m.Pool.All() {
		raw, err := t.MarshalBinary()
		if err != nil {
			return nil, false, err
		}
		rows = append(rows, store.PooledTx{Chain: m.Chain.Row.ID, Arrival: i, Sender: t.Sender.Bytes(), Raw: raw})
	}
	return rows, m.Pool.Changes() != m.stored, nil
}
