package miner_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
)

// TestLoadedAccounts compares loaded accounts and the order of the changes with what was asked for.
func TestLoadedAccounts(t *testing.T) {
	t.Parallel()
	w := generate(t)
	code, slot := []byte{0x60, 0x00}, map[common.Hash]common.Hash{{1}: {2}, {3}: {}}
	one := big.NewInt(1)
	for name, m := range miners(w) {
		key := evm.StateKey(m.Chain.Kind, common.Hash{1})
		changes := func() (kinds []string) {
			all, err := w.DB.StateChanges(t.Context(), m.Chain.Row.ID, head(t, m.Chain).Number, head(t, m.Chain).Number)
			ok(t, err)
			for i := range all {
				kinds = append(kinds, all[i].Kind)
			}
			return kinds
		}
		known := len(changes())
		for i, c := range []struct {
			account types.Account
			kinds   string // of the changes
			want    types.Account
		}{
			{types.Account{Balance: new(big.Int)}, "", types.Account{Balance: new(big.Int)}},
			{types.Account{Balance: one}, "balance", types.Account{Balance: one}},
			{types.Account{Balance: new(big.Int), Nonce: 7}, "nonce", types.Account{Balance: new(big.Int), Nonce: 7}},
			{types.Account{Balance: new(big.Int), Code: code, Storage: slot}, "code storage", types.Account{Balance: new(big.Int), Code: code, Storage: slot}},
			{types.Account{Balance: one, Code: code, Storage: slot}, "balance storage code", types.Account{Balance: one, Code: code, Storage: slot}},
			{types.Account{Balance: new(big.Int), Nonce: 1, Code: code, Storage: slot}, "nonce storage code", types.Account{Balance: new(big.Int), Nonce: 1, Code: code, Storage: slot}},
		} {
			a := common.Address{0xae, byte(i)}
			// Nothing changes when the same is loaded again, and a nonce never falls.
			less := c.account
			less.Nonce = 0
			for again, account := range []types.Account{c.account, c.account, less} {
				loaded, err := m.LoadState(t.Context(), types.GenesisAlloc{a: account}, nil)
				ok(t, err)
				var kinds []string
				if again == 0 {
					kinds = strings.Fields(c.kinds)
				}
				all := changes()
				if got := all[known:]; !slices.Equal(got, kinds) || loaded.Values != len(kinds) || loaded.Unlisted != nil {
					t.Errorf("%s: account %d, time %d: changes %s, want %s; %+v", name, i, again, got, kinds, loaded)
				}
				known = len(all)
				states, err := m.Chain.State(t.Context(), head(t, m.Chain))
				ok(t, err)
				if states.GetBalance(a).ToBig().Cmp(c.want.Balance) != 0 || states.GetNonce(a) != c.want.Nonce || string(states.GetCode(a)) != string(c.want.Code) || states.GetState(a, key) != c.want.Storage[common.Hash{1}] {
					t.Errorf("%s: account %d, time %d: %s, nonce %d, code %x, slot %s", name, i, again, states.GetBalance(a), states.GetNonce(a), states.GetCode(a), states.GetState(a, key))
				}
			}
		}
	}
}

// TestHoldersAreFound: slots of a token that hold the balances of its holders reach the index of balances, in the layouts of Solidity, OpenZeppelin's
// upgradeable tokens and Vyper, whether the holders are loaded, too, or known before. Of more than 500 in one contract the rest is told.
func TestHoldersAreFound(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.MinerOf(w.Networks[0].CChain())
	// token returns code that returns the slot whose key is the hash of an address and a number, in this order or the other.
	token := func(number common.Hash, vyper bool) []byte {
		at := [2]string{"602052", "600052"}
		if vyper {
			at = [2]string{"600052", "602052"}
		}
		return common.FromHex("7f" + fmt.Sprintf("%x", number) + at[0] + "600435" + at[1] + "604060002054" + "60005260206000f3")
	}
	upgradeable := common.HexToHash("0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00")
	for i, c := range []struct {
		number        common.Hash
		vyper         bool
		holders, want int
	}{
		{common.Hash{}, false, 501, 500}, {common.Hash{31: 1}, false, 500, 500}, {common.Hash{31: 15}, false, 3, 3}, {common.Hash{31: 16}, false, 3, 0},
		{upgradeable, false, 3, 3}, {common.Hash{31: 3}, true, 3, 3}, {upgradeable, true, 3, 3},
	} {
		address := common.Address{0xaf, byte(i)}
		storage, holders := map[common.Hash]common.Hash{{30: 1}: {1}}, make([]common.Address, c.holders)
		for n := range holders {
			holders[n] = common.BigToAddress(big.NewInt(int64(1_000*(i+1) + n)))
			words := [][]byte{common.LeftPadBytes(holders[n][:], 32), c.number[:]}
			if c.vyper {
				slices.Reverse(words)
			}
			storage[crypto.Keccak256Hash(words...)] = common.BigToHash(big.NewInt(int64(n + 1)))
		}
		contract := types.Account{Balance: new(big.Int), Nonce: 1, Code: token(c.number, c.vyper), Storage: storage}
		loaded, err := m.LoadState(t.Context(), types.GenesisAlloc{address: contract, holders[0]: {Balance: big.NewInt(1)}}, holders[1:])
		ok(t, err)
		var unlisted []common.Address
		if c.want > 0 && c.want < c.holders {
			unlisted = []common.Address{address}
		}
		if loaded.Values != 4+c.holders || !slices.Equal(loaded.Unlisted, unlisted) {
			t.Errorf("layout %d: %+v", i, loaded)
		}
		known, err := w.DB.TokenAt(t.Context(), m.Chain.Row.ID, address[:])
		ok(t, err)
		held, err := w.DB.TokenBalances(t.Context(), known.ID, head(t, m.Chain).Number, 1_000)
		if err != nil || len(held) != c.want {
			t.Errorf("layout %d: %d of %d holders are listed: %v", i, len(held), c.holders, err)
		}
		for _, h := range held {
			if n := slices.Index(holders, common.BytesToAddress(h.Owner)); n < 0 || new(big.Int).SetBytes(h.Amount).Int64() != int64(n+1) {
				t.Errorf("layout %d: %x holds %x", i, h.Owner, h.Amount)
			}
		}
	}
}

// TestALoadIsAllOrNothing: the last account breaks a rule of the chain, so the ones before it stay as they are.
func TestALoadIsAllOrNothing(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m, manager, digest := w.Miners[len(w.Miners)-1], precompile.FeeManager.Address, w.Digest()
	zeros := map[common.Hash]common.Hash{} // an invalid configuration: subnet-evm's feemanager numbers its slots in the first byte
	for i := range byte(8) {
		zeros[common.Hash{i + 1}] = common.Hash{}
	}
	_, err := m.LoadState(t.Context(), types.GenesisAlloc{{0xae}: {Balance: big.NewInt(1)}, manager: {Balance: new(big.Int), Nonce: 1, Code: []byte{1}, Storage: zeros}}, nil)
	if !errors.Is(err, evm.ErrChange) || !strings.Contains(err.Error(), "the fee manager cannot have it") {
		t.Error(err)
	}
	states, err := m.Chain.State(t.Context(), head(t, m.Chain))
	ok(t, err)
	if !bytes.Equal(w.Digest(), digest) || !states.GetBalance(common.Address{0xae}).IsZero() {
		t.Error("a part was loaded")
	}
	ok(t, m.Mine(t.Context(), 1, 0))
}
