package store

import (
	"context"
	"database/sql"
)

// The primary chains of a network, as they follow each other in the numbering of primary chains.
const (
	PChain = iota
	XChain
	CChain
	chainsPerNetwork
)

// PrimaryChain numbers a primary chain: the index of the network and one of PChain, XChain and CChain.
func PrimaryChain(network, chain int) int { return network*chainsPerNetwork + chain + 1 }

// PrimaryNetwork is what the P- and the X-chain of a network began with.
type PrimaryNetwork struct {
	ID       uint32
	Platform []byte // genesis bytes
	Exchange []byte // genesis bytes
}

// PrimaryNetworks lists the networks with their genesis, mainnet first.
func (db *DB) PrimaryNetworks(ctx context.Context) ([]PrimaryNetwork, error) {
	return many(ctx, db, `SELECT id, platform, exchange FROM primary_network ORDER BY id`, nil,
		func(r *sql.Rows, n *PrimaryNetwork) error { return r.Scan(&n.ID, &n.Platform, &n.Exchange) })
}

// AddPrimaryNetwork writes a network's genesis.
func (b *Batch) AddPrimaryNetwork(n PrimaryNetwork) error {
	return b.exec(`INSERT INTO primary_network (id, platform, exchange) VALUES (?, ?, ?)`, n.ID, n.Platform, n.Exchange)
}

// PrimaryDelta is everything that one block of P or X adds to the world, or the atomic transactions of one C-Chain block.
type PrimaryDelta struct {
	Block        *PrimaryBlock // nil for C, whose blocks are EVM blocks
	Transactions []PrimaryTx
	UTXOs        []UTXO
	Spends       []Spend
	Activity     []Activity
	Assets       []PrimaryAsset
	Stakers      []Staker // new ones and new values of old ones
	L1Validators []L1Validator
	L1States     []L1State
	Subnets      []Subnet
	SubnetStates []SubnetState
	Blockchains  []Blockchain
	Stakes       []StakeChange
	Fees         []FeeChange
	Meter        []MeterRow
}

// AddPrimaryBlock writes everything that a block adds.
func (b *Batch) AddPrimaryBlock(d *PrimaryDelta) error {
	if d == nil {
		return nil
	}
	b.platform = true
	if d.Block != nil {
		if err := b.addPrimaryBlock(d.Block); err != nil {
			return err
		}
	}
	for _, write := range []func() error{
		func() error { return each(d.Transactions, b.addPrimaryTx) },
		func() error { return each(d.UTXOs, b.addUTXO) },
		func() error { return each(d.Spends, b.addSpend) },
		func() error { return each(d.Activity, b.addActivity) },
		func() error { return each(d.Assets, b.addAsset) },
		func() error { return each(d.Stakers, b.putStaker) },
		func() error { return each(d.L1Validators, b.addL1Validator) },
		func() error { return each(d.L1States, b.addL1State) },
		func() error { return each(d.Subnets, b.addSubnet) },
		func() error { return each(d.SubnetStates, b.addSubnetState) },
		func() error { return each(d.Blockchains, b.addBlockchain) },
		func() error { return b.addStakes(d) },
		func() error { return b.addFees(d) },
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// AtomicBlocks reads the blocks of an EVM chain that hold atomic transactions, ascending.
func (db *DB) AtomicBlocks(ctx context.Context, chain int) ([]Block, error) {
	return many(ctx, db, `SELECT `+blockColumns+` FROM block WHERE ext_data IS NOT NULL AND id BETWEEN ? AND ? ORDER BY id`,
		[]any{First(chain), Last(chain)}, scanBlock)
}
