package primary_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"snowglobe/fixtures"
	"snowglobe/seed"
	"snowglobe/seed/population"
	"snowglobe/seed/primary"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// profiles returns the profiles to test: only the smallest in a short run.
func profiles(t testing.TB) []string {
	if testing.Short() {
		t.Log("left out of a short run: profiles other than tiny")
		return []string{"tiny"}
	}
	return []string{"tiny", "default"}
}

// network is one network of a world, as a test sees it.
type network struct {
	*testing.T
	w       *sim.World
	rules   *rules.Network
	p, x, c int
	nodes   map[string]store.Node
	people  map[string][]byte // addresses on P and X
}

func networksOf(t *testing.T, w *sim.World) []*network {
	var all []*network
	for i, networkRules := range []*rules.Network{rules.Mainnet, rules.Fuji} {
		s := &network{T: t, w: w, rules: networkRules, p: store.PrimaryChain(i, store.PChain), x: store.PrimaryChain(i, store.XChain),
			c: store.PrimaryChain(i, store.CChain), nodes: map[string]store.Node{}, people: map[string][]byte{}}
		nodes := must(w.DB.Nodes(t.Context(), networkRules.NetworkID))(t)
		for _, n := range nodes {
			s.nodes[n.Role] = n
		}
		for _, p := range must(w.DB.Personas(t.Context()))(t) {
			if len(p.Key) == 0 { // nobody here has it
				continue
			}
			key := must(txs.KeyFromBytes(p.Key))(t)
			address := key.Address()
			s.people[p.Name] = address[:]
		}
		all = append(all, s)
	}
	return all
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (s *network) check(ok bool, what string, args ...any) {
	s.Helper()
	if !ok {
		s.Errorf("%s: "+what, append([]any{s.rules.HRP}, args...)...)
	}
}

// TestEveryTypeOfTransactionOccurs on both networks of the smallest world.
func TestEveryTypeOfTransactionOccurs(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	for _, s := range networksOf(t, w) {
		for chain, kinds := range map[int][]string{
			s.p: {"BaseTx", "ImportTx", "ExportTx", "AddValidatorTx", "AddDelegatorTx", "AddPermissionlessValidatorTx", "AddPermissionlessDelegatorTx",
				"RewardValidatorTx", "CreateSubnetTx", "CreateChainTx", "AddSubnetValidatorTx", "RemoveSubnetValidatorTx", "TransferSubnetOwnershipTx",
				"AddAutoRenewedValidatorTx", "SetAutoRenewedValidatorConfigTx", "RewardAutoRenewedValidatorTx", "ConvertSubnetToL1Tx", "RegisterL1ValidatorTx", "SetL1ValidatorWeightTx", "IncreaseL1ValidatorBalanceTx", "DisableL1ValidatorTx"},
			s.x: {"BaseTx", "CreateAssetTx", "OperationTx", "ImportTx", "ExportTx"},
			s.c: {"ImportTx", "ExportTx"},
		} {
			first := uint64(0)
			if chain == s.x {
				first = 1
			}
			found, err := w.DB.FirstPrimaryTxs(t.Context(), chain, first)
			for _, kind := range kinds {
				there := slices.ContainsFunc(found, func(tx store.PrimaryTx) bool { return tx.Type == kind })
				s.check(err == nil && there, "chain %d has no %s: %v", chain, kind, err)
			}
		}
	}
}

// TestPrimaryPersonas finds every promised situation on P and X of both networks.
func TestPrimaryPersonas(t *testing.T) {
	for _, profile := range profiles(t) {
		w := seedtest.Shared(t, profile, 1)
		for _, s := range networksOf(t, w) {
			s.check(len(s.unspent("hoarder", s.x)) > 1024, "hoarder has %d UTXOs", len(s.unspent("hoarder", s.x)))
			for _, chain := range []int{s.p, s.x} {
				s.check(len(s.touched("alice", chain)) >= 8, "alice has %d transactions on %d", len(s.touched("alice", chain)), chain)
				s.check(len(s.touched("bob", chain)) > 0 && len(s.touched("ewoq", chain))+len(s.unspent("ewoq", chain)) > 0, "bob or ewoq missing on %d", chain)
				s.check(len(s.touched("nobody", chain))+len(s.all("nobody", chain)) == 0, "nobody was seen on %d", chain)
				s.committee(chain)
				s.locked(chain)
			}
			s.check(len(s.touched("fresh", s.x)) == 1 && len(s.unspent("fresh", s.x)) > 0, "fresh was not funded, or did something")
			for _, chain := range []int{s.p, s.x, s.c} {
				s.check(len(s.touched("traveller", chain)) >= 2, "traveller did not touch chain %d", chain)
			}
			s.stakes("staker", false)
			s.stakes("delegator", true)
			for i := range fixtures.MnemonicAccounts {
				who := fmt.Sprintf("wallet-%d", i)
				s.check(len(s.unspent(who, s.p)) > 0 && len(s.unspent(who, s.x)) > 0, "%s has nothing on P or X", who)
			}
			s.properties()
			s.badges()
		}
	}
}

// properties checks that only the proprietor has outputs of the property fx, because other owners' wallets may want to read theirs.
func (s *network) properties() {
	for who := range s.people {
		owned := 0
		for _, row := range s.all(who, s.x) {
			switch must(txs.ParseUTXO(txs.XChain, row.Bytes()))(s).Out.(type) {
			case *txs.PropertyMintOutput, *txs.PropertyOwnedOutput:
				owned++
			}
		}
		s.check((owned > 0) == (who == "proprietor"), "%s has %d outputs of the property fx", who, owned)
	}
}

// badges checks that the collector's NFTs contain their own descriptions, without a server.
func (s *network) badges() {
	found := 0
	for _, row := range s.all("collector", s.x) {
		if nft, ok := must(txs.ParseUTXO(txs.XChain, row.Bytes()))(s).Out.(*txs.NFTTransferOutput); ok {
			document, isData := strings.CutPrefix(string(nft.Payload), "data:application/json;base64,")
			raw, err := base64.StdEncoding.DecodeString(document)
			s.check(isData && err == nil && json.Valid(raw), "an NFT's payload is %s", nft.Payload)
			found++
		}
	}
	s.check(found > 0, "the collector has no NFT")
}

func (s *network) unspent(who string, chain int) []store.UTXO {
	return must(s.w.DB.UnspentUTXOs(s.Context(), s.people[who], chain, chain, math.MaxInt64, 10_000))(s)
}

func (s *network) all(who string, chain int) []store.UTXO {
	return must(s.w.DB.UTXOsOfAddress(s.Context(), s.people[who], chain, math.MaxInt64, 10_000))(s)
}

func (s *network) touched(who string, chain int) []store.Position {
	return must(s.w.DB.ActivityOf(s.Context(), chain, s.people[who], math.MaxInt64, 10_000))(s)
}

// committee expects an output of two of three owners that was spent with two signatures, and an unspent one.
func (s *network) committee(chain int) {
	signed := false
	for _, u := range s.all("committee", chain) {
		if u.Spent == nil {
			continue
		}
		row := must(s.w.DB.PrimaryTx(s.Context(), *u.Spent))(s)
		tx := must(txs.ParseTx(txs.Chain((chain-1)%3), row.Bytes))(s)
		signed = signed || len(tx.Signatures(0)) == 2
	}
	s.check(signed && len(s.unspent("committee", chain)) > 0, "the committee has signed nothing, or has nothing, on %d", chain)
}

func (s *network) locked(chain int) {
	later := 0
	for _, row := range s.unspent("locked", chain) {
		u := must(txs.ParseUTXO(txs.Chain((chain-1)%3), row.Bytes()))(s)
		if u.Owners().Locktime > uint64(seed.DefaultUntil.Unix()) || u.StakeableUntil() > uint64(seed.DefaultUntil.Unix()) {
			later++
		}
	}
	s.check(later >= 3, "locked has %d outputs for later on %d", later, chain)
}

// stakes expects a persona's stakes: a finished one with its reward, and an active one.
func (s *network) stakes(who string, delegator bool) {
	rewarded, going := 0, 0
	for _, row := range must(s.w.DB.StakersOf(s.Context(), s.p, s.people[who], true))(s) {
		switch {
		case row.Delegator != delegator:
		case row.Status == store.StakerActive:
			going++
		case row.Rewarded:
			rewarded++
		}
	}
	s.check(rewarded > 0 && going > 0, "%s has %d rewarded and %d current positions", who, rewarded, going)
	paid := false
	for _, u := range s.all(who, s.p) {
		paid = paid || u.Reward
	}
	s.check(paid, "%s was paid no reward", who)
}

// TestNodesWithARole finds each situation of a validator at the end of history.
func TestNodesWithARole(t *testing.T) {
	for _, profile := range profiles(t) {
		w := seedtest.Shared(t, profile, 1)
		for _, s := range networksOf(t, w) {
			until := seed.DefaultUntil.Unix()
			s.check(s.validator("pending").Status == store.StakerPending && s.validator("pending").Start > until, "pending is not")
			s.check(s.validator("active").Status == store.StakerActive, "active is not")
			s.check(s.validator("completed").Rewarded && s.validator("completed").RewardTx != nil, "completed was not rewarded")
			refused := s.validator("refused")
			s.check(refused.Status == store.StakerCompleted && !refused.Rewarded, "refused was rewarded")
			expiring := s.validator("expiring")
			s.check(expiring.Status == store.StakerActive && expiring.End-until < 3600, "expiring does not expire")
			s.check(s.nodes["low-uptime"].Uptime < s.rules.StakingAt(uint64(s.validator("low-uptime").Start)).UptimeRequirement, "low-uptime is well")
			s.check(s.removed(), "nobody was removed")
			s.delegations()
			s.l1Roles(uint64(until))
		}
	}
}

func (s *network) validator(role string) store.Staker {
	rows := must(s.w.DB.StakersOfNode(s.Context(), s.p, s.nodes[role].Node))(s)
	if len(rows) == 0 {
		s.Fatalf("no node is %s", role)
	}
	return rows[0]
}

func (s *network) removed() bool {
	for _, row := range must(s.w.DB.StakersOfNode(s.Context(), s.p, s.nodes["removed"].Node))(s) {
		if row.Status == store.StakerRemoved {
			return true
		}
	}
	return false
}

func (s *network) delegations() {
	active := func(role string) (n int, weight uint64) {
		for _, row := range must(s.w.DB.StakersOfNode(s.Context(), s.p, s.nodes[role].Node))(s) {
			if row.Delegator && row.Status == store.StakerActive {
				n, weight = n+1, weight+uint64(row.Weight)
			}
		}
		return n, weight
	}
	n, _ := active("popular")
	s.check(n >= 25, "popular has %d delegations", n)
	own := uint64(s.validator("full").Weight)
	_, weight := active("full")
	s.check(own+weight == s.rules.BaseStaking.MaxWeight(own), "full has room: %d and %d", own, weight)
}

func (s *network) l1Roles(until uint64) {
	head := must(s.w.DB.PrimaryHead(s.Context(), s.p))(s)
	lasts := func(role string) (store.L1ValidatorView, uint64) {
		rows := must(s.w.DB.L1ValidatorsOfNode(s.Context(), s.nodes[role].Node, head.ID.Number()))(s)
		if len(rows) != 1 {
			s.Fatalf("%d L1 validators are %s", len(rows), role)
		}
		if rows[0].EndAccumulatedFee == 0 {
			return rows[0], 0
		}
		return rows[0], uint64(rows[0].EndAccumulatedFee-head.AccruedFees)/primary.SecondPrice + uint64(head.Time) - until
	}
	_, seconds := lasts("l1-active")
	s.check(seconds > population.Day, "l1-active lasts %d s", seconds)
	_, seconds = lasts("l1-about-to-run-out")
	s.check(seconds > 0 && seconds < population.Hour, "l1-about-to-run-out lasts %d s", seconds)
	for _, role := range []string{"l1-out-of-balance", "l1-disabled"} {
		row, _ := lasts(role)
		s.check(row.EndAccumulatedFee == 0 && row.Weight > 0, "%s is active or gone", role)
	}
	row, _ := lasts("l1-removed")
	s.check(row.Weight == 0, "l1-removed is there")
}

// TestChainsOfL1sAreTransactions: an L1's ids are those of the transactions that created it, which contain its genesis.
func TestChainsOfL1sAreTransactions(t *testing.T) {
	for _, profile := range profiles(t) {
		checkL1s(t, seedtest.Shared(t, profile, 1))
	}
}

func checkL1s(t *testing.T, w *sim.World) {
	t.Helper()
	l1s := 0
	for _, c := range w.Chains {
		if c.Kind == "C" {
			continue
		}
		l1s++
		networkRules := rules.Mainnet
		if c.Row.Network == "fuji" {
			networkRules = rules.Fuji
		}
		row := must(w.DB.PrimaryTxByHash(t.Context(), store.PrimaryChain(rules.Index(networkRules.NetworkID), store.PChain), c.Row.BlockchainID))(t)
		tx := must(txs.ParseTx(txs.PChain, row.Bytes))(t)
		made, ok := tx.Unsigned.(*txs.CreateChainTx)
		if !ok || string(made.SubnetID[:]) != string(c.Row.SubnetID) || string(made.GenesisData) != string(c.Row.Genesis) {
			t.Errorf("chain %d was not made by its transaction", c.Row.EVMID)
		}
	}
	if l1s == 0 {
		t.Error("there is no L1")
	}
}

// TestProfileMakesExactlyItsPrimaryTransactions counts P and X of both networks.
func TestProfileMakesExactlyItsPrimaryTransactions(t *testing.T) {
	of := map[string]int64{"tiny": 300, "default": 4_000}
	for _, profile := range profiles(t) {
		w, total, want := seedtest.Shared(t, profile, 3), int64(0), of[profile]
		for _, s := range networksOf(t, w) {
			total += must(w.DB.PrimaryHead(t.Context(), s.p))(t).AllTxs + must(w.DB.PrimaryHead(t.Context(), s.x))(t).AllTxs
		}
		if total != want {
			t.Errorf("%s has %d transactions on P and X, not %d", profile, total, want)
		}
	}
}

// TestStakersOutputsAreFoundWithTheirRewards: the returned stake and the reward count as outputs of the staking transaction.
func TestStakersOutputsAreFoundWithTheirRewards(t *testing.T) {
	for _, s := range networksOf(t, seedtest.Shared(t, "tiny", 1)) {
		rewards, stake := uint64(0), uint64(0)
		staker := s.validator("completed")
		for _, u := range must(s.w.DB.UTXOsOfTx(t.Context(), s.p, staker.Tx))(t) {
			if u.Reward {
				rewards += uint64(u.Amount)
			} else {
				stake += uint64(u.Amount)
			}
		}
		s.check(stake == uint64(staker.Weight), "%d returned of a stake of %d", stake, staker.Weight)
		s.check(rewards == uint64(staker.PotentialReward+staker.DelegateeReward), "%d paid, %d and %d earned", rewards, staker.PotentialReward, staker.DelegateeReward)
	}
}

// TestTheSmallestHistoryIsTheCommittedOne compares the digest of the smallest world with the committed one: whatever else is drawn or planned for
// its networks changes it.
func TestTheSmallestHistoryIsTheCommittedOne(t *testing.T) {
	committed := string(must(os.ReadFile("../../testdata/digests.txt"))(t))
	if digest := fmt.Sprintf("tiny %x\n", seedtest.Shared(t, "tiny", 1).Meta.Digest); !strings.Contains(committed, digest) {
		t.Errorf("the digest is %sbut committed are\n%s", digest, committed)
	}
}
