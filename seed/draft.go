package seed

import (
	"github.com/ava-labs/avalanchego/ids"
	"math"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// party is who pays and signs: one key, or as many of several as their outputs ask for.
type signer struct {
	owners  primary.OutputOwners
	keys    []*primary.Key
	indices []uint32
}

func singleSigner(a *account) signer {
	return signer{owners: primary.Owner(a.primary.Address()), keys: []*primary.Key{a.primary}, indices: []uint32{0}}
}

// draft is a transaction of P or X that somebody wants.
type txDraft struct {
	chain int
	from  signer
	outs  []*primary.TransferableOutput
	more  uint64          // nAVAX that leaves as stake, deposit or export
	extra []*primary.UTXO // outputs of other assets to spend
	build func(primary.BaseTx) primary.Unsigned
	auth  [][]*primary.Key // who signs for more than inputs
	fee   uint64           // on X, when it is not the usual one
}

func plain(base primary.BaseTx) primary.Unsigned { return &base }

// pay is an output of AVAX.
func (r *primaryNetwork) pay(amount uint64, owners primary.OutputOwners) *primary.TransferableOutput {
	return primary.Pay(r.rules.AVAXAssetID, amount, owners)
}

func codecOf(chain int) primary.Chain { return primary.Chain(chain) }

// avax is the pocket in which a party's everyday money on a chain lies.
func (r *primaryNetwork) avax(chain, source int, p signer) utxoKey {
	return utxoKeyOf(chain, source, r.rules.AVAXAssetID, (*primary.TransferOutput)(nil), &p.owners)
}

// write makes the transaction, signed. It is nil when the party cannot pay.
func (r *primaryNetwork) write(d txDraft, at uint64) (*primary.Tx, error) {
	fee := d.fee
	if fee == 0 && d.chain == store.XChain {
		fee = r.rules.TxFee
	}
	need := d.more
	for _, out := range d.outs {
		if out.AssetID == r.rules.AVAXAssetID {
			need += amount(out)
		}
	}
	for {
		spent, sum, enough := r.utxoSet.gather(r.avax(d.chain, d.chain, d.from), need+fee)
		if !enough {
			return nil, nil
		}
		base, err := r.base(d, spent, sum-need-fee)
		if err != nil {
			return nil, err
		}
		unsigned := d.build(*base)
		if d.chain == store.PChain {
			price, err := r.net.P.Fee(unsigned, at)
			if err != nil {
				return nil, err
			}
			if price > fee {
				fee = price
				continue
			}
		}
		return primary.NewSigned(codecOf(d.chain), unsigned, append(signatures(len(base.Ins), d.from), d.auth...)...)
	}
}

func amount(out *primary.TransferableOutput) uint64 {
	u := primary.UTXO{Out: out.Out}
	return u.Amount()
}

func signatures(inputs int, p signer) [][]*primary.Key {
	all := make([][]*primary.Key, inputs)
	for i := range all {
		all[i] = p.keys
	}
	return all
}

func (r *primaryNetwork) base(d txDraft, spent []*primary.UTXO, change uint64) (*primary.BaseTx, error) {
	base := r.blank(d.chain)
	base.Outs = append(base.Outs, d.outs...)
	if change > 0 {
		base.Outs = append(base.Outs, r.pay(change, d.from.owners))
	}
	for _, u := range append(spent[:len(spent):len(spent)], d.extra...) {
		base.Ins = append(base.Ins, spending(u, d.from))
	}
	primary.SortInputs(base.Ins)
	return base, primary.SortOutputs(codecOf(d.chain), base.Outs)
}

func (r *primaryNetwork) blank(chain int) *primary.BaseTx {
	return &primary.BaseTx{
		NetworkID: r.rules.NetworkID, BlockchainID: r.rules.BlockchainID(codecOf(chain)),
		Outs: []*primary.TransferableOutput{}, Ins: []*primary.TransferableInput{}, Memo: primary.HexBytes{},
	}
}

func spending(u *primary.UTXO, p signer) *primary.TransferableInput {
	return &primary.TransferableInput{UTXOID: u.UTXOID, AssetID: u.AssetID,
		In: &primary.TransferInput{Amount: u.Amount(), Input: primary.Input{SigIndices: p.indices}}}
}

// export hands an amount to another chain.
func (r *primaryNetwork) export(chain, to int, from signer, amount uint64, owners primary.OutputOwners, at uint64) (*primary.Tx, error) {
	destination := r.rules.BlockchainID(codecOf(to))
	return r.write(txDraft{chain: chain, from: from, more: amount, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.ExportTx{BaseTx: base, DestinationChain: destination, ExportedOutputs: []*primary.TransferableOutput{r.pay(amount, owners)}}
	}}, at)
}

// collect imports everything that another chain exported to a party; nil when there is nothing.
func (r *primaryNetwork) collect(chain, source int, p signer, at uint64) (*primary.Tx, error) {
	spent, sum, _ := r.utxoSet.gather(r.avax(chain, source, p), math.MaxUint64)
	if len(spent) == 0 {
		return nil, nil
	}
	build := func(change uint64) *primary.ImportTx {
		tx := &primary.ImportTx{BaseTx: *r.blank(chain), SourceChain: r.rules.BlockchainID(codecOf(source))}
		for _, u := range spent {
			tx.ImportedInputs = append(tx.ImportedInputs, spending(u, p))
		}
		primary.SortInputs(tx.ImportedInputs)
		tx.Outs = append(tx.Outs, r.pay(change, p.owners))
		return tx
	}
	fee := r.rules.TxFee
	if chain == store.PChain {
		var err error
		if fee, err = r.net.P.Fee(build(sum), at); err != nil {
			return nil, err
		}
	}
	if sum <= fee {
		return nil, nil
	}
	return primary.NewSigned(codecOf(chain), build(sum-fee), signatures(len(spent), p)...)
}

// asset finds what a party holds of an asset, in outputs of a kind.
func (r *primaryNetwork) asset(chain int, asset ids.ID, kind primary.Output, p signer) []*primary.UTXO {
	return r.utxoSet[utxoKeyOf(chain, chain, asset, kind, &p.owners)]
}
