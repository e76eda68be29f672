package seed

import (
	"math"
	"math/rand/v2"

	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// leg is one move of value from a chain to another: an export, and some minutes later the import.
type transfer struct {
	who      *account
	from, to int
	amount   uint64 // nAVAX
	leave    uint64
	arrive   uint64
}

// crossing is an atomic transaction that somebody wants on the C-Chain at a time.
type atomicTx struct {
	at uint64
	do func(*evm.Pending) ([]*primary.Tx, error)
}

// move puts a leg into the scripts. What happens on C waits there until the C-Chain makes a block at that time.
func (r *primaryNetwork) move(l transfer) {
	p := singleSigner(l.who)
	if l.from == store.CChain {
		r.atomicTxs = append(r.atomicTxs, atomicTx{l.leave, func(p *evm.Pending) ([]*primary.Tx, error) { return r.leave(p, l) }})
	} else {
		r.add(l.from, l.leave, singleTx(func(at uint64) (*primary.Tx, error) { return r.export(l.from, l.to, p, l.amount, p.owners, at) }))
	}
	if l.to == store.CChain {
		r.atomicTxs = append(r.atomicTxs, atomicTx{l.arrive, func(p *evm.Pending) ([]*primary.Tx, error) { return r.arrive(p, l) }})
		return
	}
	r.add(l.to, l.arrive, singleTx(func(at uint64) (*primary.Tx, error) { return r.collect(l.to, l.from, p, at) }))
}

// journeys take the traveller along every way between the three chains, and others along some.
func (r *primaryNetwork) journeys() {
	traveller := r.people["traveller"]
	for i, way := range [][2]int{
		{store.XChain, store.CChain}, {store.PChain, store.CChain}, {store.CChain, store.XChain}, {store.CChain, store.PChain},
		{store.XChain, store.PChain}, {store.PChain, store.XChain},
	} {
		at := r.moment(60+140*i, 40)
		r.move(transfer{traveller, way[0], way[1], uint64(300-20*i) * nanoAVAX, at, at + 4*60})
	}
	for i, name := range []string{"alice", "ewoq", "whale"} {
		at := r.moment(330+100*i, 55)
		r.move(transfer{r.people[name], store.CChain, store.PChain, uint64(25+i) * nanoAVAX, at, at + 5*60})
	}
	at := r.moment(880, 55)
	r.move(transfer{r.people["bob"], store.XChain, store.CChain, 20 * nanoAVAX, at, at + 3*60})
	// What has left and not arrived yet when history ends.
	late := r.moment(970, 0)
	for i, to := range []int{store.XChain, store.CChain} {
		r.add(store.PChain, late+uint64(60*i), singleTx(func(at uint64) (*primary.Tx, error) {
			p := singleSigner(traveller)
			return r.export(store.PChain, to, p, 7*nanoAVAX, p.owners, at)
		}))
	}
}

// trips are the legs of the nameless.
func (r *primaryNetwork) accountTransfers(g *rand.Rand, n int) {
	for i := range n {
		who := r.other(skewed(g, min(len(r.accounts), landed)))
		at := r.moment(int(between(g, 20, 960)), int(between(g, 0, 1_000)))
		way := [2]int{store.XChain, store.PChain}
		if i%2 == 1 {
			way = [2]int{store.PChain, store.XChain}
		}
		r.move(transfer{who, way[0], way[1], uint64(between(g, 5, 200)) * nanoAVAX / 10, at, at + uint64(between(g, 20, 900))})
	}
}

// arrive imports what waits for somebody; leave exports from an account. Both answer nothing when there is no money.
func (r *primaryNetwork) arrive(p *evm.Pending, l transfer) ([]*primary.Tx, error) {
	from := singleSigner(l.who)
	spent, sum, _ := r.utxoSet.gather(r.avax(store.CChain, l.from, from), math.MaxUint64)
	if len(spent) == 0 {
		return nil, nil
	}
	return priced(p, func(fee uint64) (*primary.Tx, error) {
		if sum <= fee {
			return nil, nil
		}
		tx := &primary.AtomicImportTx{NetworkID: r.rules.NetworkID, BlockchainID: r.rules.CChainID, SourceChain: r.rules.BlockchainID(codecOf(l.from)),
			Outs: []primary.EVMOutput{{Address: l.who.address, Amount: sum - fee, AssetID: r.rules.AVAXAssetID}}}
		for _, u := range spent {
			tx.ImportedInputs = append(tx.ImportedInputs, spending(u, from))
		}
		primary.SortInputs(tx.ImportedInputs)
		return primary.NewSigned(primary.CChain, tx, signatures(len(spent), from)...)
	})
}

func (r *primaryNetwork) leave(p *evm.Pending, l transfer) ([]*primary.Tx, error) {
	from := singleSigner(l.who)
	return priced(p, func(fee uint64) (*primary.Tx, error) {
		cost := new(uint256.Int).Mul(uint256.NewInt(l.amount+fee), uint256.NewInt(1e9))
		if p.Balance(l.who.address).Lt(cost) {
			return nil, nil
		}
		tx := &primary.AtomicExportTx{NetworkID: r.rules.NetworkID, BlockchainID: r.rules.CChainID, DestinationChain: r.rules.BlockchainID(codecOf(l.to)),
			Ins:             []primary.EVMInput{{Address: l.who.address, Amount: l.amount + fee, AssetID: r.rules.AVAXAssetID, Nonce: p.Nonce(l.who.address)}},
			ExportedOutputs: []*primary.TransferableOutput{r.pay(l.amount, from.owners)}}
		return primary.NewSigned(primary.CChain, tx, from.keys)
	})
}

// priced makes a transaction that burns what its gas costs in the block.
func priced(p *evm.Pending, build func(fee uint64) (*primary.Tx, error)) ([]*primary.Tx, error) {
	tx, err := build(1)
	if err != nil || tx == nil {
		return nil, err
	}
	tx, err = build(primary.AtomicFee(primary.AtomicGas(tx), p.Header().BaseFee))
	if err != nil || tx == nil {
		return nil, err
	}
	return []*primary.Tx{tx}, nil
}
