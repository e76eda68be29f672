package seed_test

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TestL1sDiffer finds an L1 of each kind: plain, with lists and fee manager, and with an upgrade that disables a contract. The smallest world has
// only the L1 with the most contracts.
func TestL1sDiffer(t *testing.T) {
	for _, profile := range profiles(t) {
		kinds := map[string]bool{}
		for _, c := range world(t, profile, 1).Chains {
			s := c.Genesis.Precompiles
			if c.Kind == evm.KindC {
				if _, warp := s.Genesis[precompile.Warp.Key]; !warp || len(s.Genesis) > 1 || len(s.Upgrades) > 0 {
					t.Errorf("chain %d has other settings than the warp contract's", c.Row.EVMID)
				}
				continue
			}
			has := func(all ...*precompile.Contract) bool {
				return !slices.ContainsFunc(all, func(p *precompile.Contract) bool { _, named := s.Genesis[p.Key]; return !named })
			}
			kinds["plain"] = kinds["plain"] || len(s.Genesis) == 1 && has(precompile.Warp) && len(s.Upgrades) == 0
			kinds["permissioned"] = kinds["permissioned"] || has(precompile.DeployerAllowList, precompile.NativeMinter, precompile.FeeManager)
			kinds["upgraded"] = kinds["upgraded"] || len(s.Upgrades) > 0
		}
		if !kinds["permissioned"] || profile == "default" && !(kinds["plain"] && kinds["upgraded"]) {
			t.Errorf("%s: %v", profile, kinds)
		}
	}
}

// events counts a chain's events of a contract by their first topic.
func events(t *testing.T, w *sim.World, c *reader.Chain, contract *precompile.Contract) map[common.Hash]int {
	t.Helper()
	logs, err := w.DB.LogsBetween(context.Background(), store.First(c.Row.ID), store.Last(c.Row.ID), math.MaxInt32)
	if err != nil {
		t.Fatal(err)
	}
	found := map[common.Hash]int{}
	for _, log := range logs {
		if common.BytesToAddress(log.Address) == contract.Address {
			found[common.BytesToHash(log.Topic)]++
		}
	}
	return found
}

// TestBuiltInContractsAreUsed: coins are minted, roles granted and revoked, fees changed, and deployments without permission fail.
func TestBuiltInContractsAreUsed(t *testing.T) {
	minted, role := crypto.Keccak256Hash([]byte("NativeCoinMinted(address,address,uint256)")), crypto.Keccak256Hash([]byte("RoleSet(uint256,address,address,uint256)"))
	for _, profile := range profiles(t) {
		w := world(t, profile, 1)
		for _, c := range w.Chains {
			if _, named := c.Genesis.Precompiles.Genesis[precompile.NativeMinter.Key]; named {
				if n := events(t, w, c, precompile.NativeMinter); n[minted] == 0 || n[role] == 0 {
					t.Errorf("%s, chain %d: %v of the minter", profile, c.Row.EVMID, n)
				}
			}
			if _, named := c.Genesis.Precompiles.Genesis[precompile.DeployerAllowList.Key]; named {
				if n := events(t, w, c, precompile.DeployerAllowList); n[role] < 2 {
					t.Errorf("%s, chain %d: %v of the deployers", profile, c.Row.EVMID, n)
				}
				checkDeployments(t, w, c)
			}
			if _, named := c.Genesis.Precompiles.Genesis[precompile.FeeManager.Key]; named {
				checkFees(t, c)
			}
		}
	}
}

// checkDeployments finds failed deployments, and checks that every deployment by an account without a role failed.
func checkDeployments(t *testing.T, w *sim.World, c *reader.Chain) {
	t.Helper()
	txs, err := w.DB.TransactionsBetween(t.Context(), store.First(c.Row.ID), store.Last(c.Row.ID))
	if err != nil {
		t.Fatal(err)
	}
	var failed int
	for _, tx := range txs {
		if tx.Recipient != nil {
			continue
		}
		before, after := mayDeploy(t, c, tx.ID.Number()-1, tx.Sender), mayDeploy(t, c, tx.ID.Number(), tx.Sender)
		if before == after && before != (tx.Status == 1) {
			t.Errorf("chain %d: deployment %x by %x has status %d", c.Row.EVMID, tx.Hash, tx.Sender, tx.Status)
		}
		if tx.Status == 0 {
			failed++
		}
	}
	if failed == 0 {
		t.Errorf("chain %d: no deployment failed", c.Row.EVMID)
	}
}

// mayDeploy reports whether an account may create contracts after a block.
func mayDeploy(t *testing.T, c *reader.Chain, number uint64, who []byte) bool {
	t.Helper()
	b, err := c.Block(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	states, err := c.State(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return precompile.RoleOf(states, precompile.DeployerAllowList.Address, common.BytesToAddress(who)).Enabled()
}

// checkFees follows the fee configuration through the blocks: it changes, and no base fee is below its minimum.
func checkFees(t *testing.T, c *reader.Chain) {
	t.Helper()
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	changes := map[uint64]bool{}
	floor := c.Genesis.Precompiles.FeeConfig.MinBaseFee
	for number := uint64(1); number <= head.Number; number++ {
		b, err := c.Block(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		if b.Header.BaseFee.Cmp(floor) < 0 {
			t.Errorf("chain %d, block %d: base fee %d is below %d", c.Row.EVMID, number, b.Header.BaseFee, floor)
		}
		config, changed, err := c.FeeConfigAt(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if floor = config.MinBaseFee; changed.Sign() > 0 {
			changes[changed.Uint64()] = true
		}
		if changed.Cmp(new(big.Int).SetUint64(number)) > 0 {
			t.Errorf("chain %d, block %d: changed in block %d", c.Row.EVMID, number, changed)
		}
	}
	if len(changes) < 2 {
		t.Errorf("chain %d: the fee configuration changed in blocks %v", c.Row.EVMID, changes)
	}
}
