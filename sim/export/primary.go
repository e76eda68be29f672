package export

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// primaryReader reads the transactions that involve some owners' outputs on one chain of the primary network.
type primaryReader struct {
	world    *sim.World
	scope    *Scope
	source   *chainSource
	codec    txs.Chain
	market   *market // of the C-Chain, whose token is AVAX
	owners   map[ids.ShortID]bool
	accounts map[common.Address]bool
	assets   map[ids.ID]*asset
	table    table[primaryRow]
}

func openPrimary(ctx context.Context, w *sim.World, s *Scope, at *chainSource, low, high store.Position) (eventReader, *union, error) {
	m, err := openMarket(ctx, w, at.evm.Row.ID)
	if err != nil {
		return nil, nil, err
	}
	r := &primaryReader{world: w, scope: s, source: at, codec: at.primary(), market: m, owners: map[ids.ShortID]bool{},
		accounts: map[common.Address]bool{}, assets: map[ids.ID]*asset{}, table: s.Type.table().(table[primaryRow])}
	concerns := func(address [20]byte) find {
		return func(ctx context.Context, low, high store.Position, limit int) ([]store.Position, error) {
			return w.DB.ActivityIDs(ctx, [][]byte{address[:]}, store.TxRange{Low: low, High: high, Ascending: true, Limit: limit})
		}
	}
	var finds []find
	for _, owner := range s.Owners[at.Network] {
		r.owners[owner] = true
		finds = append(finds, concerns(owner))
	}
	if len(r.owners) > 0 && r.codec != txs.XChain { // the X-Chain's transactions include its genesis outputs
		finds = append(finds, r.findGenesis)
	}
	for _, account := range s.Accounts {
		r.accounts[account] = true
		if at.Kind == KindC {
			finds = append(finds, concerns(account))
		}
	}
	return r, newUnion(finds, low, high), nil
}

// genesis stands for a chain's genesis outputs, which no transaction created: the last position of block 0.
func (r *primaryReader) genesis() store.Position { return store.First(r.source.rows).End() }

func (r *primaryReader) findGenesis(_ context.Context, low, high store.Position, _ int) ([]store.Position, error) {
	if at := r.genesis(); low <= at && at <= high {
		return []store.Position{at}, nil
	}
	return nil, nil
}

func (r *primaryReader) read(ctx context.Context, at []store.Position) ([]Event, error) {
	var events []Event
	for _, p := range at {
		time, err := r.source.time(ctx, r.world, p.Number())
		if err != nil {
			return nil, err
		}
		rows, err := r.rowsOf(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("%s transaction at %d: %w", r.codec, p, err)
		}
		e := Event{Time: time}
		for i := range rows {
			m := &rows[i]
			if r.scope.Type == Staking && m.kind != creditStake && !query.Rewards(m.tx.Type) {
				continue
			}
			m.time, m.first, m.dollars = time, e.Rows == 0, r.dollars(m.asset, time)
			e.Text = r.table.line(e.Text, m)
			e.Rows++
		}
		if e.Rows > 0 {
			events = append(events, e)
		}
	}
	return events, nil
}

// dollars returns the price of one whole unit of an asset: only AVAX has a market.
func (r *primaryReader) dollars(a *asset, unix int64) *big.Int {
	if a.id != r.source.rules.AVAXAssetID {
		return nil
	}
	return r.market.dollars(r.market.Native, unix)
}

// rowsOf returns a transaction's rows: the outputs it spent, created and locked.
func (r *primaryReader) rowsOf(ctx context.Context, at store.Position) (all []primaryRow, err error) {
	if at == r.genesis() {
		return r.genesisOutputs(ctx, at)
	}
	row, err := r.world.DB.PrimaryTx(ctx, at)
	if err != nil {
		return nil, err
	}
	tx, err := txs.ReadTx(r.codec, ids.ID(row.Hash), row.Bytes)
	if err != nil {
		return nil, err
	}
	base := primaryRow{primaryReader: r, tx: row}
	if u := tx.Unsigned.Base(); u != nil {
		base.memo = u.Memo
	}
	for _, part := range []func(context.Context, primaryRow, *txs.Tx) ([]primaryRow, error){r.spent, r.accountMoves, r.made, r.staked} {
		rows, err := part(ctx, base, tx)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

func (r *primaryReader) genesisOutputs(ctx context.Context, at store.Position) (all []primaryRow, err error) {
	seen := map[store.UTXONumber]bool{}
	for _, owner := range r.scope.Owners[r.source.Network] {
		utxos, err := r.world.DB.UTXOsOfGenesis(ctx, owner[:], r.source.rows)
		if err != nil {
			return nil, err
		}
		for i := range utxos {
			u := &utxos[i]
			if seen[u.ID] {
				continue
			}
			seen[u.ID] = true
			base := primaryRow{primaryReader: r, tx: &store.PrimaryTx{ID: at, Hash: u.Tx, Type: "Genesis"}, kind: credit}
			if all, err = r.add(ctx, all, base, u); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// add appends a stored output's row if the owners own it.
func (r *primaryReader) add(ctx context.Context, all []primaryRow, m primaryRow, u *store.UTXO) ([]primaryRow, error) {
	parsed, err := txs.ParseUTXO(r.codec, u.Bytes())
	if err != nil {
		return nil, err
	}
	m.amount = parsed.Amount()
	switch parsed.Out.(type) {
	case *txs.NFTTransferOutput, *txs.PropertyOwnedOutput:
		m.amount = 1 // one unit each
	}
	return r.own(ctx, all, m, parsed.UTXOID, parsed.AssetID, parsed.Out)
}

// own appends an output's row if the owners own it.
func (r *primaryReader) own(ctx context.Context, all []primaryRow, m primaryRow, from txs.UTXOID, assetID ids.ID, out txs.Output) (_ []primaryRow, err error) {
	held := txs.UTXO{Out: out}
	concerned := false
	for _, owner := range held.Owners().Addresses {
		concerned = concerned || r.owners[owner]
		m.owners = append(m.owners, r.source.rules.Address(r.codec, owner))
	}
	if !concerned {
		return all, nil
	}
	m.output = &output{from.InputID(), from.TxID, from.OutputIndex, out}
	if m.asset, err = r.asset(ctx, assetID); err != nil {
		return nil, err
	}
	return append(all, m), nil
}

// asset returns an X-Chain asset, read on first use.
func (r *primaryReader) asset(ctx context.Context, id ids.ID) (*asset, error) {
	if a := r.assets[id]; a != nil {
		return a, nil
	}
	row, err := r.world.DB.AssetByHash(ctx, r.exchange(), id[:])
	if err != nil {
		return nil, fmt.Errorf("asset %s: %w", id, err)
	}
	a := &asset{id, row.Name, row.Symbol, int(row.Denomination)}
	r.assets[id] = a
	return a, nil
}

// exchange returns the number of the network's X-Chain.
func (r *primaryReader) exchange() int { return r.source.rows - int(r.codec) + int(txs.XChain) }
