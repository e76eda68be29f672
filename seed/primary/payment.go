package primary

import (
	"math/rand/v2"

	"snowglobe/seed/population"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

type payments struct{ *Network }

// scheduleHoarder gives the hoarder many small outputs.
func (n *payments) scheduleHoarder() {
	to, whale := n.personas.Hoarder.Owner(), singleSigner(n.personas.Whale)
	const transactions, outputs = 4, 270
	for i := range transactions {
		n.schedule(store.XChain, n.span.At(50+200*i, 21), func(at uint64) (*txs.Tx, error) {
			d := txDraft{chain: store.XChain, from: whale, tx: &txs.BaseTx{}}
			for k := range outputs {
				d.outs = append(d.outs, n.wallet.output(uint64(1_000_000+1_000*k+i), to))
			}
			return n.wallet.sign(d, at)
		})
	}
}

// scheduleAliceToBob has alice pay bob again and again, but no more often than her wallet can afford.
func (n *payments) scheduleAliceToBob(r *rand.Rand) {
	alice, bob := singleSigner(n.personas.Alice), n.personas.Bob.Owner()
	for _, chain := range []int{store.PChain, store.XChain} {
		for range min(max(8, n.size.Transactions/50), 50) {
			amount := uint64(population.Between(r, 1, 200)) * nanoAVAX / 100
			n.schedule(chain, n.span.At(int(population.Between(r, 10, 990)), int(population.Between(r, 0, 500))), n.pay(chain, alice, amount, bob))
		}
	}
}

// scheduleMultisig has the committee pay with two of three signatures, and makes payments with a locktime.
func (n *payments) scheduleMultisig() {
	committee, whale := committeeSigner(n.personas), singleSigner(n.personas.Whale)
	for _, chain := range []int{store.PChain, store.XChain} {
		for i := range 2 {
			n.schedule(chain, n.span.At(250+300*i, 33), n.pay(chain, committee, uint64(10+i)*nanoAVAX, n.personas.Bob.Owner()))
		}
		later := txs.NewOutputOwners(n.span.Until+45*population.Day, 1, n.personas.Locked.Primary.Address())
		n.schedule(chain, n.span.At(333, 33), n.pay(chain, whale, 25*nanoAVAX, later))
	}
}

func (n *payments) pay(chain int, from signer, amount uint64, to txs.OutputOwners) txBuilder {
	return func(at uint64) (*txs.Tx, error) {
		return n.wallet.sign(txDraft{chain: chain, from: from, tx: &txs.BaseTx{}, outs: []*txs.TransferableOutput{n.wallet.output(amount, to)}}, at)
	}
}

// randomSender returns an account, usually not a persona, but often alice.
func (n *payments) randomSender(r *rand.Rand) *population.Account {
	w := n.personas
	switch k := r.IntN(20); {
	case k < 3:
		return w.Alice
	case k == 3:
		return w.Bob
	case k == 4:
		return []*population.Account{w.Ewoq, w.Collector, w.Clumsy, w.Whale, w.Deployer}[r.IntN(5)]
	}
	return n.account(population.Skewed(r, min(len(n.accounts), accountsWithAVAX)))
}

// mostPaid is the largest everyday payment of an account other than a persona, in nAVAX.
const mostPaid = 10 * nanoAVAX

// mostPaidByPersona returns the largest everyday payment from or to a persona. It shrinks with their number, so that together they move no
// more than an everyday wallet holds.
func (n *payments) mostPaidByPersona() uint64 {
	const all = 800 * nanoAVAX
	return all / uint64(max(n.size.Transactions, 2_000))
}

// isEveryday reports whether an account is a persona that pays from an everyday wallet.
func (n *payments) isEveryday(a *population.Account) bool {
	w := n.personas
	return a == w.Alice || a == w.Bob || a == w.Collector || a == w.Clumsy
}

// everyday returns one payment, on X sometimes of another asset.
func (n *payments) everyday(chain int, from *population.Account, r *rand.Rand, at uint64) (*txs.Tx, error) {
	if chain == store.XChain && population.Chance(r, 20) {
		tx, err := (&assets{n.Network}).trade(from, r, at)
		if tx != nil || err != nil {
			return tx, err
		}
	}
	w := n.personas
	d := txDraft{chain: chain, from: singleSigner(from), tx: &txs.BaseTx{}}
	for range population.Between(r, 1, 3) {
		to, most := n.account(population.Skewed(r, len(n.accounts))), uint64(mostPaid)
		if population.Chance(r, 15) {
			to, most = []*population.Account{w.Alice, w.Bob, w.Bob, w.Spammed}[r.IntN(4)], n.mostPaidByPersona()
		}
		if n.isEveryday(from) {
			most = n.mostPaidByPersona()
		}
		d.outs = append(d.outs, n.wallet.output(uint64(population.Between(r, 1, 1_000))*most/1_000, to.Owner()))
	}
	return n.wallet.sign(d, at)
}
