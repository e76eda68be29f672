package primary

import (
	"context"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/population"
	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// assetPayment is an account's payment of an asset other than AVAX.
type assetPayment struct {
	*Residents
	who    *population.Account
	asset  ids.ID
	amount uint64
}

// PayAsset sends an amount of an asset other than AVAX to owners on P or X now. The account mints on X what it lacks there, if it may; to
// pay on P, it exports the amount from X and imports it for the owners. PayAsset returns the transaction that pays.
func (n *Residents) PayAsset(ctx context.Context, chain txs.Chain, who *population.Account, asset ids.ID, to txs.OutputOwners, amount uint64) (paid *txs.Tx, err error) {
	p := &assetPayment{n, who, asset, amount}
	next := func(on txs.Chain, write func(at uint64) (*txs.Tx, error)) sim.Next {
		return sim.Next{Chain: on, Write: func(net *primary.Network, at uint64) (*txs.Tx, error) {
			if paid == nil {
				if err := n.prepare(ctx, net, who); err != nil {
					return nil, err
				}
			}
			tx, err := write(at)
			if tx != nil {
				paid = tx
			}
			return tx, err
		}}
	}
	all := []sim.Next{next(txs.XChain, func(at uint64) (*txs.Tx, error) { return p.send(to, at) })}
	if chain == txs.PChain {
		all = []sim.Next{next(txs.XChain, p.mintForExport), next(txs.XChain, p.export),
			next(txs.PChain, func(at uint64) (*txs.Tx, error) { return p.importFor(to, paid, at) })}
	}
	err = n.live.IssueAll(ctx, all)
	return paid, err
}

// held returns outputs of the account on X for the amount, their sum, and the change; not enough if the sum is less than the amount.
func (p *assetPayment) held() (spent []*txs.UTXO, sum uint64, change []*txs.TransferableOutput) {
	owner := p.who.Owner()
	spent, sum, _ = p.wallet.utxos.gather(utxoKeyOf(store.XChain, store.XChain, p.asset, (*txs.TransferOutput)(nil), &owner), p.amount)
	if sum > p.amount {
		change = append(change, txs.NewTransferableOutput(p.asset, sum-p.amount, owner))
	}
	return spent, sum, change
}

// paying returns the error of an account that has too little of the asset, or too little AVAX for the fee.
func (p *assetPayment) paying(tx *txs.Tx, err error) (*txs.Tx, error) {
	if err == nil && tx == nil {
		_, sum, _ := p.held()
		err = &FundsError{txs.XChain, p.asset.String(), p.amount, sum}
	}
	return tx, err
}

func (p *assetPayment) signed(d txDraft, at uint64) (*txs.Tx, error) {
	d.from = singleSigner(p.who)
	return p.paying(p.wallet.sign(d, at))
}

func (p *assetPayment) send(to txs.OutputOwners, at uint64) (*txs.Tx, error) {
	spent, sum, outs := p.held()
	if sum < p.amount {
		return p.mint(to, at)
	}
	return p.signed(txDraft{chain: store.XChain, extra: spent, tx: &txs.BaseTx{}, outs: append(outs, txs.NewTransferableOutput(p.asset, p.amount, to))}, at)
}

func (p *assetPayment) mint(to txs.OutputOwners, at uint64) (*txs.Tx, error) {
	rights := p.wallet.ofAsset(store.XChain, p.asset, (*txs.MintOutput)(nil), singleSigner(p.who))
	if len(rights) == 0 {
		return p.paying(nil, nil)
	}
	return p.paying((&assets{p.Network}).mintFor(p.who, rights[0], p.amount, to, at))
}

// mintForExport mints the amount for the account itself, unless it has enough.
func (p *assetPayment) mintForExport(at uint64) (*txs.Tx, error) {
	if _, sum, _ := p.held(); sum >= p.amount {
		return nil, nil
	}
	tx, err := p.mint(p.who.Owner(), at)
	if err != nil {
		return nil, err
	}
	key := p.wallet.avax(store.XChain, store.XChain, singleSigner(p.who))
	p.wallet.utxos[key] = slices.DeleteFunc(p.wallet.utxos[key], func(u *txs.UTXO) bool {
		return slices.ContainsFunc(tx.Inputs(), func(in *txs.TransferableInput) bool { return in.UTXOID == u.UTXOID })
	})
	for _, u := range tx.Produced() {
		p.wallet.utxos.add(store.XChain, store.XChain, u)
	}
	return tx, nil
}

// export sends the amount to the account itself on P.
func (p *assetPayment) export(at uint64) (*txs.Tx, error) {
	spent, _, change := p.held()
	return p.signed(txDraft{chain: store.XChain, extra: spent, outs: change, tx: &txs.ExportTx{
		DestinationChain: p.rules.BlockchainID(txs.PChain), ExportedOutputs: []*txs.TransferableOutput{txs.NewTransferableOutput(p.asset, p.amount, p.who.Owner())}}}, at)
}

// importFor pays owners on P with what the account exported.
func (p *assetPayment) importFor(to txs.OutputOwners, exported *txs.Tx, at uint64) (*txs.Tx, error) {
	_, out := exported.Exported()
	from := singleSigner(p.who)
	return p.signed(txDraft{chain: store.PChain, auth: [][]*txs.Key{from.keys}, outs: []*txs.TransferableOutput{txs.NewTransferableOutput(p.asset, p.amount, to)},
		tx: &txs.ImportTx{SourceChain: p.rules.BlockchainID(txs.XChain), ImportedInputs: []*txs.TransferableInput{spend(out[0], from)}}}, at)
}
