package export_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim"
	"snowglobe/sim/export"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

var primaryChains = []string{"p-chain", "x-chain", "c-chain"}

// keyOwner returns a persona's address on P and X.
func keyOwner(t *testing.T, p store.Persona) ids.ShortID {
	t.Helper()
	key, err := txs.KeyFromBytes(p.Key)
	if err != nil {
		t.Fatal(err)
	}
	return key.Address()
}

// TestExportsEqualTheOutputs compares the movements of every persona on both networks with the outputs in the file, and the remaining sum with its
// balance.
func TestExportsEqualTheOutputs(t *testing.T) {
	o := openOffice(t, export.Options{})
	personas, err := o.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, network := range o.Networks {
		for _, p := range personas {
			address := keyOwner(t, p)
			options := asks{"addresses": []string{network.Rules.Address(txs.PChain, address)}, "includeChains": primaryChains}
			got, left := map[string]string{}, map[string]int{}
			for _, r := range o.rows(t, exportOf(export.Primary, options)) {
				kind := r["FundTransferType"]
				kinds[kind]++
				if kind == "CREDIT_STAKING_SET" {
					continue
				}
				value := r["Value"]
				if r["OutputType"] == "NFT_TRANSFER" || r["OutputType"] == "PROPERTY_OWNED" {
					value = "0" // the file keeps amounts only
				}
				got[r["ChainName"]+" "+kind+" "+r["UtxoId"]] = value + " " + r["AssetId"] + " " + r["TxHash"]
				left[r["UtxoId"]] += map[bool]int{true: 1, false: -1}[strings.HasPrefix(kind, "CREDIT")]
			}
			want, unspent := o.moved(t, network, address)
			if !maps.Equal(got, want) {
				t.Errorf("%s on %s: %d movements, the outputs tell of %d", p.Name, network.Name, len(got), len(want))
			}
			maps.DeleteFunc(left, func(_ string, n int) bool { return n == 0 })
			if !slices.Equal(slices.Sorted(maps.Keys(left)), unspent) {
				t.Errorf("%s on %s: %d outputs are left, it owns %d", p.Name, network.Name, len(left), len(unspent))
			}
		}
	}
	for _, kind := range []string{"CREDIT", "DEBIT", "CREDIT_STAKING_SET", "CREDIT_ATOMIC", "DEBIT_ATOMIC"} {
		if kinds[kind] == 0 {
			t.Errorf("nobody has a row of %s: %v", kind, kinds)
		}
	}
}

// moved returns when each output of an address was made and spent, by chain, kind and output; and the unspent outputs.
func (o *office) moved(t *testing.T, n *sim.Network, address ids.ShortID) (moves map[string]string, unspent []string) {
	t.Helper()
	moves = map[string]string{}
	for _, c := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		utxos, err := o.DB.UTXOsOfAddress(t.Context(), address[:], n.Chain(c), math.MaxInt64, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range utxos {
			id, crossed := ids.ID(u.Hash).String(), ""
			if u.Chain != u.ID.Chain() {
				crossed = "_ATOMIC"
			}
			facts := fmt.Sprint(uint64(u.Amount), " ", ids.ID(u.Asset), " ")
			maker := primaryChains[int(c)+u.ID.Chain()-u.Chain]
			moves[maker+" CREDIT"+crossed+" "+id] = facts + o.maker(t, &u)
			if u.Spent == nil {
				unspent = append(unspent, id)
				continue
			}
			spender, err := o.DB.PrimaryTx(t.Context(), *u.Spent)
			if err != nil {
				t.Fatal(err)
			}
			moves[primaryChains[c]+" DEBIT"+crossed+" "+id] = facts + ids.ID(spender.Hash).String()
		}
	}
	slices.Sort(unspent)
	return moves, unspent
}

// maker returns the transaction that created an output; for an output paid at the end of a stake, the transaction that ended it.
func (o *office) maker(t *testing.T, u *store.UTXO) string {
	t.Helper()
	if s, err := o.DB.StakerOfTx(t.Context(), u.Tx); err == nil && s.Ended != nil && uint64(*s.Ended) == u.ID.Height() {
		return ids.ID(s.RewardTx).String()
	}
	return ids.ID(u.Tx).String()
}

// TestExportsEqualThePrimaryLists compares the movements of every persona with the outputs in the lists of transactions. The lists show a stake only
// in the transaction that locked it, and no genesis.
func TestExportsEqualThePrimaryLists(t *testing.T) {
	o := openOffice(t, export.Options{})
	personas, err := o.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, n := range o.Networks {
		for _, p := range personas {
			address := n.Rules.Bech32(keyOwner(t, p))
			got := map[string]int{}
			for _, r := range o.rows(t, exportOf(export.Primary, asks{"addresses": []string{address}, "includeChains": primaryChains})) {
				returned := r["TxType"] == "RewardValidatorTx" && r["RewardType"] == ""
				if r["TxType"] != "Genesis" && !returned {
					kind, _, _ := strings.Cut(r["FundTransferType"], "_")
					got[strings.Join([]string{r["ChainName"], r["TxHash"], r["TxType"], r["BlockTimestamp"], kind, r["UtxoId"], r["Value"]}, " ")]++
				}
			}
			want := map[string]int{}
			for _, chain := range primaryChains {
				for _, tx := range o.Pages(t, "/v1/networks/"+n.Name+"/blockchains/"+chain+"/transactions?addresses="+address, "transactions", 100) {
					for list, kind := range map[string]string{"consumedUtxos": "DEBIT", "emittedUtxos": "CREDIT"} {
						for _, u := range elements(tx[list]) {
							if slices.Contains(elements(u.(datatest.Object)["addresses"]), any(address)) {
								want[strings.Join([]string{chain, tx["txHash"].(string), tx["txType"].(string), listedAt(t, tx), kind, u.(datatest.Object)["utxoId"].(string), fmt.Sprint(datatest.Dig(u, "asset", "amount"))}, " ")]++
							}
						}
					}
				}
			}
			compared += len(want)
			if !maps.Equal(got, want) {
				t.Errorf("%s on %s: %d movements, the lists have %d: %s", p.Name, n.Name, len(got), len(want),
					differing(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))))
			}
		}
	}
	if compared == 0 {
		t.Error("the lists are empty")
	}
}

func elements(v any) []any {
	list, _ := v.([]any)
	return list
}

// listedAt returns the time of a listed transaction; the C-Chain's have another field for it.
func listedAt(t *testing.T, tx datatest.Object) string {
	t.Helper()
	for _, name := range []string{"blockTimestamp", "timestamp"} {
		if at, ok := tx[name].(json.Number); ok {
			unix, err := at.Int64()
			if err != nil {
				t.Fatal(err)
			}
			return rfc3339(unix)
		}
	}
	t.Fatalf("no time: %v", tx)
	return ""
}

// TestSmallerExportsArePartsOfTheFullOne: simple has the same rows with fewer columns, staking some of the rows.
func TestSmallerExportsArePartsOfTheFullOne(t *testing.T) {
	o := openOffice(t, export.Options{})
	addresses := o.everyOwner(t)
	options := asks{"addresses": addresses, "includeChains": primaryChains}
	full := o.rows(t, exportOf(export.Primary, options))
	simple := o.rows(t, exportOf(export.Simple, options))
	if !slices.EqualFunc(full, simple, contains) {
		t.Error("the simple export has other rows")
	}
	rewards := map[string]int{}
	staking := slices.DeleteFunc(slices.Clone(full), func(r record) bool {
		return r["FundTransferType"] != "CREDIT_STAKING_SET" && !strings.HasPrefix(r["TxType"], "Reward")
	})
	if !slices.EqualFunc(staking, o.rows(t, exportOf(export.Staking, options)), contains) {
		t.Error("the staking export has other rows")
	}
	for _, r := range staking {
		rewards[r["RewardType"]]++
		o.checkStake(t, r)
	}
	for _, kind := range []string{"", "VALIDATOR", "DELEGATOR", "VALIDATOR_FEE"} {
		if rewards[kind] == 0 {
			t.Errorf("no reward of kind %q: %v", kind, rewards)
		}
	}
}

// everyOwner returns the addresses of all personas and of everyone who earns from delegations to them, on both networks.
func (o *office) everyOwner(t *testing.T) (all []string) {
	t.Helper()
	personas, err := o.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range o.Networks {
		for _, p := range personas {
			all = append(all, n.Rules.Bech32(keyOwner(t, p)))
		}
		stakers, err := o.DB.Stakers(t.Context(), n.Chain(txs.PChain))
		if err != nil {
			t.Fatal(err)
		}
		for i := range stakers {
			for _, address := range store.ParseOutputOwners(stakers[i].FeeOwner).Addresses {
				all = append(all, n.Rules.Bech32(ids.ShortID(address)))
			}
		}
	}
	return all
}

// contains reports whether a row has everything that another one has.
func contains(full, part record) bool {
	for name, text := range part {
		if full[name] != text {
			return false
		}
	}
	return true
}

// checkStake compares a row with the file's data about the staker.
func (o *office) checkStake(t *testing.T, r record) {
	t.Helper()
	id, err := ids.FromString(r["StakingTxHash"])
	if err != nil {
		t.Fatalf("%v: %v", r, err)
	}
	cycles, err := o.DB.CyclesOfTx(t.Context(), id[:])
	if err != nil {
		t.Fatal(err)
	}
	s := cycles[0]
	for _, c := range cycles {
		if len(c.RewardTx) > 0 && ids.ID(c.RewardTx).String() == r["TxHash"] {
			s = c
		}
	}
	if r["NodeId"] != ids.NodeID(s.Node).String() || r["StakingStart"] != rfc3339(s.Start) || r["StakingEnd"] != rfc3339(s.End) {
		t.Errorf("%v: from %s to %s with %s", r, rfc3339(s.Start), rfc3339(s.End), ids.NodeID(s.Node))
	}
}

func rfc3339(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }
