package primary_test

import (
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify"
)

const ownHead = "name: own\ndays: 9\nchains: 2\ntransactions: 400\n"

// generateOwn makes the world of a file of a user's.
func generateOwn(t *testing.T, text string) (*sim.World, error) {
	t.Helper()
	p := must(seed.ParseProfile("world.yaml", []byte(ownHead+text)))(t)
	return seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 1, Profile: p, Until: seed.DefaultUntil})
}

// TestAFilesAccountsStakeAndValidate: balances on P and X, validators and delegators within history and after it, and validators of an L1 are as the
// file wants them.
func TestAFilesAccountsStakeAndValidate(t *testing.T) {
	w, err := generateOwn(t, `accounts:
- {name: rich, index: 20, balances: {P: 9_000, X: 25.5}}
- {name: vault, address: P-avax1qqqqqqqqqqqqqqqqqqqqqqqqqrqpmsx7shcp6w, balances: {P: 750, X: 3}}
l1s:
- {name: Glacier, chainId: 777001, validators: [{name: g-1, owner: rich, weight: 60, balance: 5}, {name: g-2, weight: 40, balance: 0.5}]}
addValidators:
- {name: early, owner: rich, stake: 2_000, start: -5d, end: +60d, fee: 5}
- {name: over, owner: rich, stake: 2_100, start: -7d, end: -1d}
- {name: late, owner: rich, stake: 2_200, start: +2h, end: +90d, fee: 7.5}
addDelegators:
- {validator: early, owner: rich, stake: 100, start: +1h, end: +20d}
- {validator: early, owner: rich, stake: 90, start: -4d, end: +30d}
- {validator: popular, owner: rich, stake: 80, start: -3d, end: +15d}
`)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := networksOf(t, w)[0]
	until := seed.DefaultUntil.Unix()
	for _, c := range []struct {
		role       string
		delegator  bool
		weight     uint64
		start, end int64
		shares     uint32
		status     int
	}{
		{"early", false, 2_000, -5 * 86400, 60 * 86400, 50_000, store.StakerActive}, {"over", false, 2_100, -7 * 86400, -86400, 20_000, store.StakerCompleted},
		{"late", false, 2_200, 7200, 90 * 86400, 75_000, store.StakerActive}, {"early", true, 100, 3600, 20 * 86400, 0, store.StakerActive},
		{"early", true, 90, -4 * 86400, 30 * 86400, 0, store.StakerActive}, {"popular", true, 80, -3 * 86400, 15 * 86400, 0, store.StakerActive},
	} {
		found := 0
		node := s.nodes[c.role]
		for _, row := range must(w.DB.StakersOfNode(t.Context(), s.p, node.Node))(t) {
			if row.Delegator == c.delegator && uint64(row.Weight) == c.weight*avax {
				found++
				owner := store.ParseOutputOwners(row.Owner)
				s.check(row.Start-until >= c.start && row.Start-until < c.start+60 && row.End-until == c.end && row.Shares == c.shares && row.Status == c.status && node.Connected &&
					len(owner.Addresses) == 1 && string(owner.Addresses[0]) == string(s.people["rich"]), "%s: %+v, from %d to %d", c.role, row, row.Start-until, row.End-until)
			}
		}
		s.check(found == 1, "%d stakes of %d on %s", found, c.weight, c.role)
	}
	s.own()
	s.ownL1()
	if _, err := verify.Verify(t.Context(), w, nil); err != nil {
		t.Error(err)
	}
}

// own compares what the genesis gave with the file.
func (s *network) own() {
	for _, c := range []struct {
		who   string
		chain int
		want  uint64
	}{{"rich", s.p, 9_000 * avax}, {"rich", s.x, 25_500_000_000}} {
		sum := uint64(0)
		for _, u := range must(s.w.DB.UTXOsOfBlock(s.Context(), c.chain, 0))(s) {
			parsed := must(txs.ParseUTXO(txs.Chain((c.chain-1)%3), u.Bytes()))(s)
			if o := parsed.Owners(); len(o.Addresses) == 1 && o.Addresses[0] == s.address(c.who) {
				sum += parsed.Amount()
			}
		}
		s.check(sum == c.want, "%s begins with %d on %d", c.who, sum, c.chain)
	}
}

// ownL1 compares the L1's validators with the file.
func (s *network) ownL1() {
	head := must(s.w.DB.PrimaryHead(s.Context(), s.p))(s)
	for role, want := range map[string]struct{ weight, balance uint64 }{"g-1": {60, 5 * avax}, "g-2": {40, avax / 2}} {
		rows := must(s.w.DB.L1ValidatorsOfNode(s.Context(), s.nodes[role].Node, head.ID.Number()))(s)
		if len(rows) != 1 {
			s.Fatalf("%s validates %d times", role, len(rows))
		}
		left := uint64(rows[0].Balance(store.Amount(uint64(head.AccruedFees) + uint64(max(seed.DefaultUntil.Unix()-head.Time, 0))*512)))
		s.check(uint64(rows[0].Weight) == want.weight && left < want.balance+want.balance/50 && left > want.balance-want.balance/50 && s.nodes[role].Connected,
			"%s weighs %d and has %d left: want %+v", role, rows[0].Weight, left, want)
		o := store.ParseOutputOwners(rows[0].BalanceOwner)
		s.check((ids.ShortID(o.Addresses[0]) == s.address("rich")) == (role == "g-1"), "%s gives its balance back to %x", role, o.Addresses)
	}
	s.check(len(must(s.w.DB.L1ValidatorsOfSubnet(s.Context(), must(s.w.DB.L1ValidatorsOfNode(s.Context(), s.nodes["g-1"].Node, head.ID.Number()))(s)[0].Subnet, head.ID.Number()))(s)) == 2, "others validate it, too")
}

// TestStakesThatCannotBe are refused, with their line.
func TestStakesThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"addValidators:\n- {name: v, owner: fresh, stake: 2000, end: +20d}\n":                                                    "addValidators[0]: the owner cannot pay the stake of 2000000000000 nAVAX and the fee on P; give it a balance there",
		"addValidators:\n- {name: v, owner: fresh, stake: 2000, start: -5d, end: +20d}\n":                                        "addValidators[0]: the owner cannot pay the stake of 2000000000000 nAVAX",
		"addValidators:\n- {name: v, owner: whale, stake: 1, start: -1d, end: +20d}\n":                                           "addValidators[0]: ",
		"addDelegators:\n- {validator: nowhere, owner: whale, stake: 25, end: +20d}\n":                                           "addDelegators[0]: no node has the role or id nowhere",
		"addValidators:\n- {name: popular, owner: whale, stake: 2000, end: +20d}\n":                                              "popular is the role of another node",
		"l1s:\n- {name: L, chainId: 777, validators: [{name: l1-active}]}\n":                                                     "l1-active is the role of another node",
		"addValidators:\n- {name: v, owner: whale, stake: 2000, end: +20d}\n- {name: v, owner: whale, stake: 2000, end: +20d}\n": "v",
	} {
		p, err := seed.ParseProfile("world.yaml", []byte(ownHead+text))
		if err == nil {
			var w *sim.World
			if w, err = seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 1, Profile: p, Until: seed.DefaultUntil}); err == nil {
				w.Close()
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "world.yaml:") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
