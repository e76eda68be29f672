package evm

import (
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/seed/population"
)

// personaActivity generates the personas' actions on a chain.
type personaActivity struct {
	*activity
	full bool // otherwise a tenth
}

// fullSize is the number of transactions from which a C-Chain's personas act in full.
const fullSize = 1500

// actions returns the personas' actions during history, in no particular order.
func (p *personaActivity) actions() []action {
	var all []action
	for _, of := range []func() []action{p.alice, p.bob, p.whale, p.collector, p.clumsy, p.spammed, p.indirect, p.fresh} {
		all = append(all, of()...)
	}
	return all
}

// times repeats an action as often as the persona's role requires: in full on the big chains, a tenth elsewhere.
func (p *personaActivity) times(full int, do action) []action {
	n := full
	if !p.full {
		n = max(full/10, 1)
	}
	return slices.Repeat([]action{do}, n)
}

// orPayBob lets a persona act, or pay bob if the action is not possible now.
func (p *personaActivity) orPayBob(who *population.Account, act func(*activity, *population.Account, *rand.Rand) (*TxRequest, error)) action {
	return func(r *rand.Rand) (*TxRequest, error) {
		if request, err := act(p.activity, who, r); request != nil || err != nil {
			return request, err
		}
		return transfer(who, p.chain.Personas.Bob.Address, population.Units(population.Between(r, 1, 40), 15)), nil
	}
}

func (p *personaActivity) alice() []action {
	alice := p.chain.Personas.Alice
	toBob := func(r *rand.Rand) (*TxRequest, error) {
		return transfer(alice, p.chain.Personas.Bob.Address, population.Units(population.Between(r, 1, 400), 15)), nil
	}
	actions := p.times(250, toBob)
	actions = append(actions, p.times(60, p.orPayBob(alice, (*activity).sendToken))...)
	actions = append(actions, p.times(30, p.orPayBob(alice, (*activity).swap))...)
	actions = append(actions, p.times(20, p.orPayBob(alice, (*activity).wrap))...)
	actions = append(actions, p.times(20, p.orPayBob(alice, (*activity).unwrap))...)
	actions = append(actions, p.times(12, p.orPayBob(alice, (*activity).sendCrystal))...)
	actions = append(actions, p.times(12, p.orPayBob(alice, (*activity).sendGear))...)
	return append(actions, p.times(30, p.splitTo(alice))...)
}

// splitTo pays a persona among others in one call: an internal transaction to the persona.
func (p *personaActivity) splitTo(who *population.Account) action {
	return func(r *rand.Rand) (*TxRequest, error) {
		to := []common.Address{who.Address, p.chain.randomAccount(r).Address}
		return p.chain.CallWith(p.chain.randomAccount(r), "splitter", "Splitter", "split", population.Units(population.Between(r, 1, 60), 16), 240_000, to)
	}
}

func (p *personaActivity) bob() []action {
	return p.times(12, func(r *rand.Rand) (*TxRequest, error) {
		return transfer(p.chain.Personas.Bob, p.chain.Personas.Alice.Address, population.Units(population.Between(r, 1, 90), 15)), nil
	})
}

// whale moves amounts beyond 64 bits, of the native token and of ERC-20s.
func (p *personaActivity) whale() []action {
	whale := p.chain.Personas.Whale
	actions := []action{
		p.chain.calling(whale, "wrapped", "WrappedNative", "deposit", population.Units(12_000, 18), GasCall),
		p.chain.calling(whale, "snow", "Token", "transfer", nil, GasCall, p.chain.Personas.Ewoq.Address, new(big.Int).Lsh(big.NewInt(1), 80)),
	}
	return append(actions, p.times(14, func(r *rand.Rand) (*TxRequest, error) {
		value := new(big.Int).Lsh(big.NewInt(population.Between(r, 1, 9)), 64)
		return transfer(whale, p.chain.randomAccount(r).Address, value.Add(value, big.NewInt(population.Between(r, 1, gwei)))), nil
	})...)
}

func (p *personaActivity) collector() []action {
	actions := p.times(20, p.orPayBob(p.chain.Personas.Collector, (*activity).sendUsualCrystal))
	return append(actions, p.times(20, func(r *rand.Rand) (*TxRequest, error) {
		return p.mintCrystal(p.chain.Personas.Collector, r)
	})...)
}

// sendUsualCrystal sends one of the tokens that accounts mint; the collector keeps those with special metadata.
func (a *activity) sendUsualCrystal(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	for _, number := range a.chain.balances.items(a.chain.byRole["collection"], who.Address) {
		if number >= firstUsualCrystal {
			return a.chain.Call(who, "collection", "Collection", "safeTransfer", a.somebody(r), new(big.Int).SetUint64(number))
		}
	}
	return nil, nil
}

func (p *personaActivity) clumsy() []action {
	var actions []action
	for kind := range 8 {
		actions = append(actions, p.times(6, func(r *rand.Rand) (*TxRequest, error) {
			return p.failingCall(p.chain.Personas.Clumsy, kind, r)
		})...)
	}
	return append(actions, func(r *rand.Rand) (*TxRequest, error) { return p.sendNative(p.chain.Personas.Clumsy, r) })
}

// spammed receives at least one of every kind of spam.
func (p *personaActivity) spammed() []action {
	to := []common.Address{p.chain.Personas.Spammed.Address}
	airdrop := func(role string) action {
		return p.chain.calling(p.chain.spammer(), role, "Airdrop", "spam", nil, GasCall, to, population.Units(1_000_000, 18))
	}
	box := p.chain.calling(p.chain.spammer(), "spam-collection", "SpamCollection", "spam", nil, GasCall, to, big.NewInt(1), big.NewInt(1))
	random := func(r *rand.Rand) (*TxRequest, error) { return p.spam(nil, r) }
	return append(p.times(12, random), airdrop("airdrop"), airdrop("giveaway"), box)
}

func (p *personaActivity) indirect() []action {
	return p.times(24, p.splitTo(p.chain.Personas.Indirect))
}

func (p *personaActivity) fresh() []action {
	return []action{func(*rand.Rand) (*TxRequest, error) {
		return transfer(p.chain.Personas.Ewoq, p.chain.Personas.Fresh.Address, population.Units(25, 18)), nil
	}}
}
