package primary_test

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"snowglobe/fixtures"
	"snowglobe/fixtures/worldfile"
	"snowglobe/seed"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// eachNetwork runs a test on both networks of every profile.
func eachNetwork(t *testing.T, test func(s *network)) {
	t.Helper()
	for _, profile := range profiles(t) {
		for _, s := range networksOf(t, seedtest.Shared(t, profile, 1)) {
			test(s)
		}
	}
}

// stints returns a node's times as a validator of the primary network, oldest first: one, or the cycles of a node that renews itself.
func (s *network) stints(role string) (all []store.Staker) {
	s.Helper()
	for _, row := range must(s.w.DB.StakersOfNode(s.Context(), s.p, s.nodes[role].Node))(s) {
		if !row.Delegator && bytes.Equal(row.Subnet, make([]byte, 32)) {
			all = append(all, row)
		}
	}
	if len(all) == 0 {
		s.Fatalf("%s: no node is %s", s.rules.HRP, role)
	}
	slices.SortFunc(all, func(a, b store.Staker) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func (s *network) ended(row store.Staker, rewarded bool) bool {
	return row.Status == store.StakerCompleted && row.Rewarded == rewarded && row.RewardTx != nil
}

// TestUptimeKeptAndUptimeLost: of two nodes with the same uptime, only the one that began before Helicon is rewarded.
func TestUptimeKeptAndUptimeLost(t *testing.T) {
	eachNetwork(t, func(s *network) {
		kept, lost := s.stints("uptime-kept")[0], s.stints("uptime-lost")[0]
		s.check(s.ended(kept, true) && !s.rules.Active(rules.Helicon, uint64(kept.Start)), "uptime-kept: %+v", kept)
		s.check(s.ended(lost, false) && s.rules.Active(rules.Helicon, uint64(lost.Start)), "uptime-lost: %+v", lost)
		for _, role := range []string{"uptime-kept", "uptime-lost"} {
			s.check(s.nodes[role].Uptime == 850_000, "%s was up for %d", role, s.nodes[role].Uptime)
		}
	})
}

// TestShortStake lasts exactly as long as Helicon requires, which was too short before.
func TestShortStake(t *testing.T) {
	hours := map[string]int64{"avax": 48, "fuji": 12}
	eachNetwork(t, func(s *network) {
		short := s.stints("short-stake")[0]
		s.check(s.ended(short, true) && short.End-short.Start == hours[s.rules.HRP]*3600, "short-stake: %+v", short)
		s.check(uint64(short.End-short.Start) < s.rules.BaseStaking.MinValidationDuration, "short-stake was possible before Helicon")
	})
}

// TestAutoRenewedRestaking restakes everything: each cycle begins where the last one ended, with its rewards.
func TestAutoRenewedRestaking(t *testing.T) {
	eachNetwork(t, func(s *network) {
		cycles := s.stints("auto-renewed-restaking")
		s.check(len(cycles) >= 4, "%d cycles", len(cycles))
		for i, c := range cycles[1:] {
			before := cycles[i]
			s.check(s.ended(before, true) && c.Start == before.End && c.Weight == before.Weight+before.PotentialReward+before.DelegateeReward,
				"cycle %+v follows %+v", c, before)
			s.check(before.PotentialReward > 0 && bytes.Equal(before.Tx, c.Tx), "cycle %+v", before)
		}
		s.check(cycles[len(cycles)-1].Status == store.StakerActive, "it does not go on")
	})
}

// TestAutoRenewed restakes a quarter, and has a delegation that ends with the cycle in which it began.
func TestAutoRenewed(t *testing.T) {
	eachNetwork(t, func(s *network) {
		cycles := s.stints("auto-renewed")
		for i, c := range cycles[1:] {
			before := cycles[i]
			restaked, all := 4*(c.Weight-before.Weight), before.PotentialReward+before.DelegateeReward
			s.check(restaked >= all && restaked < all+8, "cycle %+v follows %+v", c, before) // both parts are rounded up
		}
		last := cycles[len(cycles)-1]
		s.check(last.Status == store.StakerActive && last.AutoCompoundRewardShares == 250_000, "it does not go on: %+v", last)
		bounded := slices.ContainsFunc(must(s.w.DB.StakersOf(s.Context(), s.p, s.people["delegator"], true))(s), func(d store.Staker) bool {
			return bytes.Equal(d.Node, last.Node) && d.Start > cycles[0].Start && d.End == cycles[0].End
		})
		s.check(bounded, "the delegator has no delegation until the end of its first cycle")
	})
}

// TestAutoRenewedLeft: the owner set the period to 0 during a cycle, and got the stake back at its end.
func TestAutoRenewedLeft(t *testing.T) {
	eachNetwork(t, func(s *network) {
		cycles := s.stints("auto-renewed-left")
		last := cycles[len(cycles)-1]
		s.check(len(cycles) == 2 && s.ended(cycles[0], true) && s.ended(last, true) && last.NextPeriod == 0, "its cycles: %+v", cycles)
		s.check(cycles[0].Weight < last.Weight, "it restaked nothing")
		configured := must(s.w.DB.PrimaryTxsOfType(s.Context(), s.p, "SetAutoRenewedValidatorConfigTx"))(s)
		s.check(len(configured) == 1, "%d transactions configure it", len(configured))
	})
}

// TestHistoryOnEverySideOfHelicon makes worlds that end before the activations, soon after them, or long after. They have the residents that the
// rules of their time allow.
func TestHistoryOnEverySideOfHelicon(t *testing.T) {
	const before, since = "completed refused low-uptime", "uptime-lost short-stake auto-renewed-restaking auto-renewed auto-renewed-left"
	for _, c := range []struct {
		name  string
		until time.Duration // since the activation on mainnet
		days  int
		roles [2]string // what must exist on mainnet and on fuji
		none  [2]string
	}{
		{"before both", -80 * 24 * time.Hour, 14, [2]string{before + " uptime-kept", before + " uptime-kept"}, [2]string{since, since}},
		{"between them", -time.Hour, 14, [2]string{before, before + " " + since}, [2]string{since, ""}},
		{"at the second before", -time.Second, 2, [2]string{before, before}, [2]string{since, ""}},
		{"an hour after", 75 * time.Minute, 14, [2]string{before, before + " " + since}, [2]string{"uptime-lost short-stake auto-renewed-restaking", ""}},
		{"two days after", 2 * 24 * time.Hour, 14, [2]string{before + " auto-renewed", before}, [2]string{"uptime-lost short-stake auto-renewed-left", ""}},
		{"four days after", 4 * 24 * time.Hour, 14, [2]string{before + " auto-renewed short-stake uptime-lost", before}, [2]string{"auto-renewed-restaking auto-renewed-left", ""}},
		{"three years after", 3 * 365 * 24 * time.Hour, 14, [2]string{before + " " + since, before + " " + since}, [2]string{"uptime-kept", "uptime-kept"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := seed.Profile{Sizes: worldfile.Sizes{Name: "small", Days: 3, Chains: 2, Transactions: 400, Validators: 40, Delegators: 60, L1Validators: 12, PrimaryTransactions: 300}}
			p.Days = c.days
			until := time.Unix(fixtures.Networks[0].Upgrades.Helicon, 0).Add(c.until)
			w, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 4, Profile: &p, Until: until})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			for i, s := range networksOf(t, w) {
				for _, role := range strings.Fields(c.roles[i]) {
					s.stints(role)
				}
				for _, role := range strings.Fields(c.none[i]) {
					s.check(s.nodes[role].Node == nil, "there is %s", role)
				}
			}
		})
	}
}
