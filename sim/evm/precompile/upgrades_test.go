package precompile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"snowglobe/sim/evm/precompile"
)

const (
	someFees = `"feeConfig":{"gasLimit":20000000,"targetBlockRate":2,"minBaseFee":1,"targetGas":1000000,"baseFeeChangeDenominator":36,"minBlockGasCost":0,"maxBlockGasCost":1000000,"blockGasCostStep":0}`
	one      = `"0x0000000000000000000000000000000000000001"`
	minterOn = `"contractNativeMinterConfig":{"adminAddresses":[` + one + `],"blockTimestamp":5}`
)

func parse(config, upgrades string) (*precompile.Upgrades, error) {
	s := &precompile.Upgrades{}
	var c struct {
		FeeConfig precompile.FeeConfig `json:"feeConfig"`
	}
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return nil, err
	}
	if err := c.FeeConfig.Check(); err != nil {
		return nil, err
	}
	s.FeeConfig = c.FeeConfig
	return s, s.Parse([]byte(config), []byte(upgrades))
}

func TestConfigurationsAreChecked(t *testing.T) {
	config := func(more string) string { return "{" + someFees + more + "}" }
	off := func(at string) string {
		return `{"precompileUpgrades":[{"contractNativeMinterConfig":{"blockTimestamp":` + at + `,"disable":true}}]}`
	}
	for _, c := range []struct{ name, config, upgrades, want string }{
		{"plain", config(""), `{}`, ""},
		{"fields that are not known", config(`,"berlinBlock":0`), `{}`, ""},
		{"minter, later off", config("," + minterOn), off("6"), ""},
		{"no fees", `{"feeConfig":{}}`, `{}`, "gasLimit cannot be nil"},
		{"no gas", strings.Replace(config(""), `"gasLimit":20000000`, `"gasLimit":0`, 1), `{}`, "gasLimit cannot be less than or equal to 0"},
		{"costs crossed", strings.Replace(config(""), `"minBlockGasCost":0`, `"minBlockGasCost":2000000`, 1), `{}`, "minBlockGasCost cannot be greater"},
		{"two roles", config(`,"feeManagerConfig":{"blockTimestamp":0,"adminAddresses":[` + one + `],"enabledAddresses":[` + one + `]}`), `{}`, "more than one role"},
		{"empty mint", config(`,"contractNativeMinterConfig":{"blockTimestamp":0,"initialMint":{` + one + `:"0x0"}}`), `{}`, "invalid amount"},
		{"not supported", config(`,"rewardManagerConfig":{"blockTimestamp":0}`), `{}`, "config.rewardManagerConfig: this contract is not supported"},
		{"quorum too high", config(`,"warpConfig":{"blockTimestamp":0,"quorumNumerator":101}`), `{}`, "cannot specify numerator (101) > denominator (100)"},
		{"quorum too low", config(`,"warpConfig":{"blockTimestamp":0,"quorumNumerator":32}`), `{}`, "cannot specify numerator (32) < min numerator (33)"},
		{"off when off", config(""), off("6"), "turns off a contract that is off"},
		{"on when on", config("," + minterOn), `{"precompileUpgrades":[{` + strings.Replace(minterOn, "5", "7", 1) + `}]}`, "or on one that is on"},
		{"at the same time", config("," + minterOn), off("5"), "is not after"},
		{"no time", config("," + minterOn), `{"precompileUpgrades":[{"contractNativeMinterConfig":{"disable":true}}]}`, "has no blockTimestamp"},
		{"unknown", config(""), `{"precompileUpgrades":[{"nopeConfig":{"blockTimestamp":1}}]}`, "unknown precompile config: nopeConfig"},
		{"two in one", config(""), `{"precompileUpgrades":[{` + minterOn + `,"feeManagerConfig":{"blockTimestamp":5}}]}`, "exactly one contract"},
		{"backwards", config("," + minterOn), `{"precompileUpgrades":[{"feeManagerConfig":{"blockTimestamp":9}},{"contractNativeMinterConfig":{"blockTimestamp":8,"disable":true}}]}`, "is before the one before it"},
		{"another kind of upgrade", config(""), `{"stateUpgrades":[]}`, "unknown field"},
	} {
		if _, err := parse(c.config, c.upgrades); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestContractsComeAndGo(t *testing.T) {
	s, err := parse("{"+someFees+","+minterOn+"}", `{"precompileUpgrades":[{"contractNativeMinterConfig":{"blockTimestamp":10,"disable":true}},{"contractNativeMinterConfig":{"blockTimestamp":20}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	for at, on := range map[uint64]bool{0: false, 4: false, 5: true, 9: true, 10: false, 19: false, 20: true, 1 << 62: true} {
		if _, active := s.At(at)[precompile.NativeMinter.Key]; active != on || (len(s.Active(at)) == 1) != on {
			t.Errorf("at %d the minter is on: %t", at, active)
		}
	}
	if off := s.Disabled(9, 10); !off[precompile.NativeMinter.Address] || len(s.Disabled(10, 20)) != 0 {
		t.Errorf("turned off: %v", off)
	}
}
