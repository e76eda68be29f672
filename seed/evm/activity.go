package evm

import (
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/seed/population"
)

// activity generates the actions of accounts other than personas on a chain.
type activity struct {
	chain   *Chain
	batches int64 // of crystals minted so far, from which token ids follow
}

// usual lists the actions and their frequencies. An action returns nil if an account cannot do it now, and another is chosen.
var usual = []struct {
	weight int
	act    func(*activity, *population.Account, *rand.Rand) (*TxRequest, error)
}{
	{30, (*activity).sendNative},
	{24, (*activity).sendToken},
	{10, (*activity).swap},
	{4, (*activity).wrap},
	{3, (*activity).unwrap},
	{4, (*activity).mintCrystal},
	{3, (*activity).sendCrystal},
	{3, (*activity).sendGear},
	{4, (*activity).payMany},
	{6, (*activity).register},
	{2, (*activity).clear},
	{2, (*activity).deposit},
	{1, (*activity).withdraw},
	{1, (*activity).deploy},
	{2, (*activity).faucet},
	{2, (*activity).spam},
	{2, (*activity).fail},
}

var totalWeight = func() (sum int) {
	for _, u := range usual {
		sum += u.weight
	}
	return sum
}()

// any is any usual action, by an account other than a persona.
func (a *activity) any(r *rand.Rand) (*TxRequest, error) {
	for range 8 {
		draw, who := r.IntN(totalWeight), a.chain.randomAccount(r)
		for _, u := range usual {
			if draw -= u.weight; draw >= 0 {
				continue
			}
			if request, err := u.act(a, who, r); request != nil || err != nil {
				return request, err
			}
			break
		}
	}
	return a.sendNative(a.chain.randomAccount(r), r)
}

// somebody returns a recipient: an account, or alice or bob. These two are chosen hardly more often in a long history than in a short one, so
// that their wallets stay ordinary. It never returns indirect, fresh or nobody.
func (a *activity) somebody(r *rand.Rand) common.Address {
	switch n := r.IntN(max(40, a.chain.size/100)); {
	case n == 0:
		return a.chain.Personas.Alice.Address
	case n < 3:
		return a.chain.Personas.Bob.Address
	default:
		return a.chain.randomAccount(r).Address
	}
}

func (a *activity) sendNative(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	value := new(big.Int).Div(population.Units(population.Between(r, 1, 3_000), 18), big.NewInt(population.Between(r, 100, 2_000)))
	return transfer(who, a.somebody(r), value), nil
}

// holdingOf draws an ERC-20 that an account holds.
func (a *activity) holdingOf(who *population.Account, r *rand.Rand) (role string, balance *big.Int) {
	roles := a.chain.erc20s()
	first := r.IntN(len(roles))
	for n := range roles {
		role := roles[(first+n)%len(roles)]
		if b := a.chain.balances.balance(a.chain.byRole[role], who.Address); b.BitLen() > 4 {
			return role, b
		}
	}
	return "", nil
}

func (a *activity) sendToken(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	role, balance := a.holdingOf(who, r)
	if role == "" {
		return nil, nil
	}
	return a.chain.Call(who, role, a.chain.artifacts[role], "transfer", a.somebody(r), population.Fraction(r, balance, 60, 4))
}

// swap trades on the exchange, after an approval on the first trade.
func (a *activity) swap(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	for _, role := range []string{"usdx", "snow"} {
		token := a.chain.byRole[role]
		balance := a.chain.balances.balance(token, who.Address)
		if balance.BitLen() < 16 || balance.BitLen() > 90 {
			continue
		}
		if !a.chain.balances.allows(token, who.Address, a.chain.byRole["exchange"]) {
			return a.chain.approve(who, role, "exchange")(r)
		}
		return a.chain.Call(who, "exchange", "Exchange", "swap", token, population.Fraction(r, balance, 90, 12), new(big.Int), who.Address)
	}
	return nil, nil
}

func (a *activity) wrap(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	return a.chain.CallWith(who, "wrapped", "WrappedNative", "deposit", population.Units(population.Between(r, 1, 20), 17), GasCall)
}

func (a *activity) unwrap(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	balance := a.chain.balances.balance(a.chain.byRole["wrapped"], who.Address)
	if balance.BitLen() < 40 {
		return nil, nil
	}
	return a.chain.Call(who, "wrapped", "WrappedNative", "withdraw", population.Fraction(r, balance, 9, 2))
}

// firstUsualCrystal is the first crystal with metadata of the usual kind.
const firstUsualCrystal = 100_000

// mintCrystal lets the deployer mint for an account, because only the owner of a collection can mint.
func (a *activity) mintCrystal(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	return a.mintCrystals(who, population.Between(r, 1, 4))
}

// mintCrystals mints n crystals in one transaction. Their ids leave room for the largest batch.
func (a *activity) mintCrystals(who *population.Account, n int64) (*TxRequest, error) {
	a.batches++
	first := big.NewInt(firstUsualCrystal + 20*a.batches)
	return a.chain.CallWith(a.chain.Personas.Deployer, "collection", "Collection", "batchMint", nil, 200_000+150_000*uint64(n), who.Address, first, big.NewInt(n))
}

func (a *activity) sendCrystal(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	held := a.chain.balances.items(a.chain.byRole["collection"], who.Address)
	if len(held) == 0 {
		return nil, nil
	}
	id := new(big.Int).SetUint64(held[r.IntN(len(held))])
	return a.chain.Call(who, "collection", "Collection", "safeTransfer", a.somebody(r), id)
}

// sendGear sends one piece of gear; an account without any gets some from the deployer.
func (a *activity) sendGear(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	held := a.chain.balances.items(a.chain.byRole["items"], who.Address)
	if len(held) == 0 {
		return a.chain.Call(a.chain.Personas.Deployer, "items", "Items", "mint", who.Address, big.NewInt(population.Between(r, 1, 18)), big.NewInt(population.Between(r, 1, 50)))
	}
	number := held[r.IntN(len(held))]
	to := a.chain.randomAccount(r)
	if to == who {
		return nil, nil
	}
	return a.chain.Call(who, "items", "Items", "safeTransferFrom", who.Address, to.Address, new(big.Int).SetUint64(number), big.NewInt(1), []byte{})
}

// payMany pays several accounts in one call: internal transfers, some of which revert.
func (a *activity) payMany(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	to := make([]common.Address, population.Between(r, 2, 5))
	for n := range to {
		to[n] = a.somebody(r)
	}
	method := "split"
	if population.Chance(r, 25) {
		method = "splitInner"
	}
	return a.chain.CallWith(who, "splitter", "Splitter", method, population.Units(population.Between(r, 1, 90), 16), 120_000+60_000*uint64(len(to)), to)
}

func (a *activity) register(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	if population.Chance(r, 15) {
		n := population.Between(r, 2, 12)
		return a.chain.CallWith(who, "key-value-store", "KeyValueStore", "touch", nil, 100_000+45_000*uint64(n), big.NewInt(n))
	}
	key, value := a.chain.rng.Hash("key", who.Address, r.IntN(20)), a.chain.rng.Hash("value", r.Uint64())
	return a.chain.Call(who, "key-value-store", "KeyValueStore", "set", key, value)
}

// clear zeroes one of the caller's slots.
func (a *activity) clear(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	key := a.chain.rng.Hash("key", who.Address, r.IntN(20))
	return a.chain.Call(who, "key-value-store", "KeyValueStore", "set", key, [32]byte{})
}

func (a *activity) deposit(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	return a.chain.CallWith(who, "vault", "Vault", "deposit", population.Units(population.Between(r, 2, 9), 17), GasCall)
}

func (a *activity) withdraw(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	if population.Chance(r, 50) {
		return a.chain.CallWith(who, "vault", "Vault", "deposit", population.Units(1, 18), GasCall)
	}
	return a.chain.Call(who, "vault", "Vault", "withdraw", a.somebody(r), new(big.Int))
}

// deploy deploys a small contract, directly or through the factory.
func (a *activity) deploy(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	if population.Chance(r, 50) {
		return Deploy(who, "", "Vault")
	}
	if population.Chance(r, 50) {
		return a.chain.CallWith(who, "factory", "Factory", "deploy2", nil, 700_000, a.chain.rng.Hash("salt", r.Uint64()))
	}
	return a.chain.CallWith(who, "factory", "Factory", "deploy", nil, 700_000)
}

// faucet gives an account tokens, so that more accounts hold some.
func (a *activity) faucet(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	n := r.IntN(len(tokens) + len(a.chain.listed))
	if n >= len(tokens) && a.chain.listed[n-len(tokens)].Role != fixtures.WrappedRole {
		t := a.chain.listed[n-len(tokens)]
		return a.chain.Call(a.chain.Personas.Deployer, t.Role, "ListedToken", "mint", who.Address, worth(r, t.Role, t.Decimals, 20, 400))
	}
	t := tokens[n%len(tokens)]
	return a.chain.Call(a.chain.Personas.Deployer, t.role, "Token", "transfer", who.Address, worth(r, t.role, t.decimals, 20, 400))
}

// spam has the spammer send worthless tokens to accounts that did not ask for them.
func (a *activity) spam(_ *population.Account, r *rand.Rand) (*TxRequest, error) {
	to := []common.Address{a.chain.Personas.Spammed.Address}
	for range population.Between(r, 2, 6) {
		to = append(to, a.somebody(r))
	}
	gas := 120_000 + 60_000*uint64(len(to))
	if population.Chance(r, 30) {
		return a.chain.CallWith(a.chain.spammer(), "spam-collection", "SpamCollection", "spam", nil, gas, to, big.NewInt(population.Between(r, 1, 5)), big.NewInt(1))
	}
	role := []string{"airdrop", "giveaway"}[r.IntN(2)]
	return a.chain.CallWith(a.chain.spammer(), role, "Airdrop", "spam", nil, gas, to, population.Units(1_000_000, 18))
}

const (
	gasShort = 60_000 // runs out in a loop
	gasTight = 24_000 // runs out in the first storage write of a token transfer
)

// fail returns a transaction that fails in the EVM: with a reason, with a custom error, without data, in a panic, by an invalid opcode, or by
// running out of gas.
func (a *activity) fail(who *population.Account, r *rand.Rand) (*TxRequest, error) {
	return a.failingCall(who, r.IntN(8), r)
}

func (a *activity) failingCall(who *population.Account, kind int, r *rand.Rand) (*TxRequest, error) {
	switch kind {
	case 0:
		return a.chain.Call(who, "reverter", "Reverter", "withReason", []string{"not today", "paused", "slippage too high"}[r.IntN(3)])
	case 1:
		return a.chain.Call(who, "reverter", "Reverter", "withCustomError", big.NewInt(population.Between(r, 1, 99)))
	case 2:
		return a.chain.Call(who, "reverter", "Reverter", "withoutData")
	case 3:
		return a.chain.Call(who, "reverter", "Reverter", "withPanic")
	case 4:
		return a.chain.CallWith(who, "reverter", "Reverter", "burnGas", nil, gasShort)
	case 5:
		return a.chain.Call(who, "reverter", "Reverter", "nestedRevert")
	case 6: // more than anyone has
		return a.chain.Call(who, "usdx", "Token", "transfer", a.chain.Personas.Bob.Address, new(big.Int).Lsh(big.NewInt(1), 200))
	default:
		return a.chain.CallWith(who, "usdx", "Token", "transfer", nil, gasTight, a.chain.Personas.Bob.Address, big.NewInt(1))
	}
}
