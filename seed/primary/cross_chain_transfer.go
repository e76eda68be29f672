package primary

import (
	"math"
	"math/rand/v2"

	"github.com/holiman/uint256"

	"snowglobe/seed/population"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// crossChainTransfer moves AVAX from one chain to another: an export, and some minutes later the import.
type crossChainTransfer struct {
	who        *population.Account
	from, to   int
	amount     uint64 // nAVAX
	exportTime uint64
	importTime uint64
}

// atomicTx is an atomic transaction on the C-Chain at a time. build returns nil if the sender cannot pay for it.
type atomicTx struct {
	at    uint64
	build func(*evm.BlockExecution) (*txs.Tx, error)
}

// transfers move AVAX between the chains of a network.
type transfers struct{ *Network }

// schedule plans a transfer. The part on C waits until the C-Chain makes a block at that time.
func (n *transfers) schedule(t *crossChainTransfer) {
	if t.from == store.CChain {
		n.atomicTxs = append(n.atomicTxs, atomicTx{t.exportTime, func(p *evm.BlockExecution) (*txs.Tx, error) { return n.exportFromC(p, t) }})
	} else {
		n.Network.schedule(t.from, t.exportTime, func(at uint64) (*txs.Tx, error) {
			return n.wallet.exportTx(t.from, t.to, singleSigner(t.who), t.who.Owner(), t.amount, at)
		})
	}
	if t.to == store.CChain {
		n.atomicTxs = append(n.atomicTxs, atomicTx{t.importTime, func(p *evm.BlockExecution) (*txs.Tx, error) { return n.importToC(p, t) }})
		return
	}
	n.Network.schedule(t.to, t.importTime, func(at uint64) (*txs.Tx, error) { return n.wallet.importTx(t.to, t.from, singleSigner(t.who), at) })
}

// schedulePersonas moves the traveller's AVAX every way between the three chains, and other personas' some ways.
func (n *transfers) schedulePersonas() {
	traveller := n.personas.Traveller
	for i, way := range [][2]int{
		{store.XChain, store.CChain}, {store.PChain, store.CChain}, {store.CChain, store.XChain}, {store.CChain, store.PChain},
		{store.XChain, store.PChain}, {store.PChain, store.XChain},
	} {
		at := n.span.At(60+140*i, 40)
		n.schedule(&crossChainTransfer{traveller, way[0], way[1], uint64(30-2*i) * nanoAVAX, at, at + 4*60})
	}
	for i, who := range []*population.Account{n.personas.Alice, n.personas.Ewoq, n.personas.Whale} {
		at := n.span.At(330+100*i, 55)
		n.schedule(&crossChainTransfer{who, store.CChain, store.PChain, uint64(10+i) * nanoAVAX, at, at + 5*60})
	}
	at := n.span.At(880, 55)
	n.schedule(&crossChainTransfer{n.personas.Bob, store.XChain, store.CChain, 12 * nanoAVAX, at, at + 3*60})
	// Exports that are not yet imported when the history ends.
	late := n.span.At(970, 0)
	for i, to := range []int{store.XChain, store.CChain} {
		n.Network.schedule(store.PChain, late+uint64(60*i), func(at uint64) (*txs.Tx, error) {
			return n.wallet.exportTx(store.PChain, to, singleSigner(traveller), traveller.Owner(), 7*nanoAVAX, at)
		})
	}
	n.atomicTxs = append(n.atomicTxs, atomicTx{late + 120, func(p *evm.BlockExecution) (*txs.Tx, error) {
		return n.exportFromC(p, &crossChainTransfer{who: traveller, to: store.XChain, amount: 5 * nanoAVAX})
	}})
}

// scheduleAccounts plans transfers between X and P by accounts other than personas.
func (n *transfers) scheduleAccounts(r *rand.Rand, count int) {
	for i := range count {
		who := n.account(population.Skewed(r, min(len(n.accounts), accountsWithAVAX)))
		at := n.span.At(int(population.Between(r, 20, 970)), int(population.Between(r, 0, 1_000)))
		from, to := store.XChain, store.PChain
		if i%2 == 1 {
			from, to = to, from
		}
		n.schedule(&crossChainTransfer{who, from, to, uint64(population.Between(r, 5, 200)) * nanoAVAX / 10, at, at + uint64(population.Between(r, 20, 900))})
	}
}

func (n *transfers) importToC(p *evm.BlockExecution, t *crossChainTransfer) (*txs.Tx, error) {
	from := singleSigner(t.who)
	spent, sum, _ := n.wallet.utxos.gather(n.wallet.avax(store.CChain, t.from, from), math.MaxUint64)
	if len(spent) == 0 {
		return nil, nil
	}
	return withAtomicFee(p, func(fee uint64) (*txs.Tx, error) {
		if sum <= fee {
			return nil, nil
		}
		tx := &txs.AtomicImportTx{NetworkID: n.rules.NetworkID, BlockchainID: n.rules.CChainID, SourceChain: n.rules.BlockchainID(codecOf(t.from)),
			Outs: []txs.EVMOutput{{Address: t.who.Address, Amount: sum - fee, AssetID: n.rules.AVAXAssetID}}}
		for _, u := range spent {
			tx.ImportedInputs = append(tx.ImportedInputs, spend(u, from))
		}
		txs.SortInputs(tx.ImportedInputs)
		return txs.NewSigned(txs.CChain, tx, signatures(len(spent), from)...)
	})
}

func (n *transfers) exportFromC(p *evm.BlockExecution, t *crossChainTransfer) (*txs.Tx, error) {
	from := singleSigner(t.who)
	return withAtomicFee(p, func(fee uint64) (*txs.Tx, error) {
		cost := new(uint256.Int).Mul(uint256.NewInt(t.amount+fee), uint256.NewInt(1e9))
		if p.Balance(t.who.Address).Lt(cost) {
			return nil, nil
		}
		tx := &txs.AtomicExportTx{NetworkID: n.rules.NetworkID, BlockchainID: n.rules.CChainID, DestinationChain: n.rules.BlockchainID(codecOf(t.to)),
			Ins:             []txs.EVMInput{{Address: t.who.Address, Amount: t.amount + fee, AssetID: n.rules.AVAXAssetID, Nonce: p.Nonce(t.who.Address)}},
			ExportedOutputs: []*txs.TransferableOutput{n.wallet.output(t.amount, from.owners)}}
		return txs.NewSigned(txs.CChain, tx, from.keys)
	})
}

// withAtomicFee makes a transaction that burns the price of its gas in the block.
func withAtomicFee(p *evm.BlockExecution, build func(fee uint64) (*txs.Tx, error)) (*txs.Tx, error) {
	tx, err := build(1)
	if err != nil || tx == nil {
		return nil, err
	}
	return build(utxo.AtomicFee(utxo.AtomicGas(tx), p.Header().BaseFee))
}
