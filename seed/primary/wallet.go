package primary

import (
	"math"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/population"
	"snowglobe/sim/primary"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// signer pays and signs with one key, or as many of several as its outputs require.
type signer struct {
	owners  txs.OutputOwners
	keys    []*txs.Key
	indices []uint32
}

func singleSigner(a *population.Account) signer {
	return signer{owners: a.Owner(), keys: []*txs.Key{a.Primary}, indices: firstIndex}
}

// firstIndex is shared by all inputs with a single owner. Nothing writes into it.
var firstIndex = []uint32{0}

// committeeSigner signs with any two of the committee's three members.
func committeeSigner(w *population.Personas) signer {
	members := []*txs.Key{w.Committee.Primary, w.CommitteeTwo.Primary, w.CommitteeThree.Primary}
	owners := txs.NewOutputOwners(0, 2, members[0].Address(), members[1].Address(), members[2].Address())
	s := signer{owners: owners, indices: []uint32{0, 2}}
	for _, index := range s.indices {
		for _, key := range members {
			if key.Address() == owners.Addresses[index] {
				s.keys = append(s.keys, key)
			}
		}
	}
	return s
}

// auth returns the owners that sign for more than inputs, as SubnetAuth does.
func (s signer) auth() *txs.Input { return &txs.Input{SigIndices: s.indices} }

// txDraft is a transaction of P or X without the inputs and change that the wallet adds.
type txDraft struct {
	chain int
	from  signer
	tx    txs.Unsigned // without its BaseTx
	outs  []*txs.TransferableOutput
	more  uint64       // nAVAX that leaves as stake, balance or export
	extra []*txs.UTXO  // outputs of other assets to spend
	auth  [][]*txs.Key // signers for more than inputs
	fee   uint64       // on X, when it is not the usual one
}

// wallet makes the transactions of P and X from their senders' outputs.
type wallet struct {
	rules *rules.Network
	net   *primary.Network // once history has begun
	utxos utxoSet
}

func (w *wallet) output(amount uint64, owners txs.OutputOwners) *txs.TransferableOutput {
	return txs.NewTransferableOutput(w.rules.AVAXAssetID, amount, owners)
}

func codecOf(chain int) txs.Chain { return txs.Chain(chain) }

// avax returns the key of a signer's spendable AVAX on a chain.
func (w *wallet) avax(chain, source int, s signer) utxoKey {
	return utxoKeyOf(chain, source, w.rules.AVAXAssetID, (*txs.TransferOutput)(nil), &s.owners)
}

// ofAsset returns a signer's outputs of an asset, of one kind.
func (w *wallet) ofAsset(chain int, asset ids.ID, kind txs.Output, s signer) []*txs.UTXO {
	return w.utxos[utxoKeyOf(chain, chain, asset, kind, &s.owners)]
}

// sign completes and signs a draft, or returns nil if the sender cannot pay.
func (w *wallet) sign(d txDraft, at uint64) (*txs.Tx, error) {
	fee := d.fee
	if fee == 0 && d.chain == store.XChain {
		fee = w.rules.TxFee
	}
	need := d.more
	for _, out := range d.outs {
		if out.AssetID == w.rules.AVAXAssetID {
			need += amountOf(out)
		}
	}
	for {
		spent, sum, enough := w.utxos.gather(w.avax(d.chain, d.chain, d.from), need+fee)
		if !enough {
			return nil, nil
		}
		base, err := w.base(d, spent, sum-need-fee)
		if err != nil {
			return nil, err
		}
		*d.tx.Base() = *base
		if d.chain == store.PChain {
			price, err := w.net.P.Fee(d.tx, at)
			if err != nil {
				return nil, err
			}
			if price > fee {
				fee = price
				continue
			}
		}
		return txs.NewSigned(codecOf(d.chain), d.tx, append(signatures(len(base.Ins), d.from), d.auth...)...)
	}
}

func amountOf(out *txs.TransferableOutput) uint64 {
	u := txs.UTXO{Out: out.Out}
	return u.Amount()
}

func signatures(inputs int, s signer) [][]*txs.Key {
	all := make([][]*txs.Key, inputs)
	for i := range all {
		all[i] = s.keys
	}
	return all
}

func (w *wallet) base(d txDraft, spent []*txs.UTXO, change uint64) (*txs.BaseTx, error) {
	base := w.emptyBase(d.chain)
	base.Outs = append(base.Outs, d.outs...)
	if change > 0 {
		base.Outs = append(base.Outs, w.output(change, d.from.owners))
	}
	for _, u := range append(spent[:len(spent):len(spent)], d.extra...) {
		base.Ins = append(base.Ins, spend(u, d.from))
	}
	txs.SortInputs(base.Ins)
	return base, txs.SortOutputs(codecOf(d.chain), base.Outs)
}

func (w *wallet) emptyBase(chain int) *txs.BaseTx {
	return &txs.BaseTx{
		NetworkID: w.rules.NetworkID, BlockchainID: w.rules.BlockchainID(codecOf(chain)),
		Outs: []*txs.TransferableOutput{}, Ins: []*txs.TransferableInput{}, Memo: txs.HexBytes{},
	}
}

func spend(u *txs.UTXO, s signer) *txs.TransferableInput {
	return &txs.TransferableInput{UTXOID: u.UTXOID, AssetID: u.AssetID,
		In: &txs.TransferInput{Amount: u.Amount(), Input: txs.Input{SigIndices: s.indices}}}
}

func (w *wallet) exportTx(chain, to int, from signer, owners txs.OutputOwners, amount uint64, at uint64) (*txs.Tx, error) {
	return w.sign(txDraft{chain: chain, from: from, more: amount, tx: &txs.ExportTx{
		DestinationChain: w.rules.BlockchainID(codecOf(to)), ExportedOutputs: []*txs.TransferableOutput{w.output(amount, owners)}}}, at)
}

// importTx imports everything that another chain exported to a signer; nil when there is nothing.
func (w *wallet) importTx(chain, source int, s signer, at uint64) (*txs.Tx, error) {
	spent, sum, _ := w.utxos.gather(w.avax(chain, source, s), math.MaxUint64)
	if len(spent) == 0 {
		return nil, nil
	}
	build := func(change uint64) *txs.ImportTx {
		tx := &txs.ImportTx{BaseTx: *w.emptyBase(chain), SourceChain: w.rules.BlockchainID(codecOf(source))}
		for _, u := range spent {
			tx.ImportedInputs = append(tx.ImportedInputs, spend(u, s))
		}
		txs.SortInputs(tx.ImportedInputs)
		tx.Outs = append(tx.Outs, w.output(change, s.owners))
		return tx
	}
	fee := w.rules.TxFee
	if chain == store.PChain {
		var err error
		if fee, err = w.net.P.Fee(build(sum), at); err != nil {
			return nil, err
		}
	}
	if sum <= fee {
		return nil, nil
	}
	return txs.NewSigned(codecOf(chain), build(sum-fee), signatures(len(spent), s)...)
}

// observe applies the changes of a chain's block.
func (w *wallet) observe(c txs.Chain, d *utxo.Diff) {
	chain := int(c)
	peer, _ := w.rules.ChainOf(d.Peer)
	for _, u := range d.Spent {
		w.utxos.remove(chain, chain, u)
	}
	for _, u := range d.Imported {
		w.utxos.remove(chain, int(peer), u)
	}
	for _, u := range d.Created {
		w.utxos.add(chain, chain, u)
	}
	for _, u := range d.Exported {
		w.utxos.add(int(peer), chain, u)
	}
}
