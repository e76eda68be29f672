package platform_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/pchain"
	"snowglobe/sim/primary"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// outputs reads what the chain made, newest first.
func (n *node) outputs() (rows []store.UTXO, parsed []*txs.UTXO) {
	n.Helper()
	rows = must[[]store.UTXO](n)(n.network.DB.UTXOsMadeBy(n.Context(), n.chain()))
	slices.SortFunc(rows, func(a, b store.UTXO) int { return cmp.Compare(b.ID, a.ID) })
	for _, row := range rows {
		parsed = append(parsed, must[*txs.UTXO](n)(txs.ParseUTXO(txs.PChain, row.Bytes())))
	}
	return rows, parsed
}

// byAmount is amounts by asset as the service writes them.
func (n *node) byAmount(avax uint64, any bool) Object {
	if !any {
		return Object{}
	}
	return Object{n.network.Rules.AVAXAssetID.String(): num(avax)}
}

// TestBalances recomputes balances by kind, of everyone alone and of several together, whose common outputs count once.
func TestBalances(t *testing.T) {
	locked, stakeable := 0, 0
	overTime(t, func(t testing.TB, n *node) {
		rows, outputs := n.outputs()
		var everyone []ids.ShortID
		for i, u := range outputs {
			if rows[i].Spent == nil && rows[i].Chain == n.chain() {
				everyone = append(everyone, u.Owners().Addresses...)
			}
		}
		slices.SortFunc(everyone, ids.ShortID.Compare)
		everyone = slices.Compact(everyone)
		var held uint64
		n.state(func(s *primary.Network) {
			for u := range s.P.UTXOs() {
				held += u.Amount()
			}
		})
		if all := rpctest.Get[struct{ Balance string }](n.Client, "platform.getBalance", Object{"addresses": n.addresses(everyone)}); all.Balance != num(held) {
			t.Errorf("everyone has %s together, the chain %d", all.Balance, held)
		}
		groups := [][]ids.ShortID{{{1}}, everyone, {}}
		for i := range everyone {
			if groups = append(groups, everyone[i:i+1]); i%8 == 0 {
				groups = append(groups, []ids.ShortID{everyone[(i+3)%len(everyone)], everyone[i], everyone[i]})
			}
		}
		for _, group := range groups {
			var sums, counts [4]uint64 // of all, unlocked, stakeable and locked outputs
			var made any
			sorted := slices.Compact(slices.SortedFunc(slices.Values(group), ids.ShortID.Compare))
			var own []Object
			seen := map[int]bool{}
			for _, owner := range sorted {
				for i, u := range outputs {
					if seen[i] || rows[i].Spent != nil || rows[i].Chain != n.chain() || !slices.Contains(u.Owners().Addresses, owner) {
						continue
					}
					seen[i] = true
					kind, out := 1, u.Out
					if lock, is := out.(*txs.StakeableLockOut); is {
						if out = lock.Output; int64(lock.Locktime) > n.now() {
							kind = 2
							stakeable++
						}
					}
					if int64(out.(*txs.TransferOutput).Locktime) > n.now() {
						kind = 3
						locked++
					}
					for _, k := range []int{0, kind} {
						sums[k], counts[k] = sums[k]+out.(*txs.TransferOutput).Amount, counts[k]+1
					}
					own = append(own, Object{"txID": u.TxID, "outputIndex": u.OutputIndex})
				}
			}
			if own != nil {
				made = own
			}
			n.Want(Object{
				"balance": num(sums[0]), "unlocked": num(sums[1]), "lockedStakeable": num(sums[2]), "lockedNotStakeable": num(sums[3]),
				"balances": n.byAmount(sums[0], counts[0] > 0), "unlockeds": n.byAmount(sums[1], counts[1] > 0),
				"lockedStakeables": n.byAmount(sums[2], counts[2] > 0), "lockedNotStakeables": n.byAmount(sums[3], counts[3] > 0), "utxoIDs": made,
			}, "platform.getBalance", Object{"addresses": n.addresses(group)})
		}
	})
	if locked == 0 || stakeable == 0 {
		t.Errorf("%d locked outputs, %d for stakes only", locked, stakeable)
	}
}

// TestAddresses has avalanchego's words for addresses that are none of the chain's.
func TestAddresses(t *testing.T) {
	n := serve(t, seedtest.Shared(t, "tiny", 1).Networks[0])
	foreign := n.network.Rules.Address(txs.XChain, ids.ShortID{1})
	for _, method := range []string{"platform.getBalance", "platform.getStake", "platform.getUTXOs"} {
		n.Refuses(fmt.Sprintf("couldn't parse address %q: mismatched chainIDs: expected %q but got %q", foreign, ids.Empty, n.network.Rules.XChainID), method, Object{"addresses": []string{foreign}})
		n.Refuses(`couldn't parse address "x": no separator found in address`, method, Object{"addresses": []string{"x"}})
		n.Refuses(rpctest.Malformed, method, Object{"addresses": 7})
	}
	many := slices.Repeat([]string{n.address(ids.ShortID{1})}, 256)
	rpctest.Get[any](n.Client, "platform.getStake", Object{"addresses": many})
	n.Refuses("257 addresses provided but this method can take at most 256", "platform.getStake", Object{"addresses": append(many, many[0])})
}

// TestStake recomputes what addresses have staked on the primary network: what current stakers have locked, then what pending ones have.
func TestStake(t *testing.T) {
	delegated, later := 0, 0
	overTime(t, func(t testing.TB, n *node) {
		var locked, pending []staking
		var everyone []ids.ShortID
		for _, s := range n.stakers() {
			stake, rewarded := pchain.StakeOf(s.tx.Unsigned)
			switch {
			case !s.on(ids.Empty):
				continue
			case n.pending(s):
				pending = append(pending, s)
			case s.Ended == nil:
				locked = append(locked, s)
			}
			for _, out := range stake {
				everyone = append(everyone, (&txs.UTXO{Out: out.Out}).Owners().Addresses...)
			}
			for _, owner := range rewarded { // may have staked nothing
				everyone = append(everyone, owner.Addresses...)
			}
		}
		slices.SortFunc(everyone, ids.ShortID.Compare)
		everyone = slices.Compact(everyone)
		later += len(pending)
		for i := range everyone {
			for _, group := range [][]ids.ShortID{everyone[i : i+1], everyone[i:min(i+5, len(everyone))]} {
				for _, validatorsOnly := range []bool{false, true} {
					sum, outputs := uint64(0), []string{}
					for _, s := range append(slices.Clone(locked), pending...) {
						if s.Delegator && validatorsOnly {
							continue
						}
						stake, _ := pchain.StakeOf(s.tx.Unsigned)
						for _, out := range stake {
							u := &txs.UTXO{Out: out.Out}
							if !slices.ContainsFunc(u.Owners().Addresses, func(a ids.ShortID) bool { return slices.Contains(group, a) }) {
								continue
							}
							if s.Delegator {
								delegated++
							}
							sum += u.Amount()
							raw := must[[]byte](t)(txs.OutputBytes(txs.PChain, out))
							checksum := sha256.Sum256(raw)
							outputs = append(outputs, bytesText(append(raw, checksum[28:]...)))
						}
					}
					n.Want(Object{"staked": num(sum), "stakeds": n.byAmount(sum, len(outputs) > 0), "stakedOutputs": outputs, "encoding": "hex"}, "platform.getStake",
						Object{"addresses": n.addresses(group), "validatorsOnly": validatorsOnly})
				}
			}
		}
		none := Object{"staked": "0", "stakeds": Object{}, "stakedOutputs": []any{}, "encoding": "hexnc"}
		n.Want(none, "platform.getStake", Object{"addresses": []string{n.address(ids.ShortID{1})}, "encoding": "hexnc"})
		n.Want(none, "platform.getStake", Object{"encoding": "hexnc"})
		owner := n.address(n.stakeOwner(locked[0].tx))
		n.Refuses(fmt.Sprintf("couldn't encode output %s as json: unsupported encoding in method", ids.Empty), "platform.getStake", Object{"addresses": []string{owner}, "encoding": "json"})
	})
	if delegated == 0 || later == 0 {
		t.Errorf("%d delegations, %d pending stakes", delegated, later)
	}
}

// TestStakeForOthers: of a stake that alice paid for, she has only what she gets back.
func TestStakeForOthers(t *testing.T) {
	n := serve(t, seedtest.Copy(t, 1).Networks[1])
	key := must[*txs.Key](t)(txs.KeyFromBytes(simtest.PersonaKey(t, n.network, "alice")))
	alice, other := key.Address(), ids.ShortID{1}
	rows, outputs := n.outputs()
	var spent *txs.UTXO
	for i, u := range outputs {
		out, plain := u.Out.(*txs.TransferOutput)
		if plain && rows[i].Spent == nil && rows[i].Chain == n.chain() && out.Locktime == 0 && slices.Equal(out.Addresses, []ids.ShortID{alice}) && (spent == nil || out.Amount > spent.Amount()) {
			spent = u
		}
	}
	const less, more, fee = 600_000_000, 700_000_000, 10_000_000
	pays := func(amount uint64, to ids.ShortID) *txs.TransferableOutput {
		return txs.NewTransferableOutput(n.network.Rules.AVAXAssetID, amount, txs.NewOwner(to))
	}
	base := *simtest.Payment(t, n.network, txs.PChain).Unsigned.Base()
	base.Ins = []*txs.TransferableInput{{UTXOID: spent.UTXOID, AssetID: spent.AssetID, In: &txs.TransferInput{Amount: spent.Amount(), Input: txs.Input{SigIndices: []uint32{0}}}}}
	base.Outs = []*txs.TransferableOutput{pays(spent.Amount()-less-more-fee, alice)}
	var node ids.NodeID
	var end uint64
	for _, s := range n.stakers() {
		if !s.Delegator && s.on(ids.Empty) && n.active(s) && s.NextPeriod == 0 {
			node, end = ids.NodeID(s.Node), uint64(s.End)
		}
	}
	before := rpctest.Get[struct{ StakedOutputs []string }](n.Client, "platform.getStake", Object{"addresses": []string{n.address(alice)}, "encoding": "hexnc"})
	rewards := txs.NewOwner(alice)
	tx := must[*txs.Tx](t)(txs.NewSigned(txs.PChain, &txs.AddPermissionlessDelegatorTx{
		BaseTx: base, Validator: txs.Validator{NodeID: node, End: min(end, uint64(n.now())+20*24*60*60), Weight: less + more},
		StakeOuts: []*txs.TransferableOutput{pays(less, other), pays(more, alice)}, RewardsOwner: &rewards,
	}, []*txs.Key{key}))
	n.Want(Object{"txID": tx.ID()}, "platform.issueTx", hexnc(tx.Bytes()))
	for _, c := range []struct {
		who     ids.ShortID
		amount  uint64
		besides int
	}{{alice, more, len(before.StakedOutputs)}, {other, less, 0}} {
		have := rpctest.Get[struct{ StakedOutputs []string }](n.Client, "platform.getStake", Object{"addresses": []string{n.address(c.who)}, "encoding": "hexnc"})
		want := bytesText(must[[]byte](t)(txs.OutputBytes(txs.PChain, pays(c.amount, c.who))))
		if !slices.Contains(have.StakedOutputs, want) || len(have.StakedOutputs) != 1+c.besides {
			t.Errorf("%s has staked %v, want %s and %d others", c.who, have.StakedOutputs, want, c.besides)
		}
	}
}

// TestRewards recomputes the outputs that rewarded each staking transaction.
func TestRewards(t *testing.T) {
	onEach(t, func(t testing.TB, n *node) {
		rewarded := 0
		rows, _ := n.outputs()
		for _, tx := range n.transactions() {
			id, paid := tx.ID(), []string{}
			for _, row := range slices.Backward(rows) {
				if row.Reward && bytes.Equal(row.Tx, id[:]) {
					paid = append(paid, bytesText(row.Bytes()))
				}
			}
			n.Want(Object{"numFetched": num(len(paid)), "utxos": paid, "encoding": "hexnc"}, "platform.getRewardUTXOs", Object{"txID": id, "encoding": "hexnc"})
			if len(paid) > 0 {
				rewarded++
				n.Refuses("couldn't encode utxo as json: unsupported encoding in method", "platform.getRewardUTXOs", Object{"txID": id, "encoding": "json"})
			}
		}
		if rewarded == 0 {
			t.Error("nobody was rewarded")
		}
		n.Want(Object{"numFetched": "0", "utxos": []any{}, "encoding": "hex"}, "platform.getRewardUTXOs", Object{"txID": ids.ID{1}})
		n.Refuses(rpctest.Malformed, "platform.getRewardUTXOs", Object{"txID": "x"})
	})
}
