package export

import (
	"context"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/pchain"
	"snowglobe/sim/query"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// spent returns the outputs that a transaction consumed, first its own chain's, then imported ones.
func (r *primaryReader) spent(ctx context.Context, base primaryRow, tx *txs.Tx) (all []primaryRow, err error) {
	base.kind = debit
	for _, id := range tx.Consumed() {
		if all, err = r.consumed(ctx, all, base, id); err != nil {
			return nil, err
		}
	}
	source, imported := imports(tx)
	base.kind = debitAtomic
	base.peer, _ = r.source.rules.ChainOf(source)
	for _, in := range imported {
		if all, err = r.consumed(ctx, all, base, in.InputID()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// imports returns a transaction's imported inputs and their source chain.
func imports(tx *txs.Tx) (ids.ID, []*txs.TransferableInput) {
	switch u := tx.Unsigned.(type) {
	case *txs.ImportTx:
		return u.SourceChain, u.ImportedInputs
	case *txs.AtomicImportTx:
		return u.SourceChain, u.ImportedInputs
	}
	return ids.Empty, nil
}

func (r *primaryReader) consumed(ctx context.Context, all []primaryRow, base primaryRow, id ids.ID) ([]primaryRow, error) {
	u, err := r.world.DB.UTXOOfNetwork(ctx, rules.Index(r.source.rules.NetworkID), id[:])
	if err != nil {
		return nil, err
	}
	return r.add(ctx, all, base, u)
}

// accountMoves returns the changes of an atomic transaction to C-Chain accounts.
func (r *primaryReader) accountMoves(ctx context.Context, base primaryRow, tx *txs.Tx) (all []primaryRow, err error) {
	var moves []txs.EVMOutput
	switch u := tx.Unsigned.(type) {
	case *txs.AtomicExportTx:
		base.kind = debit
		for _, in := range u.Ins {
			moves = append(moves, txs.EVMOutput{Address: in.Address, Amount: in.Amount, AssetID: in.AssetID})
		}
	case *txs.AtomicImportTx:
		base.kind, moves = credit, u.Outs
	}
	for _, move := range moves {
		if !r.accounts[move.Address] {
			continue
		}
		row := base
		row.owners, row.amount = []string{move.Address.Hex()}, move.Amount
		if row.asset, err = r.asset(ctx, move.AssetID); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}

// made returns the outputs that a transaction created, on its own chain or for another. The outputs of a reward come with the block that
// decides it.
func (r *primaryReader) made(ctx context.Context, base primaryRow, tx *txs.Tx) (all []primaryRow, err error) {
	maker, height := tx.ID(), base.tx.ID.Number()
	staking, ends := txs.Rewarded(tx.Unsigned)
	if ends {
		height++
	}
	if _, once := tx.Unsigned.(*txs.RewardValidatorTx); once {
		maker = staking
	}
	if height > r.source.Head {
		return nil, nil
	}
	utxos, err := r.world.DB.UTXOsOfBlock(ctx, r.source.rows, height)
	if err != nil {
		return nil, err
	}
	var staker *store.Staker
	if ends {
		if staker, err = r.world.DB.RewardedBy(ctx, staking[:], base.tx.Hash); err != nil {
			return nil, err
		}
		base.stake = stakeOf(staker)
	}
	rewards := 0
	for i := range utxos {
		u := &utxos[i]
		if ids.ID(u.Tx) != maker {
			continue
		}
		row := base
		row.kind = credit
		if u.Chain != r.source.rows {
			row.kind, row.peer = creditAtomic, txs.Chain(u.Chain-r.source.rows+int(r.codec))
		}
		if u.Reward {
			if row.reward, err = query.PaidKind(ctx, r.world.DB, staker, rewards); err != nil {
				return nil, err
			}
			rewards++
		}
		if all, err = r.add(ctx, all, row, u); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// staked returns the outputs that a staking transaction locked. They become its outputs when staking ends.
func (r *primaryReader) staked(ctx context.Context, base primaryRow, tx *txs.Tx) (all []primaryRow, err error) {
	staker, err := pchain.NewStaker(tx, pchain.Active)
	if err != nil || len(staker.Stake()) == 0 {
		return nil, nil // no stake
	}
	base.kind = creditStake
	cycles, err := r.world.DB.CyclesOfTx(ctx, base.tx.Hash)
	if err != nil {
		return nil, err
	}
	if len(cycles) == 0 { // the world went back meanwhile
		return nil, store.ErrNotFound
	}
	base.stake = stakeOf(&cycles[0])
	index := len(tx.Unsigned.Base().Outs)
	for i, out := range staker.Stake() {
		u := txs.UTXO{UTXOID: txs.UTXOID{TxID: tx.ID(), OutputIndex: uint32(index + i)}, AssetID: out.AssetID, Out: out.Out}
		row := base
		row.amount = u.Amount()
		if all, err = r.own(ctx, all, row, u.UTXOID, u.AssetID, u.Out); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// stakeOf returns the subnet, node and period of a staker, or of one cycle of a validator that renews itself.
func stakeOf(s *store.Staker) *stake {
	return &stake{ids.ID(s.Tx), ids.NodeID(s.Node), ids.ID(s.Subnet), uint64(s.Start), uint64(s.End)}
}
