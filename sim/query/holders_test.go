package query_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/query"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
)

// span is an address's lowest, highest and last balance over some blocks.
type span struct{ lowest, highest, last uint256.Int }

// spanOf folds the balances after each block, from the one before the first.
func spanOf(balance func(block uint64) *uint256.Int, first, last uint64) (s span) {
	if first > 0 {
		s.lowest = *balance(first - 1)
	}
	s.highest, s.last = s.lowest, *balance(last)
	for block := first; block <= last; block++ {
		if now := balance(block); now.Lt(&s.lowest) {
			s.lowest = *now
		} else if now.Gt(&s.highest) {
			s.highest = *now
		}
	}
	return s
}

// ranges returns some first and last blocks below a head; the first may follow the last.
func ranges(head uint64) [][2]uint64 {
	return [][2]uint64{{0, head}, {1, head}, {head / 2, head}, {head / 3, head / 2}, {head / 2, head / 2}, {head, head}, {head + 1, head}, {head/2 + 1, head / 2}, {0, head / 3}}
}

// holderWorld returns a tiny world in which clients have also sent unusual things.
func holderWorld(t *testing.T) *sim.World {
	t.Helper()
	w := tinyWorld(t)
	if err := simtest.SendRandomly(t.Context(), w, 5, 40); err != nil {
		t.Fatal(err)
	}
	return w
}

func headOf(t *testing.T, c *reader.Chain) uint64 {
	t.Helper()
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return head.Number
}

// collect returns a condition that is always true, and the balances it was asked about.
func collect(t *testing.T) (func(*query.HeldRange) bool, map[common.Address]span) {
	seen := map[common.Address]span{}
	var turn = make(chan bool, 1) // parts are read concurrently
	return func(r *query.HeldRange) bool {
		turn <- true
		defer func() { <-turn }()
		if _, twice := seen[r.Owner]; twice {
			t.Errorf("%s is asked about twice", r.Owner)
		}
		seen[r.Owner] = span{r.Lowest, r.Highest, r.Last}
		return r.Owner[19]%2 == 0
	}, seen
}

func checkFound(t *testing.T, found []common.Address, seen map[common.Address]span) {
	t.Helper()
	var want []common.Address
	for a := range seen {
		if a[19]%2 == 0 {
			want = append(want, a)
		}
	}
	slices.SortFunc(want, common.Address.Cmp)
	slices.SortFunc(found, common.Address.Cmp)
	if !slices.Equal(found, want) {
		t.Errorf("%d addresses pass, want %d", len(found), len(want))
	}
}

// TestNativeHoldersOverBlocks compares each account's range of balances with the accounts after every block.
func TestNativeHoldersOverBlocks(t *testing.T) {
	w := holderWorld(t)
	for _, c := range w.Chains[:2] {
		head := headOf(t, c)
		balances := map[common.Address][]*uint256.Int{}
		for block := range head + 1 {
			all, err := w.DB.AccountsAt(t.Context(), c.Row.ID, block)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range all {
				owner := common.BytesToAddress(a.Address)
				for uint64(len(balances[owner])) < block {
					balances[owner] = append(balances[owner], new(uint256.Int))
				}
				balances[owner] = append(balances[owner], new(uint256.Int).SetBytes(a.Balance))
			}
		}
		for _, r := range ranges(head) {
			passes, seen := collect(t)
			found, err := query.NativeHolders(t.Context(), w.DB, c, r[0], r[1], passes)
			if err != nil {
				t.Fatal(err)
			}
			checkFound(t, found, seen)
			for owner, all := range balances {
				at := func(block uint64) *uint256.Int {
					if block < uint64(len(all)) {
						return all[block]
					}
					return new(uint256.Int)
				}
				want := spanOf(at, r[0], r[1])
				if got := seen[owner]; got != want {
					t.Fatalf("%s on chain %d in %v: %v, want %v", owner, c.Row.EVMID, r, got, want)
				}
			}
			for owner := range seen {
				if balances[owner] == nil {
					t.Fatalf("%s never had an account", owner)
				}
			}
		}
	}
}

// TestTokenHoldersOverBlocks does the same for tokens, whose balances cover all items together, and adds up minted amounts.
func TestTokenHoldersOverBlocks(t *testing.T) {
	w := holderWorld(t)
	standards := map[store.Standard]int{}
	for _, c := range w.Chains {
		head := headOf(t, c)
		for _, standard := range []store.Standard{store.ERC20, store.ERC721, store.ERC1155} {
			tokens, err := w.DB.Tokens(t.Context(), c.Row.ID, standard, 0)
			if err != nil {
				t.Fatal(err)
			}
			for i := range tokens {
				standards[standard] += checkTokenHolders(t, w, c, &tokens[i], head)
				checkMinted(t, w, c, &tokens[i])
			}
		}
	}
	if len(standards) != 3 || standards[store.ERC20] < 10 || standards[store.ERC721] < 3 || standards[store.ERC1155] < 3 {
		t.Errorf("holders by standard: %v", standards)
	}
}

func checkTokenHolders(t *testing.T, w *sim.World, c *reader.Chain, token *store.Token, head uint64) int {
	t.Helper()
	rows, err := w.DB.TokenBalances(t.Context(), token.ID, head, math.MaxInt32)
	if err != nil {
		t.Fatal(err)
	}
	owners := map[common.Address]bool{}
	for _, row := range rows {
		owners[common.BytesToAddress(row.Owner)] = true
	}
	transfers, err := w.DB.Transfers(t.Context(), store.First(c.Row.ID), store.Last(c.Row.ID))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range transfers {
		if x.Asset.Token() == token.ID {
			owners[common.BytesToAddress(x.Recipient)] = true
		}
	}
	for _, r := range ranges(head) {
		passes, seen := collect(t)
		found, err := query.TokenHolders(t.Context(), w.DB, c, token, r[0], r[1], passes)
		if err != nil {
			t.Fatal(err)
		}
		checkFound(t, found, seen)
		for owner := range owners {
			history, err := w.DB.TokenBalancesOf(t.Context(), owner[:], token.ID, head)
			if err != nil {
				t.Fatal(err)
			}
			at := func(block uint64) *uint256.Int { return heldAfter(history, block) }
			got, there := seen[owner]
			if want := spanOf(at, r[0], r[1]); got != want {
				t.Fatalf("%s of token %x on chain %d in %v: %v, want %v; asked about %t", owner, token.Address, c.Row.EVMID, r, got, want, there)
			}
		}
	}
	return len(owners)
}

// heldAfter adds up an owner's items after a block.
func heldAfter(history []store.TokenBalance, block uint64) *uint256.Int {
	newest := map[string]store.TokenBalance{}
	for _, row := range history {
		if before, known := newest[string(row.Asset)]; row.Block <= block && (!known || row.Block > before.Block) {
			newest[string(row.Asset)] = row
		}
	}
	sum := new(uint256.Int)
	for _, row := range newest {
		sum.Add(sum, new(uint256.Int).SetBytes(row.Amount))
	}
	return sum
}

func checkMinted(t *testing.T, w *sim.World, c *reader.Chain, token *store.Token) {
	t.Helper()
	all, err := w.DB.Transfers(t.Context(), store.First(c.Row.ID), store.Last(c.Row.ID))
	if err != nil {
		t.Fatal(err)
	}
	nobody := make([]byte, 20)
	want := map[common.Address]*uint256.Int{}
	of := func(who []byte) *uint256.Int {
		a := common.BytesToAddress(who)
		if want[a] == nil {
			want[a] = new(uint256.Int)
		}
		return want[a]
	}
	for _, x := range all {
		amount := new(uint256.Int).SetBytes(x.Amount)
		if x.Asset.Token() != token.ID {
			continue
		}
		if burned := bytes.Equal(x.Recipient, nobody); burned {
			of(x.Sender).Sub(of(x.Sender), amount)
		} else if bytes.Equal(x.Sender, nobody) {
			of(x.Recipient).Add(of(x.Recipient), amount)
		}
	}
	got, err := query.NetMinted(t.Context(), w.DB, token)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d addresses minted token %x, want %d: %v", len(got), token.Address, len(want), err)
	}
	for owner, amount := range want {
		if !got[owner].Eq(amount) {
			t.Fatalf("%s minted %s of token %x, want %s", owner, got[owner], token.Address, amount)
		}
	}
}
