package primary

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/xchain"
)

// record turns the changes of one block into rows.
type record struct {
	*Network
	chain  txs.Chain
	height uint64
	delta  *store.PrimaryDelta
}

func (n *Network) record(c txs.Chain, height uint64) *record {
	return &record{Network: n, chain: c, height: height, delta: &store.PrimaryDelta{}}
}

func (r *record) at(index int) store.Position { return store.At(r.Chain(r.chain), r.height, index) }

// pChainBlock records the diffs of a P-Chain block: unless it decides a proposal, first the changes caused by time, and last the L1
// validators that cannot pay for another second.
func (r *record) pChainBlock(b *txs.Block, diffs []*pchain.Diff) error {
	switch b.Body.(type) {
	case *txs.CommitBlock, *txs.AbortBlock:
		return r.optionBlock(diffs[0])
	}
	if err := r.pChainChanges(diffs[0], r.at(0)); err != nil {
		return err
	}
	for i, tx := range b.Txs() {
		if err := r.pChainTx(i, tx, diffs[i+1]); err != nil {
			return err
		}
		if _, reward := txs.Rewarded(tx.Unsigned); reward {
			r.proposal = &proposal{r.at(i), tx.ID()}
		}
	}
	return r.pChainChanges(diffs[len(diffs)-1], r.at(0))
}

// optionBlock records the stake that a commit or abort block returns and the rewards it pays; the reward transaction touched the addresses.
func (r *record) optionBlock(diff *pchain.Diff) error {
	if err := r.pChainChanges(diff, r.proposal.at); err != nil {
		return err
	}
	r.touch(r.proposal.at, diff.Created)
	r.proposal = nil
	return nil
}

func (r *record) pChainTx(index int, tx *txs.Tx, diff *pchain.Diff) error {
	at := r.at(index)
	r.tx(at, tx, &diff.Diff)
	if err := r.pChainChanges(diff, at); err != nil {
		return err
	}
	var subjects [][]byte
	for _, v := range diff.L1Validators {
		subjects = append(subjects, v.ValidationID[:])
	}
	if u, ok := tx.Unsigned.(*txs.DisableL1ValidatorTx); ok { // disabling an inactive one changes nothing
		subjects = append(subjects, u.ValidationID[:])
	}
	r.concern(at, subjects)
	return nil
}

// xChainTx records a transaction of the X-Chain with all its changes, also under each asset that it moves.
func (r *record) xChainTx(index int, tx *txs.Tx, diff *xchain.Diff) error {
	at := r.at(index)
	r.tx(at, tx, &diff.Diff)
	if err := r.utxoChanges(&diff.Diff, nil, at); err != nil {
		return err
	}
	if diff.Asset != nil {
		r.asset(diff.Asset, at)
	}
	var subjects [][]byte
	for _, u := range slices.Concat(diff.Spent, diff.Imported, diff.Created, diff.Exported) {
		subjects = append(subjects, u.AssetID[:])
	}
	r.concern(at, subjects)
	return nil
}

// atomicTx records an atomic transaction of the C-Chain with all its changes, also under each account that it moves value of.
func (r *record) atomicTx(index int, tx *txs.Tx, diff *utxo.AtomicDiff) error {
	at := r.at(index)
	r.tx(at, tx, &diff.Diff)
	if err := r.utxoChanges(&diff.Diff, nil, at); err != nil {
		return err
	}
	var subjects [][]byte
	for _, account := range diff.Accounts {
		subjects = append(subjects, account.Address.Bytes())
	}
	r.concern(at, subjects)
	return nil
}

// tx records a transaction itself and the owners of its outputs.
func (r *record) tx(at store.Position, tx *txs.Tx, diff *utxo.Diff) {
	id := tx.ID()
	r.delta.Transactions = append(r.delta.Transactions, store.PrimaryTx{
		ID: at, Hash: id[:], Type: tx.TypeName(), Burned: store.Amount(diff.Burned), Bytes: tx.Bytes(),
	})
	r.touch(at, diff.Spent, diff.Imported, diff.Created, diff.Exported, staked(tx))
}

// staked returns the outputs that a staking transaction locks, as if they existed.
func staked(tx *txs.Tx) []*txs.UTXO {
	stake, rewarded := pchain.StakeOf(tx.Unsigned)
	var locked []*txs.UTXO
	for _, out := range stake {
		locked = append(locked, &txs.UTXO{Out: out.Out})
	}
	for _, owners := range rewarded {
		locked = append(locked, &txs.UTXO{Out: &txs.TransferOutput{OutputOwners: *owners}})
	}
	return locked
}

// touch records a transaction under each owner of outputs, once.
func (r *record) touch(at store.Position, groups ...[]*txs.UTXO) {
	var owners []ids.ShortID
	for _, utxos := range groups {
		for _, u := range utxos {
			owners = append(owners, u.Owners().Addresses...)
		}
	}
	slices.SortFunc(owners, ids.ShortID.Compare)
	for _, address := range slices.Compact(owners) {
		r.delta.Activity = append(r.delta.Activity, store.PrimaryActivity{Subject: bytes.Clone(address[:]), Tx: at})
	}
}

// concern records a transaction under each account of the C-Chain, asset of the X-Chain or L1 validation, once.
func (r *record) concern(at store.Position, subjects [][]byte) {
	slices.SortFunc(subjects, bytes.Compare)
	for _, subject := range slices.CompactFunc(subjects, bytes.Equal) {
		r.delta.Activity = append(r.delta.Activity, store.PrimaryActivity{Subject: bytes.Clone(subject), Tx: at})
	}
}

// pChainChanges records the changes of a P-Chain transaction, or of the passing of time.
func (r *record) pChainChanges(diff *pchain.Diff, at store.Position) error {
	if err := r.utxoChanges(&diff.Diff, diff.Rewards, at); err != nil {
		return err
	}
	for _, s := range diff.Stakers {
		r.staker(s, at)
		if r.WatchStaker != nil {
			r.WatchStaker(s)
		}
	}
	r.subnetChanges(diff, at)
	return nil
}

func (r *record) utxoChanges(diff *utxo.Diff, rewards []*txs.UTXO, at store.Position) error {
	peer, _ := r.Rules.ChainOf(diff.Peer)
	err := errors.Join(r.spend(diff.Spent, r.chain, at), r.spend(diff.Imported, peer, at), r.create(diff.Created, r.chain, rewards), r.create(diff.Exported, peer, nil))
	if err == nil && r.Watch != nil {
		r.Watch(r.chain, diff)
	}
	return err
}

// spend records that outputs are spent, which a chain made.
func (r *record) spend(utxos []*txs.UTXO, source txs.Chain, at store.Position) error {
	for _, u := range utxos {
		number, err := r.numberOf(u, source)
		if err != nil {
			return err
		}
		r.delta.Spends = append(r.delta.Spends, store.Spend{UTXO: number, By: at, Chain: r.Chain(r.chain), OwnerAddresses: addresses(u.Owners())})
		delete(r.utxos, u.InputID())
	}
	return nil
}

// numberOf returns the number of an unspent output that a chain made.
func (n *Network) numberOf(u *txs.UTXO, source txs.Chain) (store.UTXONumber, error) {
	id := u.InputID()
	if number, known := n.utxos[id]; known {
		return number, nil
	}
	row, err := n.db.UTXOByHash(context.Background(), n.Chain(source), id[:])
	if err != nil {
		return 0, fmt.Errorf("UTXO %s: %w", id, err)
	}
	return row.ID, nil
}

func (r *record) create(utxos []*txs.UTXO, on txs.Chain, rewards []*txs.UTXO) error {
	for _, u := range utxos {
		out, err := u.OutBytes(r.chain)
		if err != nil {
			return err
		}
		id := u.InputID()
		number := store.NewUTXONumber(r.Chain(r.chain), r.height, len(r.delta.UTXOs))
		r.utxos[id] = number
		row := store.UTXO{
			ID: number, Hash: id[:], Tx: bytes.Clone(u.TxID[:]), Output: u.OutputIndex, Chain: r.Chain(on),
			Amount: store.Amount(u.Amount()), Out: out, Reward: slices.Contains(rewards, u), OwnerAddresses: addresses(u.Owners()),
		}
		if u.AssetID != r.Rules.AVAXAssetID {
			row.Asset = bytes.Clone(u.AssetID[:])
		}
		r.delta.UTXOs = append(r.delta.UTXOs, row)
	}
	return nil
}

func addresses(o *txs.OutputOwners) [][]byte {
	all := make([][]byte, len(o.Addresses))
	for i := range all {
		all[i] = bytes.Clone(o.Addresses[i][:])
	}
	return all
}

func (r *record) asset(a *xchain.Asset, at store.Position) {
	row := store.PrimaryAsset{ID: at, Hash: bytes.Clone(a.ID[:]), Name: a.Name, Symbol: a.Symbol, Denomination: a.Denomination, Fxs: []byte{}}
	for _, fx := range a.Fxs {
		row.Fxs = append(row.Fxs, byte(fx))
	}
	r.delta.Assets = append(r.delta.Assets, row)
}

// block records the block itself, once everything in it is recorded.
func (r *record) block(b *txs.Block, proposer *Proposer) error {
	last := &r.tips[r.chain]
	id, parent := b.ID(), b.Parent()
	row := &store.PrimaryBlock{
		ID: r.at(0), Hash: id[:], Parent: parent[:], Time: int64(b.Time()), Type: b.TypeName(), Txs: len(b.Txs()),
		AllTxs: last.allTxs + int64(len(b.Txs())), Size: len(b.Bytes()), Head: store.BlockHead(b.Bytes(), r.delta.Transactions),
	}
	if !bytes.Equal(row.Bytes(r.delta.Transactions), b.Bytes()) {
		return errHead
	}
	outer := r.envelope(last, b, proposer)
	outerID := outer.ID(b.Bytes())
	row.OuterID, row.OuterParent = outerID[:], bytes.Clone(outer.ParentID[:])
	row.PHeight, row.Epoch, row.EpochHeight, row.EpochStart = outer.PHeight, outer.Epoch.Number, outer.Epoch.PHeight, outer.Epoch.Start
	if proposer != nil {
		node := txs.NodeIDOf(proposer.Certificate)
		row.Proposer = node[:]
	}
	r.finish(row, tip{allTxs: row.AllTxs, outer: outerID, pHeight: outer.PHeight, time: b.Time(), epoch: outer.Epoch})
	return nil
}

// envelope returns the ProposerVM block around a block. An option has no proposer, and the height and epoch of its proposal.
func (r *record) envelope(last *tip, b *txs.Block, proposer *Proposer) *txs.ProposerBlock {
	outer := &txs.ProposerBlock{ParentID: last.outer, Time: b.Time(), PHeight: last.pHeight, Epoch: last.epoch}
	if proposer != nil {
		outer.PHeight, outer.Certificate = proposer.PHeight, proposer.Certificate
		outer.Epoch = last.epoch.Next(last.pHeight, last.time)
	}
	return outer
}

// finish completes a block's row with the supply and the fee state of the P-Chain after it, and its digest.
func (r *record) finish(row *store.PrimaryBlock, next tip) {
	if r.chain == txs.PChain {
		excess, accrued := r.P.ValidatorFees()
		fees := r.P.Fees()
		row.Supply, row.AccruedFees, row.L1Excess = store.Amount(r.P.Supply()), store.Amount(accrued), excess
		row.L1Active, row.GasCapacity, row.GasExcess = uint64(r.P.ActiveL1Validators()), fees.Capacity, fees.Excess
		next.validatorFees = r.accrueValidatorFees(row)
	}
	row.Digest = Digest(r.tips[r.chain].digest, row)
	next.digest = row.Digest
	r.tips[r.chain] = next
	r.delta.Block = row
}

// Digest covers the parent's digest, the block's hash and whatever the hash does not cover: its envelope and the state after it.
func Digest(parent []byte, b *store.PrimaryBlock) []byte {
	h := sha256.New()
	h.Write(parent)
	for _, blob := range [][]byte{b.Hash, b.OuterID, b.Proposer} {
		h.Write([]byte{byte(len(blob))})
		h.Write(blob)
	}
	for _, v := range []uint64{uint64(b.ID), b.PHeight, uint64(b.Supply), uint64(b.AccruedFees), b.L1Excess, b.L1Active, b.GasCapacity, b.GasExcess} {
		h.Write(binary.BigEndian.AppendUint64(nil, v))
	}
	return h.Sum(nil)
}
