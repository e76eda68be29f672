package primary_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures/worldfile"
	"snowglobe/seed"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm"
	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

const avax = 1_000_000_000 // nAVAX

// made is a transaction with its row and the time of its block.
type made struct {
	*txs.Tx
	row  store.PrimaryTx
	kind txs.Chain
	time int64
}

// history returns every transaction of a network's chains after the genesis.
func (s *network) history() (all []made) {
	s.Helper()
	for _, kind := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		chain := map[txs.Chain]int{txs.PChain: s.p, txs.XChain: s.x, txs.CChain: s.c}[kind]
		for _, row := range must(s.w.DB.PrimaryTxsBetween(s.Context(), store.At(chain, 1, 0), store.Last(chain)))(s) {
			m := made{must(txs.ParseTx(kind, row.Bytes))(s), row, kind, 0}
			if kind == txs.CChain {
				m.time = must(s.w.DB.Block(s.Context(), s.w.NetworkNamed(s.name()).CChain().Row.ID, row.ID.Number()))(s).Time
			} else {
				m.time = must(s.w.DB.PrimaryTime(s.Context(), row.ID.Block()))(s)
			}
			all = append(all, m)
		}
	}
	return all
}

func (s *network) name() string {
	return map[string]string{"avax": "mainnet", "fuji": "fuji"}[s.rules.HRP]
}

func (s *network) address(who string) ids.ShortID { return ids.ShortID(s.people[who]) }

// owned reports whether a single owner may spend an output at once.
func owned(out *txs.TransferableOutput, who ids.ShortID) bool {
	o := out.Out.Owners()
	return len(o.Addresses) == 1 && o.Addresses[0] == who && o.Threshold == 1 && o.Locktime == 0
}

// TestTravellersGoEveryWay: the traveller's AVAX goes every way between the three chains, and some of it is still on its way at the end.
func TestTravellersGoEveryWay(t *testing.T) {
	for _, s := range networksOf(t, seedtest.Shared(t, "tiny", 1)) {
		ways, arrived, waiting := map[string]int{}, map[string]int{}, map[string]uint64{}
		name := func(kind txs.Chain, other ids.ID) string {
			to, _ := s.rules.ChainOf(other)
			return kind.String() + to.String()
		}
		for _, m := range s.history() {
			switch u := m.Unsigned.(type) {
			case *txs.ExportTx:
				if owned(u.ExportedOutputs[0], s.address("traveller")) {
					ways[name(m.kind, u.DestinationChain)]++
					waiting[name(m.kind, u.DestinationChain)] += txs.AmountOf(u.ExportedOutputs[0].Out)
				}
			case *txs.AtomicExportTx:
				if owned(u.ExportedOutputs[0], s.address("traveller")) {
					ways[name(m.kind, u.DestinationChain)]++
					waiting[name(m.kind, u.DestinationChain)] += txs.AmountOf(u.ExportedOutputs[0].Out)
				}
			}
			for _, c := range m.SpentOutputs() {
				if u := must(s.w.DB.UTXOByHash(t.Context(), chainOfInput(s, m), bytesOf(c.InputID())))(t); c.Imported && s.mine(u, "traveller") {
					from, _ := s.rules.ChainOf(sourceOf(m))
					way := from.String() + m.kind.String()
					arrived[way]++
					waiting[way] -= uint64(u.Amount)
				}
			}
		}
		for _, way := range []string{"XC", "PC", "CX", "CP", "XP", "PX"} {
			s.check(ways[way] >= 1 && arrived[way] >= 1, "the traveller went %d times %s, and arrived %d times", ways[way], way, arrived[way])
		}
		want := map[string]uint64{"PX": 7 * avax, "PC": 7 * avax, "CX": 5 * avax}
		for way, amount := range waiting {
			s.check(amount == want[way], "%d are on their way %s: want %d", amount, way, want[way])
		}
	}
}

func bytesOf(id ids.ID) []byte { return id[:] }

func sourceOf(m made) ids.ID {
	switch u := m.Unsigned.(type) {
	case *txs.ImportTx:
		return u.SourceChain
	case *txs.AtomicImportTx:
		return u.SourceChain
	}
	return ids.Empty
}

// chainOfInput returns the chain that made what a transaction spends: its own, or the source of an import.
func chainOfInput(s *network, m made) int {
	kind := m.kind
	switch m.Unsigned.(type) {
	case *txs.ImportTx, *txs.AtomicImportTx:
		kind, _ = s.rules.ChainOf(sourceOf(m))
	}
	return map[txs.Chain]int{txs.PChain: s.p, txs.XChain: s.x, txs.CChain: s.c}[kind]
}

func (s *network) mine(u *store.UTXO, who string) bool {
	o := must(txs.ParseUTXO(txs.PChain, u.Bytes()))(s).Owners()
	return len(o.Addresses) == 1 && o.Addresses[0] == s.address(who)
}

// TestPaymentsAreEveryday adds up what accounts pay each other: never more than ten AVAX at once to an account, and a persona's wallet stays an
// everyday one.
func TestPaymentsAreEveryday(t *testing.T) {
	for _, s := range networksOf(t, seedtest.Shared(t, "tiny", 1)) {
		people := map[ids.ShortID]string{}
		for name := range s.people {
			people[s.address(name)] = name
		}
		accounts, own, personas, committees, locked, small := 0, 0, 0, 0, 0, 0
		for _, m := range s.history() {
			u, ok := m.Unsigned.(*txs.BaseTx)
			if !ok {
				continue
			}
			spender := must(s.w.DB.UTXOByHash(t.Context(), map[txs.Chain]int{txs.PChain: s.p, txs.XChain: s.x}[m.kind], bytesOf(m.SpentOutputs()[0].InputID())))(t)
			from := must(txs.ParseUTXO(txs.PChain, spender.Bytes()))(t).Owners()
			for _, out := range u.Outs {
				o := out.Out.Owners()
				amount := txs.AmountOf(out.Out)
				switch {
				case out.AssetID != s.rules.AVAXAssetID:
				case o.Locktime > 0:
					s.check(o.Locktime > uint64(seed.DefaultUntil.Unix()) && o.Addresses[0] == s.address("locked") && amount == 25*avax, "locked until %d are %d", o.Locktime, amount)
					locked++
				case slices.Equal(o.Addresses, from.Addresses): // change
					own++
				case len(from.Addresses) == 3:
					s.check(o.Addresses[0] == s.address("bob") && (amount == 10*avax || amount == 11*avax) && len(m.Signatures(0)) == 2, "the committee pays %d", amount)
					committees++
				case people[o.Addresses[0]] == "hoarder":
					s.check(amount < avax && people[from.Addresses[0]] == "whale", "the hoarder gets %d", amount)
					small++
				case people[o.Addresses[0]] != "" || people[from.Addresses[0]] != "":
					s.check(amount <= 10*avax, "%s pays %s %d", people[from.Addresses[0]], people[o.Addresses[0]], amount)
					personas++
				default:
					s.check(amount <= 10*avax && amount >= avax/100, "an account pays %d", amount)
					accounts++
				}
			}
		}
		s.check(accounts > 20 && personas > 16 && own > 50 && committees == 4 && locked == 2 && small == 4*270, "%d payments, %d of personas, %d changes, %d of committees, %d locked, %d small ones",
			accounts, personas, own, committees, locked, small)
	}
}

// TestTheSupplyAddsUp: outputs, stakes and accounts of the genesis are its supply, about half of which is staked at the end.
func TestTheSupplyAddsUp(t *testing.T) {
	for _, profile := range profiles(t) {
		w := seedtest.Shared(t, profile, 1)
		rows := must(w.DB.PrimaryNetworks(t.Context()))(t)
		for i, s := range networksOf(t, w) {
			genesis := must(pchain.ParsePChainGenesis(rows[i].PChainGenesis))(t)
			sum := new(big.Int)
			add := func(n uint64) { sum.Add(sum, new(big.Int).SetUint64(n)) }
			for _, u := range genesis.UTXOs {
				add(u.Amount())
			}
			for _, u := range must(w.DB.UTXOsOfBlock(t.Context(), s.x, 0))(t) {
				add(uint64(u.Amount))
			}
			for _, tx := range genesis.Validators {
				add(must(pchain.NewStaker(tx, pchain.Active))(t).Weight)
			}
			c := w.NetworkNamed(s.name()).CChain()
			wei := new(big.Int)
			for _, account := range must(must(evm.ParseGenesis(c.Kind, c.Row.Genesis, c.Row.Upgrades))(t).Allocation())(t) {
				wei.Add(wei, account.Balance)
			}
			sum.Add(sum, wei.Div(wei, big.NewInt(avax)))
			have := new(big.Int).SetUint64(genesis.InitialSupply)
			s.check(new(big.Int).Sub(have, sum).CmpAbs(big.NewInt(avax)) < 0, "the supply is %s, and everybody has %s", have, sum)
			staked := uint64(0)
			for _, row := range must(w.DB.Stakers(t.Context(), s.p))(t) {
				if row.Status == store.StakerActive && ids.ID(row.Subnet) == ids.Empty && !row.Delegator {
					staked += uint64(row.Weight)
				}
			}
			if share := float64(staked) / float64(genesis.InitialSupply); share < 0.25 || share > 0.6 {
				s.check(false, "%f of the supply is staked", share)
			}
		}
	}
}

// TestProposersValidate: the proposer of every block validates the primary network at its time, and not always the same one proposes.
func TestProposersValidate(t *testing.T) {
	for _, s := range networksOf(t, seedtest.Shared(t, "tiny", 1)) {
		stakers := must(s.w.DB.Stakers(t.Context(), s.p))(t)
		for _, chain := range []int{s.p, s.x} {
			proposers, blocks := map[string]int{}, 0
			head := must(s.w.DB.PrimaryHead(t.Context(), chain))(t)
			for n := uint64(1); n <= head.ID.Number(); n++ {
				b := must(s.w.DB.PrimaryBlock(t.Context(), chain, n))(t)
				option := b.Type == "Commit" || b.Type == "Abort"
				s.check(option == (b.Proposer == nil), "a %s block has the proposer %x", b.Type, b.Proposer)
				if option {
					continue
				}
				proposers[string(b.Proposer)]++
				blocks++
				s.check(slices.ContainsFunc(stakers, func(row store.Staker) bool {
					return !row.Delegator && ids.ID(row.Subnet) == ids.Empty && string(row.Node) == string(b.Proposer) && row.Start <= b.Time && row.End >= b.Time
				}), "block %d of %d has a proposer that does not validate", n, chain)
			}
			s.check(len(proposers) > 5 && blocks > 30, "%d blocks have %d proposers", blocks, len(proposers))
		}
	}
}

// TestStakesAreOfTheirKind: delegations keep to what people have, validators stake a lot, and rewards follow from uptimes.
func TestStakesAreOfTheirKind(t *testing.T) {
	for _, s := range networksOf(t, seedtest.Shared(t, "tiny", 1)) {
		nodes := map[string]store.Node{}
		for _, n := range must(s.w.DB.Nodes(t.Context(), s.rules.NetworkID))(t) {
			nodes[string(n.Node)] = n
		}
		kinds := map[string]int{}
		for _, row := range must(s.w.DB.Stakers(t.Context(), s.p))(t) {
			if ids.ID(row.Subnet) != ids.Empty {
				kinds["of a subnet"]++
				continue
			}
			staking := s.rules.StakingAt(uint64(row.Start))
			least, role := staking.MinValidatorStake, nodes[string(row.Node)].Role
			if row.Delegator {
				least = staking.MinDelegatorStake
				s.check(uint64(row.Weight) <= 12*max(least, 2*avax) || role == "full", "a delegation to %s is of %d", role, row.Weight)
				kinds["delegation"]++
			} else {
				s.check(uint64(row.Weight) <= 3_000_000*avax && row.Shares >= 20_000 && row.Shares <= 120_000, "validator %s stakes %d for %d", role, row.Weight, row.Shares)
				kinds["validator"]++
			}
			s.check(uint64(row.Weight) >= least, "%s has %d: want %d at least", role, row.Weight, least)
			if row.Status == store.StakerCompleted && row.RewardTx != nil {
				need := staking.UptimeRequirement
				kinds[fmt.Sprint("rewarded ", row.Rewarded)]++
				s.check(row.Rewarded == (nodes[string(row.Node)].Uptime >= need), "%s, up for %d of %d, is rewarded: %v", role, nodes[string(row.Node)].Uptime, need, row.Rewarded)
			}
		}
		s.check(kinds["delegation"] > 20 && kinds["validator"] > 20 && kinds["rewarded true"] > 3 && kinds["rewarded false"] > 0 && kinds["of a subnet"] >= 3, "%v", kinds)
	}
}

// TestValidatorsOfALargerNetworkDiffer: a few joined before nodes had BLS keys, and a few of those that join late renew themselves with some of their
// rewards.
func TestValidatorsOfALargerNetworkDiffer(t *testing.T) {
	p := seed.Profile{Sizes: worldfile.Sizes{Name: "many", Days: 14, Chains: 2, Transactions: 400, Validators: 160, Delegators: 200, L1Validators: 12, PrimaryTransactions: 900}}
	w := must(seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 3, Profile: &p, Until: seed.DefaultUntil}))(t)
	defer w.Close()
	renewing := 0
	for _, s := range networksOf(t, w) {
		keyless, all, delegated := 0, 0, 0
		popular := s.nodes["popular"]
		for _, row := range must(w.DB.Stakers(t.Context(), s.p))(t) {
			if ids.ID(row.Subnet) != ids.Empty {
				continue
			}
			if row.Delegator {
				if string(row.Node) == string(popular.Node) && row.Status == store.StakerActive {
					delegated++
				}
				continue
			}
			all++
			if row.BLS == nil {
				keyless++
			}
			if row.AutoRenewed() && !slices.ContainsFunc([]string{"auto-renewed", "auto-renewed-restaking", "auto-renewed-left"}, func(role string) bool { return string(s.nodes[role].Node) == string(row.Node) }) {
				renewing++
				days := (row.End - row.Start) / 86400
				s.check(row.AutoCompoundRewardShares%250_000 == 0 && row.AutoCompoundRewardShares <= 1_000_000 && days >= 14 && days <= 40, "a validator renews itself with %d after %d days", row.AutoCompoundRewardShares, days)
			}
		}
		s.check(keyless >= 3 && keyless < all/8, "%d of %d validators have no BLS key", keyless, all)
		s.check(delegated >= 26, "popular has %d delegations", delegated)
	}
	if renewing == 0 {
		t.Error("nobody else renews itself")
	}
}
