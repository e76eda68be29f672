package network

import (
	"context"
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

var errUndecided = errors.New("the last block is a proposal that nothing decided")

// restore makes a network from what its file knows, without going through its blocks again.
type restore struct {
	*Network
	ctx context.Context
	db  *store.DB
}

// Restore makes the network that stands where the file's chains end.
func Restore(ctx context.Context, db *store.DB, rules *primary.Network) (*Network, error) {
	r := &restore{Network: empty(rules), ctx: ctx, db: db}
	own, err := r.unspent()
	if err != nil {
		return nil, err
	}
	if err := r.platform(own[store.PChain]); err != nil {
		return nil, fmt.Errorf("P-chain: %w", err)
	}
	if err := r.exchange(own[store.XChain]); err != nil {
		return nil, fmt.Errorf("X-chain: %w", err)
	}
	r.C = primary.NewBridge(rules, r.shared)
	return r.Network, nil
}

// unspent reads every UTXO that is left: those that the chain that made them can spend, and into the shared memory those
// that it exported.
func (r *restore) unspent() (own [store.CChain + 1][]*primary.UTXO, err error) {
	for _, source := range []primary.Chain{primary.PChain, primary.XChain, primary.CChain} {
		rows, err := r.db.UTXOsMadeBy(r.ctx, r.Chain(int(source)))
		if err != nil {
			return own, err
		}
		for i := range rows {
			if rows[i].Spent != nil {
				continue
			}
			u, err := primary.ParseUTXO(source, rows[i].Bytes())
			if err != nil {
				return own, err
			}
			r.utxos[u.InputID()] = rows[i].ID
			destination := primary.Chain(rows[i].Chain - r.Chain(store.PChain))
			if destination == source {
				own[source] = append(own[source], u)
				continue
			}
			r.shared.Put(r.Rules.BlockchainID(source), r.Rules.BlockchainID(destination), u)
		}
	}
	return own, nil
}

// head reads a chain's last block and what the next one continues.
func (r *restore) head(chain int) (*store.PrimaryBlock, error) {
	b, err := r.db.PrimaryHead(r.ctx, r.Chain(chain))
	if err != nil {
		return nil, err
	}
	outer := b.OuterID
	if outer == nil {
		outer = b.Hash // a genesis has no envelope
	}
	r.tips[chain] = tip{
		digest: b.Digest, allTxs: b.AllTxs, outer: ids.ID(outer), pHeight: b.PHeight, time: uint64(b.Time),
		epoch: primary.Epoch{PHeight: b.EpochHeight, Number: b.Epoch, Start: b.EpochStart},
	}
	return b, nil
}

func (r *restore) exchange(utxos []*primary.UTXO) error {
	rows, err := r.db.Assets(r.ctx, r.Chain(store.XChain))
	if err != nil {
		return err
	}
	assets := make([]*primary.Asset, len(rows))
	for i, row := range rows {
		assets[i] = &primary.Asset{ID: ids.ID(row.Hash), Name: row.Name, Symbol: row.Symbol, Denomination: row.Denomination}
		for _, fx := range row.Fxs {
			assets[i].Fxs = append(assets[i].Fxs, uint32(fx))
		}
	}
	head, err := r.head(store.XChain)
	if err != nil {
		return err
	}
	r.X = primary.NewExchange(r.Rules, r.shared, assets, utxos)
	r.X.SetTip(ids.ID(head.Hash), head.ID.Number(), uint64(head.Time))
	return nil
}

func (r *restore) platform(utxos []*primary.UTXO) error {
	head, err := r.head(store.PChain)
	if err != nil {
		return err
	}
	if head.Type == "Proposal" {
		return errUndecided
	}
	at := primary.PlatformState{
		Time: uint64(head.Time), Supply: uint64(head.Supply), Excess: head.L1Excess, Accrued: uint64(head.Accrued), UTXOs: utxos,
		Fees: primary.FeeState{Capacity: head.GasCapacity, Excess: head.GasExcess}, Registered: map[ids.ID]uint64{},
	}
	for _, load := range []func(*primary.PlatformState) error{
		r.loadStakers, r.loadSubnets, r.loadBlockchains, r.loadRegistrations,
		func(at *primary.PlatformState) error { return r.loadL1Validators(at, head.ID.Number()) },
	} {
		if err := load(&at); err != nil {
			return err
		}
	}
	r.P = primary.NewPlatform(r.Rules, r.shared, at)
	r.P.SetTip(ids.ID(head.Hash), head.ID.Number(), uint64(head.Time))
	return nil
}
