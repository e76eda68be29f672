package seed_test

import (
	"errors"
	"math/big"
	"testing"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/price"
	"snowglobe/sim/store"
)

// everyday lists the personas with an everyday wallet.
var everyday = []string{"alice", "bob", "collector", "clumsy", "spammed"}

// The range of an everyday wallet's value, in US dollars.
const leastInWallet, mostInWallet = 1_000, 100_000

// TestEverydayWallets adds up the personas' holdings on all chains of the world at the prices of the last block's hour.
func TestEverydayWallets(t *testing.T) {
	for _, profile := range profiles(t) {
		w := world(t, profile, 1)
		owners := shores(t, w)[0].people
		for _, who := range everyday {
			held := worthOf(t, w, owners[who], evmAddress(t, w, who))
			if t.Logf("%s: %s holds %d USD", profile, who, held); held < leastInWallet || held > mostInWallet {
				t.Errorf("%s: %s holds %d USD, want %d to %d", profile, who, held, leastInWallet, mostInWallet)
			}
		}
	}
}

func evmAddress(t *testing.T, w *sim.World, name string) []byte {
	for _, p := range must(w.DB.Personas(t.Context()))(t) {
		if p.Name == name {
			return p.Address
		}
	}
	t.Fatalf("the world has no %s", name)
	return nil
}

// worthOf returns an account's holdings on the EVM chains, on P and on X, in US dollars.
func worthOf(t *testing.T, w *sim.World, owner, address []byte) int64 {
	sum := new(big.Int)
	for _, c := range w.Chains {
		sum.Add(sum, worthOnChain(t, w, c, address))
	}
	avax := w.Chains[0].Row // the C-Chain's own token is AVAX, as on P and X
	rate := dollars(w, market(t, w, avax.ID, make([]byte, 20)))
	for network := range w.Networks {
		for _, chain := range []int{store.PChain, store.XChain} {
			id, held := store.PrimaryChain(network, chain), new(big.Int)
			for _, u := range must(w.DB.UnspentUTXOs(t.Context(), owner, id, id, 1<<62, 10_000))(t) {
				if string(u.Asset) == string(w.Networks[network].Rules.AVAXAssetID[:]) {
					held.Add(held, new(big.Int).SetUint64(uint64(u.Amount)))
				}
			}
			sum.Add(sum, value(held, rate, 9))
		}
	}
	return sum.Div(sum, big.NewInt(price.Unit)).Int64()
}

// worthOnChain returns an address's holdings of native and priced tokens on an EVM chain, in 10^-8 US dollars.
func worthOnChain(t *testing.T, w *sim.World, c *reader.Chain, address []byte) *big.Int {
	sum, head := new(big.Int), must(w.DB.Head(t.Context(), c.Row.ID))(t)
	for _, m := range must(w.DB.Markets(t.Context(), c.Row.ID))(t) {
		if m.Series == "" {
			continue
		}
		held, decimals := []byte(nil), 18
		if token, err := w.DB.TokenAt(t.Context(), c.Row.ID, m.Address); err == nil {
			row, err := w.DB.TokenBalance(t.Context(), address, token.ID.Asset(nil), head.ID.Number())
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			held, decimals = must(row, err)(t).Amount, token.Decimals
		} else {
			held = must(w.DB.Account(t.Context(), c.Row.ID, address, head.ID.Number()))(t).Balance
		}
		sum.Add(sum, value(new(big.Int).SetBytes(held), dollars(w, m), decimals))
	}
	return sum
}

func market(t *testing.T, w *sim.World, chain int, address []byte) store.Market {
	for _, m := range must(w.DB.Markets(t.Context(), chain))(t) {
		if string(m.Address) == string(address) {
			return m
		}
	}
	t.Fatal("the chain's own token has no market")
	return store.Market{}
}

// dollars returns a price at the end of history, in 10^-8 US dollars.
func dollars(w *sim.World, m store.Market) int64 {
	return price.Series{Name: m.Series, Middle: m.Price, Amplitude: m.Amplitude}.At(w.Meta.Seed, w.Meta.Until/3600)
}

func value(amount *big.Int, price int64, decimals int) *big.Int {
	product := new(big.Int).Mul(amount, big.NewInt(price))
	return product.Div(product, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
}
