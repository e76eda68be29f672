package rules

import (
	"testing"
	"time"

	"snowglobe/fixtures"
)

// TestUpgrades uses avalanchego's times (upgrade.Mainnet and Fuji), durations and uptimes (genesis.MainnetParams, FujiParams and
// ACP267UptimeRequirement).
func TestUpgrades(t *testing.T) {
	for _, c := range []struct {
		network          *Network
		granite, helicon string
		before, after    time.Duration // of the shortest validation
	}{
		{Mainnet, "2025-11-19T16:00:00Z", "2026-09-22T15:00:00Z", 14 * 24 * time.Hour, 48 * time.Hour},
		{Fuji, "2025-10-29T15:00:00Z", "2026-07-28T15:00:00Z", 24 * time.Hour, 12 * time.Hour},
	} {
		n := c.network
		for u, text := range map[Upgrade]string{Granite: c.granite, Helicon: c.helicon} {
			want, err := time.Parse(time.RFC3339, text)
			if err != nil {
				t.Fatal(err)
			}
			at := uint64(want.Unix())
			if n.ActivationTime(u) != at || n.Active(u, at-1) || !n.Active(u, at) || n.Latest(at) != u {
				t.Errorf("%s on %s: activates at %d, want %d", u, n.Name, n.ActivationTime(u), at)
			}
		}
		helicon := n.ActivationTime(Helicon)
		before, after := n.StakingAt(helicon-1), n.StakingAt(helicon)
		for _, d := range []struct {
			what string
			got  uint64
			want time.Duration
		}{
			{"validation before", before.MinValidationDuration, c.before},
			{"validation after", after.MinValidationDuration, c.after},
			{"delegation before", before.MinDelegationDuration, c.before},
			{"delegation after", after.MinDelegationDuration, c.before},
		} {
			if time.Duration(d.got)*time.Second != d.want {
				t.Errorf("%s: %s takes %d s, want %s", n.Name, d.what, d.got, d.want)
			}
		}
		if before.UptimeRequirement != 800_000 || after.UptimeRequirement != 900_000 {
			t.Errorf("%s: uptimes of %d and %d", n.Name, before.UptimeRequirement, after.UptimeRequirement)
		}
		if n.MaxPChainSize(helicon-1) != 256<<10 || n.MaxPChainSize(helicon) != 2<<20 {
			t.Errorf("%s: sizes of %d and %d", n.Name, n.MaxPChainSize(helicon-1), n.MaxPChainSize(helicon))
		}
		for days, want := range map[uint64]uint64{0: 100_000, 9: 97_500, 45: 87_500, 90: 75_000, 400: 75_000} { // ACP-285
			if got := n.StakingAt(helicon + days*day).MinConsumptionRate; got != want {
				t.Errorf("%s: after %d days the smallest consumption rate is %d, want %d", n.Name, days, got, want)
			}
		}
	}
}

// TestActivationsOfAWorld moves an upgrade, and stores and loads the times.
func TestActivationsOfAWorld(t *testing.T) {
	for _, unix := range []int64{1_770_000_000, fixtures.Unscheduled} {
		n, err := Fuji.WithActivation(Helicon, unix)
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(n.NetworkID, n.EncodeUpgrades())
		if err != nil || loaded.ActivationTime(Helicon) != uint64(unix) || loaded.ActivationTime(Granite) != Fuji.ActivationTime(Granite) {
			t.Errorf("%d: %s is loaded as %+v, %v", unix, n.EncodeUpgrades(), loaded, err)
		}
	}
	if n, err := Fuji.WithActivation(Helicon, int64(Fuji.ActivationTime(Granite))); err != nil || n.Latest(n.ActivationTime(Granite)) != Helicon {
		t.Errorf("two upgrades at once: %v", err)
	}
	if Fuji.ActivationTime(Helicon) != 1_785_250_800 {
		t.Error("the public network itself has changed")
	}
	for _, c := range []struct{ encoded, want string }{
		{`{"helicon":1}`, "the times of the upgrades: on fuji helicon cannot activate at 1970-01-01T00:00:01Z: it builds on granite, which activates at 2025-10-29T15:00:00Z"},
		{`{"nitrogen":1}`, `the times of the upgrades: unknown upgrade "nitrogen": one of granite, helicon`},
		{`[]`, "the times of the upgrades: json: cannot unmarshal array into Go value of type map[string]int64"},
	} {
		if _, err := Load(5, c.encoded); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.encoded, err, c.want)
		}
	}
}

// TestUpgradesAreLoadedTogether: their order is that of the times in the file, not of those before, and one wrong name is enough to refuse it.
func TestUpgradesAreLoadedTogether(t *testing.T) {
	n, err := Load(5, `{"granite":1800000000,"helicon":1900000000}`)
	if err != nil || n.ActivationTime(Granite) != 1_800_000_000 || n.ActivationTime(Helicon) != 1_900_000_000 {
		t.Errorf("both later: %+v, %v", n, err)
	}
	for range 50 { // members have no order
		if n, err := Load(5, `{"helicon":1790000000,"nitrogen":1,"oxygen":1}`); err == nil || err.Error() != `the times of the upgrades: unknown upgrade "nitrogen": one of granite, helicon` {
			t.Fatalf("loaded as %+v, %v", n, err)
		}
	}
}

// TestNamesOfUpgrades lists the names, which commands accept, in order.
func TestNamesOfUpgrades(t *testing.T) {
	all := Upgrades()
	if len(all) != 2 || all[0] != Granite || all[1] != Helicon {
		t.Errorf("%v", all)
	}
	for name, want := range map[string]Upgrade{"granite": Granite, "helicon": Helicon} {
		if u, err := UpgradeNamed(name); err != nil || u != want || u.String() != name {
			t.Errorf("%s is %d, %v", name, u, err)
		}
	}
}
