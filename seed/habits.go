package seed

import (
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"
)

// habit is something that people do, and how often: the weights of all habits add up to what happens on a usual day.
type activity struct {
	weight int
	act    func(*evmChain, *account, *rand.Rand) (*txRequest, error)
}

// habits are those of the nameless. An act that is not possible for this actor now answers nil, and another is chosen.
var activities = []activity{
	{30, (*evmChain).sendNative},
	{24, (*evmChain).sendToken},
	{10, (*evmChain).swap},
	{4, (*evmChain).wrap},
	{3, (*evmChain).unwrap},
	{4, (*evmChain).mintCrystal},
	{3, (*evmChain).sendCrystal},
	{3, (*evmChain).sendGear},
	{4, (*evmChain).payMany},
	{6, (*evmChain).register},
	{2, (*evmChain).clear},
	{2, (*evmChain).deposit},
	{1, (*evmChain).withdraw},
	{1, (*evmChain).deploy},
	{2, (*evmChain).faucet},
	{2, (*evmChain).spam},
	{2, (*evmChain).fail},
}

var totalWeight = func() (sum int) {
	for _, h := range activities {
		sum += h.weight
	}
	return sum
}()

// live lets one of the nameless do what people do.
func (s *evmChain) live(r *rand.Rand) (*txRequest, error) {
	for range 8 {
		draw, who := r.IntN(totalWeight), s.other(r)
		for _, h := range activities {
			if draw -= h.weight; draw >= 0 {
				continue
			}
			if i, err := h.act(s, who, r); i != nil || err != nil {
				return i, err
			}
			break
		}
	}
	return s.sendNative(s.other(r), r)
}

// somebody is anyone whom people send things to: each other, alice and bob; indirect, fresh and nobody never.
func (s *evmChain) somebody(r *rand.Rand) common.Address {
	switch n := r.IntN(40); {
	case n == 0:
		return s.people["alice"].address
	case n < 3:
		return s.people["bob"].address
	default:
		return s.other(r).address
	}
}

func (s *evmChain) sendNative(who *account, r *rand.Rand) (*txRequest, error) {
	value := new(big.Int).Div(units(between(r, 1, 3_000), 18), big.NewInt(between(r, 100, 2_000)))
	return pay(who, s.somebody(r), value), nil
}

// holdingOf draws an ERC-20 that somebody holds.
func (s *evmChain) holdingOf(who *account, r *rand.Rand) (role string, balance *big.Int) {
	roles := erc20s()
	first := r.IntN(len(roles))
	for n := range roles {
		role := roles[(first+n)%len(roles)]
		if b := s.tokenBalances.balance(s.places[role], who.address); b.BitLen() > 4 {
			return role, b
		}
	}
	return "", nil
}

func (s *evmChain) sendToken(who *account, r *rand.Rand) (*txRequest, error) {
	role, balance := s.holdingOf(who, r)
	if role == "" {
		return nil, nil
	}
	return s.call(who, role, tokenArtifact(role), "transfer", s.somebody(r), part(r, balance, 60, 4))
}

// swap trades on the exchange; whoever never did approves first.
func (s *evmChain) swap(who *account, r *rand.Rand) (*txRequest, error) {
	for _, role := range []string{"usdx", "snow"} {
		token := s.places[role]
		balance := s.tokenBalances.balance(token, who.address)
		if balance.BitLen() < 16 || balance.BitLen() > 90 {
			continue
		}
		if !s.tokenBalances.approved[[3]common.Address{token, who.address, s.places["exchange"]}] {
			return s.approve(who, role, "exchange")(r)
		}
		return s.call(who, "exchange", "Exchange", "swap", token, part(r, balance, 90, 12), new(big.Int), who.address)
	}
	return nil, nil
}

func (s *evmChain) wrap(who *account, r *rand.Rand) (*txRequest, error) {
	return s.callWith(who, "wrapped", "WrappedNative", "deposit", units(between(r, 1, 20), 17), gasCall)
}

func (s *evmChain) unwrap(who *account, r *rand.Rand) (*txRequest, error) {
	balance := s.tokenBalances.balance(s.places["wrapped"], who.address)
	if balance.BitLen() < 40 {
		return nil, nil
	}
	return s.call(who, "wrapped", "WrappedNative", "withdraw", part(r, balance, 9, 2))
}

// mintCrystal is the deployer minting for somebody: only the owner of a collection mints.
func (s *evmChain) mintCrystal(who *account, r *rand.Rand) (*txRequest, error) {
	s.crystals++
	n := between(r, 1, 4)
	first := big.NewInt(100_000 + 10*s.crystals)
	return s.callWith(s.people["deployer"], "collection", "Collection", "batchMint", nil, 200_000+150_000*uint64(n), who.address, first, big.NewInt(n), MetadataBase+"crystals/")
}

func (s *evmChain) sendCrystal(who *account, r *rand.Rand) (*txRequest, error) {
	held := s.tokenBalances.items[holding{s.places["collection"], who.address}]
	if len(held) == 0 {
		return nil, nil
	}
	id := new(big.Int).SetUint64(held[r.IntN(len(held))].id)
	return s.call(who, "collection", "Collection", "safeTransfer", s.somebody(r), id)
}

// sendGear passes on one piece of gear; who has none gets some from the deployer.
func (s *evmChain) sendGear(who *account, r *rand.Rand) (*txRequest, error) {
	held := s.tokenBalances.items[holding{s.places["items"], who.address}]
	if len(held) == 0 {
		return s.call(s.people["deployer"], "items", "Items", "mint", who.address, big.NewInt(between(r, 1, 18)), big.NewInt(between(r, 1, 50)))
	}
	it := held[r.IntN(len(held))]
	to := s.other(r)
	if to == who {
		return nil, nil
	}
	return s.call(who, "items", "Items", "safeTransferFrom", who.address, to.address, new(big.Int).SetUint64(it.id), big.NewInt(1), []byte{})
}

// payMany pays several people in one call: internal transfers, some of which are undone.
func (s *evmChain) payMany(who *account, r *rand.Rand) (*txRequest, error) {
	to := make([]common.Address, between(r, 2, 5))
	for n := range to {
		to[n] = s.somebody(r)
	}
	method := "split"
	if chance(r, 25) {
		method = "splitInner"
	}
	return s.callWith(who, "splitter", "Splitter", method, units(between(r, 1, 90), 16), 120_000+60_000*uint64(len(to)), to)
}

func (s *evmChain) register(who *account, r *rand.Rand) (*txRequest, error) {
	if chance(r, 15) {
		n := between(r, 2, 12)
		return s.callWith(who, "registry", "Registry", "touch", nil, 100_000+45_000*uint64(n), big.NewInt(n))
	}
	key, value := s.rng.hash("key", who.address, r.IntN(20)), s.rng.hash("value", r.Uint64())
	return s.call(who, "registry", "Registry", "set", key, value)
}

// clear zeroes one of the caller's slots.
func (s *evmChain) clear(who *account, r *rand.Rand) (*txRequest, error) {
	key := s.rng.hash("key", who.address, r.IntN(20))
	return s.call(who, "registry", "Registry", "set", key, [32]byte{})
}

func (s *evmChain) deposit(who *account, r *rand.Rand) (*txRequest, error) {
	return s.callWith(who, "vault", "Vault", "deposit", units(between(r, 2, 9), 17), gasCall)
}

func (s *evmChain) withdraw(who *account, r *rand.Rand) (*txRequest, error) {
	if chance(r, 50) {
		return s.callWith(who, "vault", "Vault", "deposit", units(1, 18), gasCall)
	}
	return s.call(who, "vault", "Vault", "withdraw", s.somebody(r), new(big.Int))
}

// deploy puts up a small contract, directly or through the factory.
func (s *evmChain) deploy(who *account, r *rand.Rand) (*txRequest, error) {
	if chance(r, 50) {
		return create(who, "", "Vault")
	}
	if chance(r, 50) {
		return s.callWith(who, "factory", "Factory", "deploy2", nil, 700_000, s.rng.hash("salt", r.Uint64()))
	}
	return s.callWith(who, "factory", "Factory", "deploy", nil, 700_000)
}

// faucet hands tokens to somebody, so that new people come to hold some.
func (s *evmChain) faucet(who *account, r *rand.Rand) (*txRequest, error) {
	t := tokens[r.IntN(len(tokens))]
	return s.call(s.people["deployer"], t.role, "Token", "transfer", who.address, units(between(r, 20, 4_000), int(t.decimals)))
}

// spam is the spammer sending worthless tokens to people who did not ask.
func (s *evmChain) spam(_ *account, r *rand.Rand) (*txRequest, error) {
	to := []common.Address{s.people["spammed"].address}
	for range between(r, 2, 6) {
		to = append(to, s.somebody(r))
	}
	gas := 120_000 + 60_000*uint64(len(to))
	if chance(r, 30) {
		return s.callWith(s.spammer(), "spam-collection", "SpamCollection", "spam", nil, gas, to, big.NewInt(between(r, 1, 5)), big.NewInt(1))
	}
	role := []string{"airdrop", "giveaway"}[r.IntN(2)]
	return s.callWith(s.spammer(), role, "Airdrop", "spam", nil, gas, to, units(1_000_000, 18))
}
