package query

import (
	"cmp"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// A stake becomes a row when it is returned. Until then it is numbered as if its transaction's block had created it, after the block's
// outputs: a block of two mebibytes, with outputs of at least 80 bytes, has fewer than firstStaked of either.
const firstStaked = 1 << (utxoIndexBits - 1)

// staked reports whether a number is a stake's.
func staked(n store.UTXONumber) bool { return CursorOfUTXO(n)&(1<<utxoIndexBits-1) >= firstStaked }

type stakedOutput struct {
	number store.UTXONumber
	at     store.Position // of the transaction
	utxo   *txs.UTXO
}

// stakedOutputs returns the stakes of all transactions in a block.
func (b *ChainReader) stakedOutputs(block store.Position) ([]stakedOutput, error) {
	rows, err := b.DB.PrimaryTxs(b.Ctx, block)
	if err != nil {
		return nil, err
	}
	var all []stakedOutput
	for _, row := range rows {
		tx, err := txs.ReadTx(txs.PChain, ids.ID(row.Hash), row.Bytes)
		if err != nil {
			return nil, err
		}
		for i, out := range stakeOf(tx) {
			id := txs.UTXOID{TxID: tx.ID(), OutputIndex: uint32(len(tx.Unsigned.Base().Outs) + i)}
			number := store.NewUTXONumber(block.Chain(), block.Number(), firstStaked+len(all))
			all = append(all, stakedOutput{number, row.ID, &txs.UTXO{UTXOID: id, AssetID: out.AssetID, Out: out.Out}})
		}
	}
	return all, nil
}

func (b *ChainReader) stakedOutput(n store.UTXONumber) (*stakedOutput, error) {
	all, err := b.stakedOutputs(store.At(n.Chain(), n.Height(), 0))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(s stakedOutput) bool { return s.number == n })
	if i < 0 {
		return nil, store.ErrNotFound
	}
	return &all[i], nil
}

type stakingTx struct {
	at     store.Position
	staker *store.Staker // of an auto-renewed validator the last cycle
}

// stakingTxs returns the P-Chain transactions that staked outputs of some addresses on the primary network, newest first; without past,
// only those with a stake that has not been returned.
func (b *ChainReader) stakingTxs(owners []ids.ShortID, past bool) (all []stakingTx, err error) {
	for _, owner := range owners {
		stakers, err := b.DB.StakersOf(b.Ctx, b.Chain(txs.PChain), owner[:], past)
		if err != nil {
			return nil, err
		}
		for i := range stakers {
			s := &stakers[i]
			if !OnPrimaryNetwork(s.Subnet) {
				continue
			}
			at, err := b.DB.StakingTx(b.Ctx, s)
			if err != nil {
				return nil, err
			}
			all = append(all, stakingTx{at, s})
		}
	}
	slices.SortStableFunc(all, func(x, y stakingTx) int { return cmp.Compare(y.at, x.at) })
	return slices.CompactFunc(all, func(x, y stakingTx) bool { return x.at == y.at }), nil
}

// stakes passes on the addresses' stakes, for past sets even returned ones, with their staking transactions.
func (b *ChainReader) stakes(owners []ids.ShortID, past bool, visit func(stakingTx, *UTXOEntry) error) error {
	found, err := b.stakingTxs(owners, past)
	if err != nil {
		return err
	}
	var block store.Position
	var outputs []stakedOutput
	for _, t := range found {
		if t.at.Block() != block {
			block = t.at.Block()
			if outputs, err = b.stakedOutputs(block); err != nil {
				return err
			}
		}
		for i := range outputs {
			owned := func(o ids.ShortID) bool { return slices.Contains(owners, o) }
			if outputs[i].at != t.at || !slices.ContainsFunc(outputs[i].utxo.Owners().Addresses, owned) {
				continue
			}
			entry, err := b.stakedEntry(&outputs[i])
			if err == nil {
				err = visit(t, entry)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

type stake struct {
	by    stakingTx
	entry *UTXOEntry
}

// stakesNow returns the addresses' stakes that have not been returned.
func (b *ChainReader) stakesNow(owners []ids.ShortID) (all []stake, err error) {
	err = b.stakes(owners, false, func(t stakingTx, entry *UTXOEntry) error {
		all = append(all, stake{t, entry})
		return nil
	})
	return all, err
}

func (b *ChainReader) stakedEntry(s *stakedOutput) (*UTXOEntry, error) {
	made, err := b.BlockTime(s.at)
	if err != nil {
		return nil, err
	}
	u, id := s.utxo, s.utxo.InputID()
	row := &store.UTXO{ID: s.number, Hash: id[:], Tx: u.TxID[:], Output: u.OutputIndex, Chain: s.at.Chain(), Amount: store.Amount(u.Amount())}
	return &UTXOEntry{row, u.AssetID, held(u.Out), id.String(), made.Unix, made.Unix, unix(u.Owners().Locktime), unix(u.StakeableUntil())}, nil
}

// OutputNumbered reads the output with a number: a row, or a stake that has not been returned.
func (b *ChainReader) OutputNumbered(n store.UTXONumber) (*Output, error) {
	if !staked(n) {
		row, err := b.DB.UTXO(b.Ctx, n)
		if err != nil {
			return nil, err
		}
		return b.Output(row)
	}
	s, err := b.stakedOutput(n)
	if err != nil {
		return nil, err
	}
	staker, err := b.DB.StakerOfTx(b.Ctx, s.utxo.TxID[:])
	if err != nil {
		return nil, err
	}
	made, err := b.BlockTime(s.at)
	if err != nil {
		return nil, err
	}
	return newStakedOutput(s.utxo, staker, s.at, made)
}

// newStakedOutput returns an output that a staker still locks.
func newStakedOutput(u *txs.UTXO, s *store.Staker, at store.Position, made *blockTime) (*Output, error) {
	raw, err := u.Bytes(txs.PChain)
	return &Output{UTXO: u, ID: u.InputID(), Raw: raw, Height: at.Number(), Made: made, Staker: s, Locked: true}, err
}
