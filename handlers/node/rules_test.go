package node

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
)

// asker calls methods of one chain.
type asker struct {
	t   *testing.T
	url string
}

func (a *asker) ask(result any, method string, params ...any) {
	a.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		a.t.Fatal(err)
	}
	answer := send(a.t, "POST", a.url, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, raw))
	reply := struct{ Result any }{result}
	if err := json.Unmarshal([]byte(answer), &reply); err != nil || strings.Contains(answer, `"error":`) {
		a.t.Fatalf("%s %s: %s, %v", method, raw, answer, err)
	}
}

// read calls a contract without changing anything.
func (a *asker) read(contract common.Address, input []byte, block hexutil.Uint64) hexutil.Bytes {
	a.t.Helper()
	var answer hexutil.Bytes
	a.ask(&answer, "eth_call", map[string]any{"to": contract, "input": hexutil.Bytes(input)}, block)
	return answer
}

// TestContractsSayWhatTheNodeSays compares eth_feeConfig and the settings in force with the contracts' answers to eth_call, at every block of
// the seeded L1.
func TestContractsSayWhatTheNodeSays(t *testing.T) {
	w := seeded(t)
	url := serveSeeded(t, w, Options{})
	for _, c := range w.Chains {
		if c.Kind == evm.KindC {
			continue
		}
		a := &asker{t, url + "/ext/bc/" + ids.ID(c.Row.BlockchainID).String() + "/rpc"}
		var head hexutil.Uint64
		a.ask(&head, "eth_blockNumber")
		changes := map[int64]bool{}
		for block := hexutil.Uint64(0); block <= head; block++ {
			changes[a.compareFees(block)] = true
		}
		if len(changes) < 3 {
			t.Errorf("chain %d: the fee configuration changed in blocks %v", c.Row.EVMID, changes)
		}
		a.compareRoles()
	}
}

// compareFees checks in which block the fees last changed.
func (a *asker) compareFees(block hexutil.Uint64) int64 {
	a.t.Helper()
	var said struct {
		FeeConfig     precompile.FeeConfig
		LastChangedAt *big.Int
	}
	a.ask(&said, "eth_feeConfig", block)
	var want []byte
	for _, w := range said.FeeConfig.Words() {
		want = append(want, w[:]...)
	}
	if have := a.read(precompile.FeeManager.Address, precompile.PackInput("getFeeConfig()"), block); string(have) != string(want) {
		a.t.Errorf("block %d: the contract says %s, the node %+v", block, have, said.FeeConfig)
	}
	changed := new(big.Int).SetBytes(a.read(precompile.FeeManager.Address, precompile.PackInput("getFeeConfigLastChangedAt()"), block))
	if changed.Cmp(said.LastChangedAt) != 0 {
		a.t.Errorf("block %d: changed in block %d, the node says %d", block, changed, said.LastChangedAt)
	}
	return changed.Int64()
}

// compareRoles looks up the role at block 0 of every address in the genesis settings.
func (a *asker) compareRoles() {
	a.t.Helper()
	var genesis struct{ Timestamp hexutil.Uint64 }
	a.ask(&genesis, "eth_getBlockByNumber", "0x0", false)
	var settings precompile.Configs
	a.ask(&settings, "eth_getActivePrecompilesAt", uint64(genesis.Timestamp))
	for _, c := range []*precompile.Contract{precompile.DeployerAllowList, precompile.NativeMinter, precompile.FeeManager} {
		for role, holders := range map[precompile.Role][]common.Address{
			precompile.Admin: settings[c.Key].Admins, precompile.Manager: settings[c.Key].Managers,
			precompile.Enabled: settings[c.Key].Enabled, precompile.None: {{19: 1}},
		} {
			for _, holder := range holders {
				have := a.read(c.Address, precompile.PackInput("readAllowList(address)", common.BytesToHash(holder[:])), 0)
				if len(have) != 32 || precompile.Role(have[31]) != role {
					a.t.Errorf("%s: %s has role %s, want %s", c.Key, holder, have, role)
				}
			}
		}
		if len(settings[c.Key].Admins) == 0 {
			a.t.Errorf("%s has no admin", c.Key)
		}
	}
}
