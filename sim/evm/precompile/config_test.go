package precompile

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	hexnumber "github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/params"
)

func at(n uint64) *uint64 { return &n }

// TestActivation: a block activates what its time has come for. The contract has code, roles, coins and fees; once it is disabled, nothing of it
// is left.
func TestActivation(t *testing.T) {
	m := newMachine(t, nil)
	fees, later := NewFeeConfig(8_000_000, 25, 15_000_000), NewFeeConfig(9_000_000, 26, 16_000_000)
	s := &Upgrades{
		FeeConfig: fees,
		Genesis: Configs{
			NativeMinter.Key: {BlockTimestamp: at(10), Admins: []common.Address{admin}, Managers: []common.Address{manager}, Enabled: []common.Address{enabled},
				InitialMint: map[common.Address]*hexnumber.HexOrDecimal256{{1}: (*hexnumber.HexOrDecimal256)(big.NewInt(77))}},
			FeeManager.Key:  {BlockTimestamp: at(10)},
			TxAllowList.Key: {},
		},
		Upgrades: []PrecompileUpgrade{
			{NativeMinter.Key: {BlockTimestamp: at(20), Disable: true}}, {FeeManager.Key: {BlockTimestamp: at(20), Disable: true}},
			{NativeMinter.Key: {BlockTimestamp: at(30)}}, {FeeManager.Key: {BlockTimestamp: at(30), InitialFees: &later}}, {Warp.Key: {BlockTimestamp: at(30)}},
		},
	}
	apply := func(parent *uint64, time, number uint64) {
		t.Helper()
		if err := s.Apply(m.states, parent, time, number); err != nil {
			t.Fatal(err)
		}
		m.states.Finalise(params.Rules{IsEIP158: true})
	}
	exist := func(want ...*Contract) {
		t.Helper()
		for _, c := range contracts {
			if got := m.states.Exist(c.Address); got != slices.Contains(want, c) {
				t.Errorf("%s exists: %v", c.Key, got)
			} else if got && (m.states.GetNonce(c.Address) != 1 || string(m.states.GetCode(c.Address)) != "\x01") {
				t.Errorf("%s has nonce %d and code %x", c.Key, m.states.GetNonce(c.Address), m.states.GetCode(c.Address))
			}
		}
	}
	roles := func(want map[common.Address]Role) {
		t.Helper()
		for _, address := range []common.Address{admin, manager, enabled, nobody} {
			if got := RoleOf(m.states, NativeMinter.Address, address); got != want[address] {
				t.Errorf("%s is %s, want %s", address, got, want[address])
			}
		}
	}
	stored := func(want FeeConfig, number uint64) {
		t.Helper()
		if got, changed := StoredFeeConfig(m.states.GetState); !slices.Equal(got.Words(), want.Words()) || changed.Uint64() != number {
			t.Errorf("the fees are %+v, from block %s; want %+v, from %d", got, changed, want, number)
		}
	}
	apply(nil, 9, 0)
	exist()
	apply(nil, 10, 0)
	exist(NativeMinter, FeeManager)
	roles(map[common.Address]Role{admin: Admin, manager: Manager, enabled: Enabled})
	stored(fees, 0)
	if got := m.states.GetBalance(common.Address{1}).Uint64(); got != 77 {
		t.Errorf("%d coins are minted", got)
	}
	apply(at(10), 19, 4)
	exist(NativeMinter, FeeManager)
	apply(at(19), 20, 5)
	exist()
	apply(at(20), 29, 6)
	exist()
	apply(at(29), 31, 7)
	exist(NativeMinter, FeeManager, Warp)
	roles(nil)
	stored(later, 7)
	if got := m.states.GetBalance(common.Address{1}).Uint64(); got != 77 {
		t.Errorf("%d coins are minted at last", got)
	}
	m = newMachine(t, nil)
	apply(at(9), 35, 8) // one block for all
	exist(NativeMinter, FeeManager, Warp)
	roles(nil)
	stored(later, 8)

	for _, c := range []struct {
		after, upTo uint64
		want        []*Contract
	}{{0, 19, nil}, {19, 20, []*Contract{NativeMinter, FeeManager}}, {20, 40, nil}, {0, 40, []*Contract{NativeMinter, FeeManager}}} {
		off := s.Disabled(c.after, c.upTo)
		if len(off) != len(c.want) {
			t.Errorf("from %d to %d %v are disabled", c.after, c.upTo, off)
		}
		for _, contract := range c.want {
			if !off[contract.Address] {
				t.Errorf("from %d to %d %s is not disabled", c.after, c.upTo, contract.Key)
			}
		}
	}
	for time, want := range map[uint64][]string{
		9: nil, 10: {NativeMinter.Key, FeeManager.Key}, 19: {NativeMinter.Key, FeeManager.Key}, 20: nil, 29: nil, 30: {NativeMinter.Key, FeeManager.Key, Warp.Key},
	} {
		if got := slices.Sorted(maps.Keys(s.At(time))); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("at %d %v are in force", time, got)
		}
		var active []string
		for _, c := range s.Active(time) {
			active = append(active, c.Key)
		}
		if !slices.Equal(active, want) {
			t.Errorf("at %d %v are active", time, active)
		}
		if s.HasWarp(time) != slices.Contains(want, Warp.Key) || s.HasFeeManager(time) != slices.Contains(want, FeeManager.Key) {
			t.Errorf("at %d: warp %v, fee manager %v", time, s.HasWarp(time), s.HasFeeManager(time))
		}
	}
	if at30 := s.At(30)[NativeMinter.Key]; len(at30.Admins) != 0 || *at30.BlockTimestamp != 30 {
		t.Errorf("the latest configuration is %+v", at30)
	}

	broken := NewFeeConfig(0, 25, 15_000_000)
	s = &Upgrades{FeeConfig: broken, Genesis: Configs{FeeManager.Key: {BlockTimestamp: at(0)}}}
	if err := s.Apply(m.states, nil, 0, 0); err == nil || err.Error() != "feeManagerConfig: cannot verify fee config: gasLimit cannot be less than or equal to 0: gasLimit = 0" {
		t.Errorf("no gas limit: %v", err)
	}
	huge := (*hexnumber.HexOrDecimal256)(new(big.Int).Lsh(big.NewInt(1), 256))
	s = &Upgrades{Genesis: Configs{NativeMinter.Key: {BlockTimestamp: at(0), InitialMint: map[common.Address]*hexnumber.HexOrDecimal256{{1}: huge}}}}
	if err := s.Apply(m.states, nil, 0, 0); err == nil || !strings.HasSuffix(err.Error(), " does not fit 256 bits") {
		t.Errorf("too many coins: %v", err)
	}
}

// TestConfigurationsAtTheirBounds: what is still accepted, and the words of what is not.
func TestConfigurationsAtTheirBounds(t *testing.T) {
	coins := func(n *big.Int) map[common.Address]*hexnumber.HexOrDecimal256 {
		return map[common.Address]*hexnumber.HexOrDecimal256{{1}: (*hexnumber.HexOrDecimal256)(n)}
	}
	fees, broken := NewFeeConfig(1, 0, 1), NewFeeConfig(0, 0, 1)
	mint := "initial mint cannot contain invalid amount for address 0x0100000000000000000000000000000000000000"
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"a third", Config{Quorum: at(33)}, ""},
		{"all", Config{Quorum: at(100)}, ""},
		{"the default", Config{Quorum: at(0)}, ""},
		{"a little less", Config{Quorum: at(32)}, "invalid warp quorum ratio: cannot specify numerator (32) < min numerator (33)"},
		{"more than all", Config{Quorum: at(101)}, "invalid warp quorum ratio: cannot specify numerator (101) > denominator (100)"},
		{"one coin", Config{InitialMint: coins(big.NewInt(1))}, ""},
		{"no coin", Config{InitialMint: coins(new(big.Int))}, mint},
		{"less than no coin", Config{InitialMint: coins(big.NewInt(-1))}, mint},
		{"null coins", Config{InitialMint: coins(nil)}, mint},
		{"fees", Config{InitialFees: &fees}, ""},
		{"fees without gas", Config{InitialFees: &broken}, "gasLimit cannot be less than or equal to 0: gasLimit = 0"},
		{"an admin who is a manager", Config{Admins: []common.Address{{1}}, Managers: []common.Address{{1}}}, "0x0100000000000000000000000000000000000000 has more than one role"},
		{"three roles", Config{Admins: []common.Address{{1}}, Managers: []common.Address{{2}}, Enabled: []common.Address{{3}}}, ""},
	} {
		for _, where := range []struct {
			prefix string
			s      Upgrades
		}{
			{"contractNativeMinterConfig: ", Upgrades{Genesis: Configs{NativeMinter.Key: c.config}}},
			{"precompile upgrade 1: contractNativeMinterConfig: ", Upgrades{Upgrades: []PrecompileUpgrade{{Warp.Key: {BlockTimestamp: at(5)}}, {NativeMinter.Key: func() Config {
				later := c.config
				later.BlockTimestamp = at(5) // several upgrades may come at once
				return later
			}()}}}},
		} {
			if err := where.s.check(); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != where.prefix+c.want) {
				t.Errorf("%s: %v, want %s", c.name, err, where.prefix+c.want)
			}
		}
	}
	for _, c := range []struct{ config, upgrades, want string }{
		{`[]`, `{}`, "config: json: cannot unmarshal array into Go value of type map[string]json.RawMessage"},
		{`{"warpConfig":5}`, `{}`, "config.warpConfig: json: cannot unmarshal number into Go value of type precompile.Config"},
		{`{}`, `{`, "upgrades: unexpected EOF"},
		{`{"rewardManagerConfig":{}}`, `{}`, "config.rewardManagerConfig: this contract is not supported"},
		{`{}`, `{"precompileUpgrades":[{}]}`, "precompile upgrade 0: has exactly one contract"},
		{`{"warpConfig":{}}`, `{"precompileUpgrades":[{"warpConfig":{"blockTimestamp":1}}]}`, ""}, // one without a time never took effect
		{`{"warpConfig":{"blockTimestamp":0}}`, `{"precompileUpgrades":[{"warpConfig":{"blockTimestamp":1}}]}`, "precompile upgrade 0: turns off a contract that is off, or on one that is on"},
	} {
		if err := new(Upgrades).Parse([]byte(c.config), []byte(c.upgrades)); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s with %s: %v, want %s", c.config, c.upgrades, err, c.want)
		}
	}
}

// TestConfigurationsAsDocuments writes the documents of a node, genesis and upgrade.json.
func TestConfigurationsAsDocuments(t *testing.T) {
	s := new(Upgrades)
	const upgrades = `{"precompileUpgrades":[{"warpConfig":{"blockTimestamp":9,"disable":true}}]}`
	if err := s.Parse([]byte(`{"chainId":5,"warpConfig":{"blockTimestamp":3,"quorumNumerator":67}}`), []byte(upgrades)); err != nil {
		t.Fatal(err)
	}
	if text, err := s.EncodeUpgrades(); err != nil || string(text) != upgrades {
		t.Errorf("upgrades: %s, %v", text, err)
	}
	if text, err := s.Genesis.MarshalWith(map[string]int{"chainId": 5, "zero": 0}); err != nil || string(text) != `{"chainId":5,"warpConfig":{"blockTimestamp":3,"quorumNumerator":67},"zero":0}` {
		t.Errorf("configuration: %s, %v", text, err)
	}
	if text, err := (Configs{}).MarshalWith([]int{1}); err == nil {
		t.Errorf("a list is written as %s", text)
	}
	if text, err := (Configs{}).MarshalWith(json.Number("x")); err == nil {
		t.Errorf("no number is written as %s", text)
	}
	if text, err := (Configs{Warp.Key: {InitialFees: new(FeeConfig)}}).MarshalWith(struct{}{}); err != nil || !strings.Contains(string(text), `"gasLimit":null`) {
		t.Errorf("empty fees: %s, %v", text, err)
	}
}
