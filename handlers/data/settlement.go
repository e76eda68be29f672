package data

import (
	"bytes"
	"errors"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// txUTXOs is a transaction of a primary chain with the outputs that it spent and made.
type txUTXOs struct {
	*primary.Tx
	kind     primary.Chain
	row      *store.PrimaryTx
	block    *blockTime
	staker   *store.Staker // that the transaction made, or rewards
	consumed []*output
	emitted  []*output
}

// txUTXOs reads the transaction at a position.
func (b *chainReader) txUTXOs(kind primary.Chain, at store.Position) (*txUTXOs, error) {
	t := &txUTXOs{kind: kind}
	var err error
	if t.row, err = b.DB.PrimaryTx(b.ctx, at); err != nil {
		return nil, err
	}
	if t.Tx, err = primary.ParseTx(kind, t.row.Bytes); err != nil {
		return nil, err
	}
	if t.block, err = b.blockTime(at); err != nil {
		return nil, err
	}
	if err := b.findStaker(t); err != nil {
		return nil, err
	}
	return t, errors.Join(b.consume(t), b.emit(t))
}

// consume finds what a transaction spent.
func (b *chainReader) consume(t *txUTXOs) error {
	for _, c := range t.Consumptions() {
		from := t.kind
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
		t.consumed = append(t.consumed, o)
	}
	return nil
}

// source is the chain that an import takes from.
func (b *chainReader) source(t *txUTXOs) primary.Chain {
	from := ids.Empty
	switch u := t.Unsigned.(type) {
	case *primary.ImportTx:
		from = u.SourceChain
	case *primary.AtomicImportTx:
		from = u.SourceChain
	}
	kind, _ := b.Rules.ChainOf(from)
	return kind
}

// findStaker finds the staker that the transaction is about, if it is about one.
func (b *chainReader) findStaker(t *txUTXOs) error {
	id := t.ID()
	switch u := t.Unsigned.(type) {
	case *primary.RewardValidatorTx:
		id = u.TxID
	case *primary.AddValidatorTx, *primary.AddDelegatorTx, *primary.AddSubnetValidatorTx,
		*primary.AddPermissionlessValidatorTx, *primary.AddPermissionlessDelegatorTx:
	default:
		return nil
	}
	s, err := b.DB.StakerOfTx(b.ctx, id[:])
	t.staker = s
	if err != nil || s.Status != store.StakerPending {
		return err
	}
	head, err := b.DB.PrimaryHead(b.ctx, b.Chain(primary.PChain))
	if err == nil {
		s.Reward = b.PotentialReward(s, head)
	}
	return err
}

// emit finds what a transaction made: its outputs, what it exported and staked, what remained of an L1 validator's
// balance, and the rewards of one that ended a stake. The stake itself was made by the transaction that staked it.
func (b *chainReader) emit(t *txUTXOs) error {
	if u, ok := t.Unsigned.(*primary.RewardValidatorTx); ok {
		return b.emitRewards(t, u.TxID)
	}
	_, exported := t.Exported()
	made := append(t.Produced(), exported...)
	for _, u := range made {
		o, err := b.named(t.kind, u.UTXOID)
		if err != nil {
			return err
		}
		if o == nil {
			return store.ErrNotFound
		}
		t.emitted = append(t.emitted, o)
	}
	return b.emitLater(t, len(made))
}

// emitLater finds what comes after a transaction's own outputs. A stake becomes a row when it is returned.
func (b *chainReader) emitLater(t *txUTXOs, index int) error {
	switch t.Unsigned.(type) {
	case *primary.SetL1ValidatorWeightTx, *primary.DisableL1ValidatorTx:
		o, err := b.named(t.kind, primary.UTXOID{TxID: t.ID(), OutputIndex: uint32(index)})
		if o != nil {
			t.emitted = append(t.emitted, o)
		}
		return err
	}
	for i, out := range stakeOf(t.Tx) {
		id := primary.UTXOID{TxID: t.ID(), OutputIndex: uint32(index + i)}
		o, err := b.named(t.kind, id)
		if err == nil && o == nil {
			o, err = t.stake(&primary.UTXO{UTXOID: id, AssetID: out.AssetID, Out: out.Out})
		}
		if err != nil {
			return err
		}
		t.emitted = append(t.emitted, o)
	}
	return nil
}

// stake is an output that is still locked by the transaction's staker.
func (t *txUTXOs) stake(u *primary.UTXO) (*output, error) {
	raw, err := u.Bytes(primary.PChain)
	return &output{UTXO: u, id: u.InputID(), raw: raw, height: t.row.ID.Number(), made: t.block, staker: t.staker, locked: true}, err
}

// emitRewards finds what the end of a stake paid beside the stake, if it was this transaction that ended it.
func (b *chainReader) emitRewards(t *txUTXOs, staking ids.ID) error {
	made, err := b.DB.UTXOsOfTx(b.ctx, t.row.ID.Chain(), staking[:])
	if errors.Is(err, store.ErrNotFound) || err == nil && !bytes.Equal(t.staker.RewardTx, t.row.Hash) {
		return nil
	}
	for i := range made {
		if !made[i].Reward {
			continue
		}
		o, err := b.output(&made[i])
		if err != nil {
			return err
		}
		t.emitted = append(t.emitted, o)
	}
	return err
}
