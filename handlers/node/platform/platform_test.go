package platform_test

import (
	"bytes"
	"cmp"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	_ "modernc.org/sqlite"

	"snowglobe/handlers/node/platform"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/query"
	"snowglobe/sim/rules"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

type Object = rpctest.Object

// node serves the P-Chain's methods.
type node struct {
	*rpctest.Client
	network *sim.Network
}

func serve(t testing.TB, n *sim.Network) *node {
	t.Helper()
	return &node{rpctest.New(t, rpc.Service{Name: "platform", Methods: platform.New(n, query.NewStakerIndexes())}), n}
}

// onEach runs a test on both networks, which it only reads.
func onEach(t *testing.T, test func(t testing.TB, n *node)) {
	for _, network := range seedtest.Shared(t, "tiny", 1).Networks {
		t.Run(network.Name, func(t *testing.T) { test(t, serve(t, network)) })
	}
}

// overTime runs a test on both networks at several times of the clock: seconds before stakes begin and end, L1 validators can no longer pay and
// outputs unlock, and at that time.
func overTime(t *testing.T, test func(t testing.TB, n *node)) {
	w := seedtest.Copy(t, 1)
	begin := w.Clock.Unix()
	nodes := []*node{serve(t, w.Networks[0]), serve(t, w.Networks[1])}
	for _, after := range []int64{0, 2099, 2100, 2399, 2400, 77_376, 172_799, 172_800, 259_199, 259_200, 1_296_000, 2_591_999, 2_592_000, 3_888_000, 15_551_999, 15_552_000} {
		if err := w.Advance(t.Context(), time.Unix(begin+after, 0)); err != nil {
			t.Fatal(err)
		}
		for _, n := range nodes {
			if test(t, n); t.Failed() {
				t.Fatalf("on %s, %d s after the end of the history", n.network.Name, after)
			}
		}
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// num is a number as the service writes it.
func num[N ~int | ~int64 | ~uint32 | ~uint64](n N) string { return strconv.FormatUint(uint64(n), 10) }

// bytesText is bytes as the service writes them.
func bytesText(raw []byte) string { return fmt.Sprintf("0x%x", raw) }

func (n *node) chain() int { return n.network.Chain(txs.PChain) }
func (n *node) now() int64 { return n.network.Clock.Unix() }

func (n *node) head() *store.PrimaryBlock {
	n.Helper()
	return must[*store.PrimaryBlock](n)(n.network.DB.PrimaryHead(n.Context(), n.chain()))
}

func (n *node) height() uint64 { n.Helper(); return n.head().ID.Number() }

// transactions reads every transaction of the chain, oldest first.
func (n *node) transactions() (all []*txs.Tx) {
	n.Helper()
	for _, row := range must[[]store.PrimaryTx](n)(n.network.DB.PrimaryTxsBetween(n.Context(), store.First(n.chain()), store.Last(n.chain()))) {
		all = append(all, must[*txs.Tx](n)(txs.ParseTx(txs.PChain, row.Bytes)))
	}
	return all
}

func (n *node) address(owner ids.ShortID) string { return n.network.Rules.Address(txs.PChain, owner) }

func (n *node) addresses(of []ids.ShortID) []string {
	all := make([]string, len(of))
	for i := range of {
		all[i] = n.address(of[i])
	}
	return all
}

func (n *node) owner(o *txs.OutputOwners) Object {
	return Object{"locktime": num(o.Locktime), "threshold": num(o.Threshold), "addresses": n.addresses(o.Addresses)}
}

// state runs a function on the state by which the chain judges its next block.
func (n *node) state(read func(s *primary.Network)) {
	n.Helper()
	if err := n.network.IssueNext(n.Context(), txs.PChain, func(s *primary.Network, _ uint64) (*txs.Tx, error) {
		read(s)
		return nil, nil
	}); err != nil {
		n.Fatal(err)
	}
}

// TestChain: the chain's height, time, supply and fees are those after its last block, and of the state that makes the next.
func TestChain(t *testing.T) {
	overTime(t, func(t testing.TB, n *node) {
		head := n.head()
		height := Object{"height": num(head.ID.Number())}
		n.Want(height, "platform.getHeight", nil)
		n.Want(height, "platform.getProposedHeight", Object{})
		at := time.Unix(head.Time, 0).UTC().Format(time.RFC3339)
		n.Want(Object{"timestamp": at}, "platform.getTimestamp", Object{})
		var supply, excess uint64
		var fees rules.FeeState
		n.state(func(s *primary.Network) {
			supply, fees = s.P.Supply(), s.P.Fees()
			excess, _ = s.P.ValidatorFees()
			if s.P.Height() != head.ID.Number() || int64(s.P.Time()) != head.Time {
				t.Fatalf("the state is at height %d, the last block is %d", s.P.Height(), head.ID.Number())
			}
		})
		n.Want(Object{"supply": num(supply), "height": num(head.ID.Number())}, "platform.getCurrentSupply", Object{})
		n.Want(Object{"capacity": fees.Capacity, "excess": fees.Excess, "price": max(1, rules.Exponential(1, fees.Excess, 2_164_043)), "timestamp": at}, "platform.getFeeState", Object{})
		n.Want(Object{"excess": excess, "price": n.network.Rules.ValidatorFees.Price(excess), "timestamp": at}, "platform.getValidatorFeeState", Object{})
	})
}

// TestConstants has the public networks' numbers, and avalanchego's words for subnets that have none.
func TestConstants(t *testing.T) {
	onEach(t, func(t testing.TB, n *node) {
		conversion, validator, delegator := 1_246_488_515, "2000000000000", "25000000000"
		if n.network.Name == "fuji" {
			conversion, validator, delegator = 51_937_021, "1000000000", "1000000000"
		}
		n.Want(Object{"weights": []int{1, 1000, 1000, 4}, "maxCapacity": 1_000_000, "maxPerSecond": 100_000, "targetPerSecond": 50_000, "minPrice": 1, "excessConversionConstant": 2_164_043}, "platform.getFeeConfig", Object{})
		n.Want(Object{"capacity": 20_000, "target": 10_000, "minPrice": 512, "excessConversionConstant": conversion}, "platform.getValidatorFeeConfig", Object{})
		n.Want(Object{"assetID": n.network.Rules.AVAXAssetID}, "platform.getStakingAssetID", Object{})
		n.Want(Object{"minValidatorStake": validator, "minDelegatorStake": delegator}, "platform.getMinStake", Object{"subnetID": ids.Empty})
		other := ids.ID{1}
		for _, method := range []string{"platform.getStakingAssetID", "platform.getMinStake"} {
			n.Refuses("failed fetching subnet transformation for "+other.String()+": not found", method, Object{"subnetID": other})
		}
		n.Refuses("fetching current supply failed: not found", "platform.getCurrentSupply", Object{"subnetID": other})
	})
}

// TestTransactions finds every transaction with its status: a reward that the block after its own refuses is aborted.
func TestTransactions(t *testing.T) {
	statuses := map[string]int{}
	onEach(t, func(t testing.TB, n *node) {
		blocks := must[[]store.PrimaryBlock](t)(n.network.DB.PrimaryBlocks(t.Context(), n.chain(), 0, n.height()))
		for i, b := range blocks {
			for _, row := range must[[]store.PrimaryTx](t)(n.network.DB.PrimaryTxs(t.Context(), b.ID)) {
				id, status := ids.ID(row.Hash), "Committed"
				if b.Type == "Proposal" && blocks[i+1].Type == "Abort" {
					status = "Aborted"
				}
				statuses[status]++
				n.Want(Object{"status": status}, "platform.getTxStatus", Object{"txID": id})
				n.Want(Object{"tx": bytesText(row.Bytes), "encoding": "hexnc"}, "platform.getTx", Object{"txID": id, "encoding": "hexnc"})
			}
		}
		for _, none := range []any{nil, ids.Empty, ids.ID{1}} {
			n.Refuses("couldn't get tx: not found", "platform.getTx", Object{"txID": none})
			n.Want(Object{"status": "Unknown"}, "platform.getTxStatus", Object{"txID": none})
		}
		for _, malformed := range []any{"", "0OIl", 7} {
			n.Refuses(rpctest.Malformed, "platform.getTx", Object{"txID": malformed})
			n.Refuses(rpctest.Malformed, "platform.getTxStatus", Object{"txID": malformed})
		}
	})
	if statuses["Committed"] < 100 || statuses["Aborted"] == 0 {
		t.Errorf("the worlds have %v", statuses)
	}
}

// inFile copies the world to a file that the test may change.
func inFile(t *testing.T) (*sim.World, *sql.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "world.db")
	w := must[*sim.World](t)(seedtest.Shared(t, "tiny", 1).CopyTo(t.Context(), path, store.Limits{}))
	db := must[*sql.DB](t)(sql.Open("sqlite", path))
	t.Cleanup(func() { db.Close(); w.Close() })
	return w, db
}

// TestProposal: a reward that the chain's last block proposes is neither committed nor aborted yet.
func TestProposal(t *testing.T) {
	w, db := inFile(t)
	n := serve(t, w.Networks[0])
	blocks := must[[]store.PrimaryBlock](t)(w.DB.PrimaryBlocks(t.Context(), n.chain(), 0, n.height()))
	at := slices.IndexFunc(blocks, func(b store.PrimaryBlock) bool { return b.Type == "Proposal" })
	proposed := Object{"txID": ids.ID(must[[]store.PrimaryTx](t)(w.DB.PrimaryTxs(t.Context(), blocks[at].ID))[0].Hash)}
	if _, err := db.Exec("DELETE FROM primary_block WHERE id = ?", blocks[at+1].ID); err != nil {
		t.Fatal(err)
	}
	n.Want(Object{"status": "Processing"}, "platform.getTxStatus", proposed)
}

// hexnc is a transaction as a client sends it.
func hexnc(raw []byte) Object { return Object{"tx": bytesText(raw), "encoding": "hexnc"} }

// TestIssueTx: a transaction is committed in the next block. One that the chain refuses is dropped, for a reason.
func TestIssueTx(t *testing.T) {
	n := serve(t, seedtest.Copy(t, 1).Networks[0])
	height, tx := n.height(), simtest.Payment(t, n.network, txs.PChain)
	n.Want(Object{"status": "Unknown"}, "platform.getTxStatus", Object{"txID": tx.ID()})
	n.Want(Object{"txID": tx.ID()}, "platform.issueTx", hexnc(tx.Bytes()))
	n.Want(Object{"status": "Committed"}, "platform.getTxStatus", Object{"txID": tx.ID()})
	if n.height() != height+1 {
		t.Errorf("the height is %d, was %d", n.height(), height)
	}
	base := *simtest.Payment(t, n.network, txs.PChain).Unsigned.Base()
	base.NetworkID++
	key := must[*txs.Key](t)(txs.KeyFromBytes(simtest.PersonaKey(t, n.network, "alice")))
	wrong := must[*txs.Tx](t)(txs.NewSigned(txs.PChain, &base, []*txs.Key{key}))
	reason := fmt.Sprintf("failed execution: standard tx %s failed execution: metadata failed verification: tx has wrong network ID", wrong.ID())
	n.Refuses("couldn't issue tx: failed verification: "+reason, "platform.issueTx", hexnc(wrong.Bytes()))
	n.Want(Object{"status": "Dropped", "reason": reason}, "platform.getTxStatus", Object{"txID": wrong.ID()})
	n.Refuses("couldn't parse tx: couldn't parse tx: couldn't unpack codec version", "platform.issueTx", Object{})
	n.Refuses("couldn't parse tx: couldn't parse tx: couldn't unmarshal interface: unknown type ID 4294967295", "platform.issueTx", Object{"tx": "0x0000ffffffff", "encoding": "hexnc"})
	n.Refuses("problem decoding transaction: missing 0x prefix to hex encoding", "platform.issueTx", Object{"tx": "zz"})
	n.Refuses(rpctest.Malformed, "platform.issueTx", Object{"tx": 7})
	if n.height() != height+1 {
		t.Error("a refused transaction made a block")
	}
}

// TestFailures: when a read of the file fails, so does the call; no part of an answer is made up.
func TestFailures(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := serve(t, w.Networks[0])
	subnets := must[[]store.SubnetView](t)(w.DB.Subnets(t.Context(), n.chain()))
	chains := must[[]store.Blockchain](t)(w.DB.Blockchains(t.Context(), n.chain()))
	l1 := must[[]store.L1ValidatorView](t)(w.DB.L1Validators(t.Context(), n.chain(), n.height()))[0]
	rewards := must[[]store.PrimaryTx](t)(w.DB.PrimaryTxsOfType(t.Context(), n.chain(), "RewardValidatorTx"))
	stakers := must[[]store.Staker](t)(w.DB.Stakers(t.Context(), n.chain()))
	active := stakers[slices.IndexFunc(stakers, func(s store.Staker) bool { return s.Status == store.StakerActive })]
	staked := must[*txs.Tx](t)(txs.ParseTx(txs.PChain, must[*store.PrimaryTx](t)(w.DB.PrimaryTxByHash(t.Context(), n.chain(), active.Tx)).Bytes))
	owner := n.address(n.stakeOwner(staked))
	subnet, chain := ids.ID(subnets[0].Hash), ids.ID(chains[len(chains)-1].Hash)
	var local string
	for _, c := range chains {
		if _, known := n.network.Aliases.Lookup(ids.ID(c.Hash).String()); known {
			local = ids.ID(c.Hash).String()
		}
	}
	for _, c := range []struct {
		method string
		args   Object
	}{
		{"getHeight", nil}, {"getProposedHeight", nil}, {"getTimestamp", nil}, {"getFeeState", nil}, {"getValidatorFeeState", nil}, {"getCurrentSupply", nil},
		{"getTx", Object{"txID": ids.ID(rewards[0].Hash)}}, {"getTxStatus", Object{"txID": ids.ID(rewards[0].Hash)}},
		{"getBalance", Object{"addresses": []string{owner}}}, {"getStake", Object{"addresses": []string{owner}}},
		{"getRewardUTXOs", Object{"txID": ids.ID(stakers[0].Tx)}},
		{"getBlockchains", nil}, {"getSubnets", nil}, {"getSubnets", Object{"ids": []ids.ID{subnet}}}, {"getSubnet", Object{"subnetID": subnet}},
		{"getBlockchainStatus", Object{"blockchainID": chain.String()}}, {"getBlockchainStatus", Object{"blockchainID": local}},
		{"validatedBy", Object{"blockchainID": chain}}, {"validates", Object{"subnetID": subnet}},
		{"getCurrentValidators", nil}, {"getCurrentValidators", Object{"subnetID": subnet}}, {"getCurrentValidators", Object{"nodeIDs": []ids.NodeID{ids.NodeID(active.Node)}}},
		{"getPendingValidators", nil}, {"getL1Validator", Object{"validationID": ids.ID(l1.Validation)}},
		{"getTotalStake", nil}, {"getValidatorsAt", Object{"height": 9}}, {"getAllValidatorsAt", Object{"height": "proposed"}}, {"sampleValidators", Object{"size": 3}},
	} {
		rpctest.FailEach(t, w.DB, func() error {
			_, err := serve(t, n.network).Ask("platform."+c.method, c.args)
			return err
		})
	}
}

// compareStakers orders stakers as a node's lists do.
func compareStakers(a, b store.Staker) int {
	delegators := map[bool]int{true: 0, false: 1}
	return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(delegators[a.Delegator], delegators[b.Delegator]), bytes.Compare(a.Tx, b.Tx))
}
