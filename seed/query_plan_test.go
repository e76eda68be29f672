package seed_test

import (
	"context"
	"errors"
	"math"
	"regexp"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// TestReadsOfThePrimaryNetworkScanNothing makes reads of every kind and checks the database's query plans.
func TestReadsOfThePrimaryNetworkScanNothing(t *testing.T) {
	w := newWorld(t, "tiny", 1) // its own, because the statements of other tests' reads don't count
	t.Cleanup(func() { must(0, w.Close())(t) })
	must(primary.Restore(t.Context(), w.DB, 1))(t)
	s := shores(t, w)[0]
	ctx, db := t.Context(), w.DB
	block := must(db.PrimaryBlock(ctx, s.p, 1))(t)
	must(db.PrimaryBlockByHash(ctx, s.p, block.Hash))(t)
	must(db.PrimaryBlocks(ctx, s.p, 1, 9))(t)
	must(db.PrimaryTxs(ctx, block.ID))(t)
	u := must(db.UTXOByHash(ctx, s.x, s.unspent("alice", s.x)[0].Hash))(t)
	must(db.UTXO(ctx, u.ID))(t)
	must(db.UTXOsOfAddress(ctx, s.people["alice"], s.x, math.MaxInt64, 9))(t)
	s.touched("alice", s.x)
	asset := must(db.Assets(ctx, s.x))(t)[0]
	must(db.AssetByHash(ctx, s.x, asset.Hash))(t)
	staker := s.validator("completed")
	must(db.UTXOsOfTx(ctx, s.p, staker.Tx))(t)
	must(db.StakersOfSubnet(ctx, s.p, staker.Subnet))(t)
	must(db.StakedAt(ctx, s.p, staker.Subnet, 1))(t)
	must(db.StakersOf(ctx, s.p, s.people["delegator"], true))(t)
	must(db.Node(ctx, 1, staker.Node))(t)
	subnet := must(db.Subnets(ctx, s.p))(t)[0]
	must(db.Subnet(ctx, s.p, subnet.Hash))(t)
	must(db.SubnetHistory(ctx, subnet.ID))(t)
	must(db.Blockchain(ctx, must(db.BlockchainsOfSubnet(ctx, subnet.Hash))(t)[0].Hash))(t)
	l1 := must(db.L1ValidatorsOfSubnet(ctx, subnet.Hash, math.MaxInt32))(t)[0]
	must(db.L1Validator(ctx, l1.Validation, math.MaxInt32))(t)
	must(db.L1ValidatorHistory(ctx, l1.ID))(t)
	must(db.AtomicBlocks(ctx, 1))(t)
	must(db.Unspent(ctx, s.people["alice"], s.x, [2]int{s.p, s.p + 2}))(t)
	must(db.StakersOf(ctx, s.p, s.people["alice"], false))(t)
	must(db.NativeCount(ctx, 1, s.people["alice"]))(t)
	must(db.HoldingHistory(ctx, s.people["alice"], store.AssetKey{0}, store.AssetKey{255}, 9))(t)
	must(db.GoneAccounts(ctx, 1))(t)
	must(store.InHalves(ctx, func(ctx context.Context, half store.AddressHalf) ([][]byte, error) {
		skip := func(*store.AccountBalance) {}
		if err := errors.Join(db.EachBalance(ctx, 1, half, 1, 2, skip), db.EachBalanceBefore(ctx, 1, half, 2, skip)); err != nil {
			return nil, err
		}
		return db.ModifiedAccounts(ctx, 1, half, 1, 2)
	}))(t)
	recursion := regexp.MustCompile(`^SCAN (CONSTANT ROW|found)$`) // the steps of a WITH found
	few := regexp.MustCompile(`FROM (chain|persona|primary_network)\b`)
	for _, text := range db.Statements() {
		for _, step := range must(db.Explain(ctx, text))(t) {
			if regexp.MustCompile(`^SCAN |TEMP B-TREE`).MatchString(step) && !few.MatchString(text) && !recursion.MatchString(step) {
				t.Errorf("%s in %s", step, text)
			}
		}
	}
}

// TestNativeTransactionsAreCountedAsTheyAreListed, also for accounts that send to themselves, whose nonce a client changed, or that move value to the
// P- and X-Chain.
func TestNativeTransactionsAreCountedAsTheyAreListed(t *testing.T) {
	path := smallFile(t)
	w := must(sim.Open(t.Context(), path))(t)
	defer w.Close()
	deployer := must(w.DB.Personas(t.Context()))(t)[3]
	if err := w.Miners[0].SetNonce(t.Context(), common.BytesToAddress(deployer.Address), 1000, false); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Chains {
		for _, account := range must(w.DB.AccountsAt(t.Context(), c.Row.ID, store.MaxNumber))(t) {
			listed := must(w.DB.NativeHistoryIDs(t.Context(), account.Address, store.Last(c.Row.ID), store.First(c.Row.ID), math.MaxInt32))(t)
			if n := must(w.DB.NativeCount(t.Context(), c.Row.ID, account.Address))(t); n != int64(len(listed)) {
				t.Errorf("%x on chain %d has %d transactions, counted as %d", account.Address, c.Row.EVMID, len(listed), n)
			}
		}
	}
}
