package seed

import (
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"
)

// plays are the things that the personas of a chain do in the course of its history, in no particular order.
func (s *evmChain) personaActions() []action {
	var steps []action
	for _, play := range []func() []action{s.alice, s.bob, s.whale, s.collector, s.clumsy, s.spammed, s.indirect, s.fresh} {
		steps = append(steps, play()...)
	}
	return steps
}

// times repeats a step as often as the persona's situation asks for: in full on the big chains, a tenth elsewhere.
func (s *evmChain) times(full int, do action) []action {
	n := full
	if !s.full {
		n = max(full/10, 1)
	}
	steps := make([]action, n)
	for i := range steps {
		steps[i] = do
	}
	return steps
}

// by lets a persona follow a habit, and send something to a friend when that is not possible at the moment.
func (s *evmChain) by(name, friend string, act func(*evmChain, *account, *rand.Rand) (*txRequest, error)) action {
	return func(r *rand.Rand) (*txRequest, error) {
		who := s.people[name]
		if i, err := act(s, who, r); i != nil || err != nil {
			return i, err
		}
		return pay(who, s.people[friend].address, units(between(r, 1, 40), 15)), nil
	}
}

func (s *evmChain) alice() []action {
	toBob := func(r *rand.Rand) (*txRequest, error) {
		return pay(s.people["alice"], s.people["bob"].address, units(between(r, 1, 900), 15)), nil
	}
	steps := s.times(250, toBob)
	steps = append(steps, s.times(60, s.by("alice", "bob", (*evmChain).sendToken))...)
	steps = append(steps, s.times(30, s.by("alice", "bob", (*evmChain).swap))...)
	steps = append(steps, s.times(20, s.by("alice", "bob", (*evmChain).wrap))...)
	steps = append(steps, s.times(20, s.by("alice", "bob", (*evmChain).unwrap))...)
	steps = append(steps, s.times(12, s.by("alice", "bob", (*evmChain).sendCrystal))...)
	steps = append(steps, s.times(12, s.by("alice", "bob", (*evmChain).sendGear))...)
	return append(steps, s.times(30, s.split("alice"))...)
}

// split is somebody paying a persona among others in one call: to the persona, an internal transaction.
func (s *evmChain) split(name string) action {
	return func(r *rand.Rand) (*txRequest, error) {
		to := []common.Address{s.people[name].address, s.other(r).address}
		return s.callWith(s.other(r), "splitter", "Splitter", "split", units(between(r, 1, 60), 16), 240_000, to)
	}
}

func (s *evmChain) bob() []action {
	return s.times(12, func(r *rand.Rand) (*txRequest, error) {
		return pay(s.people["bob"], s.people["alice"].address, units(between(r, 1, 90), 15)), nil
	})
}

// whale moves amounts that do not fit 64 bits, and wraps one just below 2^96.
func (s *evmChain) whale() []action {
	whale := s.people["whale"]
	vast := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 96), big.NewInt(1))
	steps := []action{
		func(*rand.Rand) (*txRequest, error) {
			return s.callWith(whale, "wrapped", "WrappedNative", "deposit", vast, gasCall)
		},
		func(*rand.Rand) (*txRequest, error) {
			return s.call(whale, "snow", "Token", "transfer", s.people["ewoq"].address, new(big.Int).Lsh(big.NewInt(1), 80))
		},
	}
	return append(steps, s.times(14, func(r *rand.Rand) (*txRequest, error) {
		value := new(big.Int).Lsh(big.NewInt(between(r, 1, 1_000_000)), 64)
		return pay(whale, s.other(r).address, value.Add(value, big.NewInt(between(r, 1, gwei)))), nil
	})...)
}

func (s *evmChain) collector() []action {
	steps := s.times(20, s.by("collector", "bob", func(s *evmChain, who *account, r *rand.Rand) (*txRequest, error) {
		return s.pass(who, r)
	}))
	return append(steps, s.times(20, func(r *rand.Rand) (*txRequest, error) {
		return s.mintCrystal(s.people["collector"], r)
	})...)
}

// pass sends on a crystal that is not one of the oddities: those are to be found with the collector.
func (s *evmChain) pass(who *account, r *rand.Rand) (*txRequest, error) {
	for _, it := range s.tokenBalances.items[holding{s.places["collection"], who.address}] {
		if it.id >= 100_000 {
			return s.call(who, "collection", "Collection", "safeTransfer", s.somebody(r), new(big.Int).SetUint64(it.id))
		}
	}
	return nil, nil
}

func (s *evmChain) clumsy() []action {
	var steps []action
	for kind := range 8 {
		steps = append(steps, s.times(6, func(r *rand.Rand) (*txRequest, error) {
			return s.failingCall(s.people["clumsy"], kind, r)
		})...)
	}
	return append(steps, func(r *rand.Rand) (*txRequest, error) { return s.sendNative(s.people["clumsy"], r) })
}

// spammed gets one of every kind of spam at least.
func (s *evmChain) spammed() []action {
	to := func() []common.Address { return []common.Address{s.people["spammed"].address} }
	airdrop := func(role string) action {
		return func(*rand.Rand) (*txRequest, error) {
			return s.call(s.spammer(), role, "Airdrop", "spam", to(), units(1_000_000, 18))
		}
	}
	box := func(*rand.Rand) (*txRequest, error) {
		return s.call(s.spammer(), "spam-collection", "SpamCollection", "spam", to(), big.NewInt(1), big.NewInt(1))
	}
	return append(s.times(12, s.spamStep()), airdrop("airdrop"), airdrop("giveaway"), box)
}

func (s *evmChain) spamStep() action {
	return func(r *rand.Rand) (*txRequest, error) { return s.spam(nil, r) }
}

func (s *evmChain) indirect() []action { return s.times(24, s.split("indirect")) }

func (s *evmChain) fresh() []action {
	return []action{func(*rand.Rand) (*txRequest, error) {
		return pay(s.people["ewoq"], s.people["fresh"].address, units(25, 18)), nil
	}}
}
