package primary

import (
	"context"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// ErrUndecided is Restore's error for a file that ends with a proposal.
var ErrUndecided = errUndecided

// ReplayStrictly is a strict Replay that passes the network to a function after the genesis and after each block.
func ReplayStrictly(ctx context.Context, db *store.DB, row store.PrimaryNetwork, cChain int, after func(*Network, *store.PrimaryDelta) error) error {
	var genesis []*store.PrimaryDelta
	r, err := begin(ctx, db, row, true, func(d *store.PrimaryDelta) error { genesis = append(genesis, d); return nil })
	if err != nil {
		return err
	}
	for _, d := range genesis {
		if err := after(r.Network, d); err != nil {
			return err
		}
	}
	r.sink = func(d *store.PrimaryDelta) error { return after(r.Network, d) }
	if r.chains[txs.PChain], err = r.chain(ctx, txs.PChain, r.AcceptP); err != nil {
		return err
	}
	if r.chains[txs.XChain], err = r.chain(ctx, txs.XChain, r.AcceptX); err != nil {
		return err
	}
	if r.chains[txs.CChain], err = r.cChain(ctx, cChain); err != nil {
		return err
	}
	for {
		if more, err := r.step(); err != nil || !more {
			return err
		}
	}
}

// NumberOf returns the number of an unspent output that a chain made.
func (n *Network) NumberOf(u *txs.UTXO, source txs.Chain) (store.UTXONumber, error) {
	return n.numberOf(u, source)
}

// Undecided reports whether the last block of the P-Chain is a proposal.
func (n *Network) Undecided() bool { return n.proposal != nil }
