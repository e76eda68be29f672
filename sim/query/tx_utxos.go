package query

import (
	"bytes"
	"errors"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TxUTXOs is a primary chain's transaction with the outputs it spent and created.
type TxUTXOs struct {
	*txs.Tx
	Kind          txs.Chain
	Row           *store.PrimaryTx
	Block         *blockTime
	Staker        *store.Staker // that the transaction adds or rewards
	ConsumedUTXOs []*Output
	EmittedUTXOs  []*Output
}

// TxUTXOs reads the transaction at a position.
func (b *ChainReader) TxUTXOs(kind txs.Chain, at store.Position) (*TxUTXOs, error) {
	t := &TxUTXOs{Kind: kind}
	var err error
	if t.Row, err = b.DB.PrimaryTx(b.Ctx, at); err != nil {
		return nil, err
	}
	if kind == txs.XChain && at.Number() == 0 { // its id is not its hash
		t.Tx, err = txs.ReadTx(kind, ids.ID(t.Row.Hash), t.Row.Bytes)
	} else {
		t.Tx, err = txs.ParseTx(kind, t.Row.Bytes)
	}
	if err != nil {
		return nil, err
	}
	if t.Block, err = b.BlockTime(at); err != nil {
		return nil, err
	}
	if err := b.findStaker(t); err != nil {
		return nil, err
	}
	return t, errors.Join(b.consume(t), b.emit(t))
}

func (b *ChainReader) consume(t *TxUTXOs) error {
	for _, c := range t.SpentOutputs() {
		from := t.Kind
		if c.Imported {
			from = b.source(t)
		}
		o, err := b.named(from, c.UTXOID)
		if err == nil && o == nil {
			err = store.ErrNotFound
		}
		if err != nil {
			return err
		}
		t.ConsumedUTXOs = append(t.ConsumedUTXOs, o)
	}
	return nil
}

// source returns the chain that an import takes from.
func (b *ChainReader) source(t *TxUTXOs) txs.Chain {
	from := ids.Empty
	switch u := t.Unsigned.(type) {
	case *txs.ImportTx:
		from = u.SourceChain
	case *txs.AtomicImportTx:
		from = u.SourceChain
	}
	kind, _ := b.Rules.ChainOf(from)
	return kind
}

func (b *ChainReader) findStaker(t *TxUTXOs) error {
	id := t.ID()
	var s *store.Staker
	var err error
	if staking, rewards := txs.Rewarded(t.Unsigned); rewards {
		s, err = b.DB.RewardedBy(b.Ctx, staking[:], id[:])
		if errors.Is(err, store.ErrNotFound) { // the next block is to decide it
			s, err = b.DB.StakerOfTx(b.Ctx, staking[:])
		}
	} else {
		switch t.Unsigned.(type) {
		case *txs.AddValidatorTx, *txs.AddDelegatorTx, *txs.AddSubnetValidatorTx,
			*txs.AddPermissionlessValidatorTx, *txs.AddPermissionlessDelegatorTx, *txs.AddAutoRenewedValidatorTx:
		default:
			return nil
		}
		var cycles []store.Staker
		if cycles, err = b.DB.CyclesOfTx(b.Ctx, id[:]); err == nil && len(cycles) == 0 {
			err = store.ErrNotFound
		}
		if err == nil {
			s = &cycles[0]
		}
	}
	t.Staker = s
	if err != nil || s.Status != store.StakerPending {
		return err
	}
	head, err := b.DB.PrimaryHead(b.Ctx, b.Chain(txs.PChain))
	if err == nil {
		s.PotentialReward = b.PotentialReward(s, head)
	}
	return err
}

// emit finds the outputs that a transaction created: its own, those it exported and staked, the refund of an L1 validator's balance, and
// the rewards at the end of a stake. The staking transaction emits the stake itself.
func (b *ChainReader) emit(t *TxUTXOs) error {
	switch u := t.Unsigned.(type) {
	case *txs.RewardValidatorTx:
		return b.emitRewards(t, u.TxID)
	case *txs.RewardAutoRenewedValidatorTx:
		return b.emitRewards(t, t.ID())
	}
	_, exported := t.Exported()
	made := append(t.Produced(), exported...)
	for _, u := range made {
		o, err := b.named(t.Kind, u.UTXOID)
		if err != nil {
			return err
		}
		if o == nil {
			return store.ErrNotFound
		}
		t.EmittedUTXOs = append(t.EmittedUTXOs, o)
	}
	return b.emitLater(t, len(made))
}

// emitLater finds the outputs that follow a transaction's own. A stake becomes a row when it is returned.
func (b *ChainReader) emitLater(t *TxUTXOs, index int) error {
	switch t.Unsigned.(type) {
	case *txs.SetL1ValidatorWeightTx, *txs.DisableL1ValidatorTx:
		o, err := b.named(t.Kind, txs.UTXOID{TxID: t.ID(), OutputIndex: uint32(index)})
		if o != nil {
			t.EmittedUTXOs = append(t.EmittedUTXOs, o)
		}
		return err
	}
	for i, out := range stakeOf(t.Tx) {
		id := txs.UTXOID{TxID: t.ID(), OutputIndex: uint32(index + i)}
		o, err := b.named(t.Kind, id)
		if err == nil && o == nil {
			o, err = newStakedOutput(&txs.UTXO{UTXOID: id, AssetID: out.AssetID, Out: out.Out}, t.Staker, t.Row.ID, t.Block)
		}
		if err != nil {
			return err
		}
		t.EmittedUTXOs = append(t.EmittedUTXOs, o)
	}
	return nil
}

// emitRewards finds the rewards that the end of a stake paid as outputs of a transaction, if this transaction ended it.
func (b *ChainReader) emitRewards(t *TxUTXOs, maker ids.ID) error {
	made, err := b.DB.UTXOsOfTx(b.Ctx, t.Row.ID.Chain(), maker[:])
	if errors.Is(err, store.ErrNotFound) || err == nil && !bytes.Equal(t.Staker.RewardTx, t.Row.Hash) {
		return nil
	}
	for i := range made {
		if !made[i].Reward {
			continue
		}
		o, err := b.Output(&made[i])
		if err != nil {
			return err
		}
		t.EmittedUTXOs = append(t.EmittedUTXOs, o)
	}
	return err
}
