package miner

import (
	"context"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/store"
)

// Memory is the part of a miner's state that lives in memory and that a snapshot keeps: waiting transactions, impersonated accounts, and
// clients' settings for the next blocks. It excludes the settings for automatic blocks, as on anvil and Hardhat.
type Memory struct {
	Pool            []PooledTx       `json:"pool,omitempty"`
	Impersonated    []common.Address `json:"impersonated,omitempty"`
	ImpersonatesAll bool             `json:"impersonatesAll,omitempty"`
	Time            uint64           `json:"time,omitempty"` // of the next block, Unix milliseconds
	Spacing         uint64           `json:"spacing,omitempty"`
	BaseFee         *hexutil.Big     `json:"baseFee,omitempty"` // of the next block
	GasLimit        *uint64          `json:"gasLimit,omitempty"`
	Coinbase        *common.Address  `json:"coinbase,omitempty"`
}

// PooledTx is a waiting transaction.
type PooledTx struct {
	Sender common.Address `json:"sender"`
	Raw    hexutil.Bytes  `json:"raw"`
}

// Memory returns the miner's current state for a snapshot. The caller holds the writer's lock.
func (m *Miner) Memory() (*Memory, error) {
	rows, _, err := m.Stored()
	if err != nil {
		return nil, err
	}
	w := m.settings.now()
	kept := &Memory{Time: w.time, Spacing: w.spacing, BaseFee: (*hexutil.Big)(w.baseFee), GasLimit: w.gasLimit, Coinbase: w.coinbase}
	kept.Impersonated, kept.ImpersonatesAll = m.Impersonation.kept()
	for i := range rows {
		kept.Pool = append(kept.Pool, PooledTx{common.BytesToAddress(rows[i].Sender), rows[i].Raw})
	}
	return kept, nil
}

// Rewound continues from the head of the reverted chain, with the state that a snapshot kept. The caller holds the writer's lock.
func (m *Miner) Rewound(ctx context.Context, kept *Memory) error {
	if m.builder != nil {
		m.undone = m.builder
	}
	m.builder, m.noncesSet = nil, false
	head, err := m.Chain.Head(ctx)
	if err != nil {
		return err
	}
	m.faults.rewound(head.Number)
	m.change(func(w *blockOverrides) {
		*w = blockOverrides{automine: w.automine, time: kept.Time, spacing: kept.Spacing, baseFee: (*big.Int)(kept.BaseFee), gasLimit: kept.GasLimit, coinbase: kept.Coinbase}
	})
	m.Impersonation.set(kept.Impersonated, kept.ImpersonatesAll)
	held := m.Pool.Held()
	m.Pool.Clear()
	rows := make([]store.PooledTx, len(kept.Pool))
	for i, t := range kept.Pool {
		rows[i] = store.PooledTx{Arrival: i, Sender: t.Sender.Bytes(), Raw: t.Raw}
	}
	if err := m.Load(ctx, rows); err != nil {
		return err
	}
	m.Pool.HoldAgain(held)
	if m.stored = m.Pool.Changes(); len(rows) > 0 { // the file has none
		m.stored--
	}
	return nil
}

// SetDefaults sets how blocks are made automatically unless clients change it.
func (m *Miner) SetDefaults(automine bool, every time.Duration) {
	set := func() {
		m.SetAutomine(automine)
		m.SetInterval(every)
	}
	m.defaults.Store(&set)
	set()
}

// RestoreDefaults undoes clients' changes to how blocks are made automatically.
func (m *Miner) RestoreDefaults() {
	if set := m.defaults.Load(); set != nil {
		(*set)()
	}
}

func (i *Impersonation) kept() ([]common.Address, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.accounts), i.all
}

func (i *Impersonation) set(accounts []common.Address, all bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.accounts, i.all = slices.Clone(accounts), all
}
