package primary_test

import (
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// validation is an L1 validator while its history is replayed.
type validation struct {
	weight uint64
	until  uint64 // fees that are paid when its balance is used up
}

func (v *validation) balance(accrued uint64) uint64 { return v.until - min(v.until, accrued) }

// TestL1ValidatorsInTransactionsAreAReplay replays the P-Chain from its genesis, and compares each L1 validator that a transaction changes with its
// weight and balance then.
func TestL1ValidatorsInTransactionsAreAReplay(t *testing.T) {
	seen := map[string]int{}
	for _, number := range []int64{1, 2} {
		g := datatest.Open(t, number)
		for _, network := range datatest.Networks {
			l := readRows(t, g.Network(t, network))
			var order []*parsedTx
			for _, p := range l.txs {
				if p.kind == txs.PChain {
					order = append(order, p)
				}
			}
			slices.SortFunc(order, func(a, b *parsedTx) int { return int(a.row.ID - b.row.ID) })
			all := map[ids.ID]*validation{}
			for _, p := range order {
				block, err := l.DB.PrimaryBlock(t.Context(), p.row.ID.Chain(), p.row.ID.Number())
				if err != nil {
					t.Fatal(err)
				}
				want, paid := l.replay(p, all, uint64(block.AccruedFees))
				shown := g.Get(t, "/v1/networks/"+network+"/blockchains/p-chain/transactions/"+p.ID().String())
				have, _ := shown["l1ValidatorDetails"].([]any)
				if datatest.Encode(have) != datatest.Encode(want) {
					t.Errorf("%s changes\n%s\nwant\n%s", p.row.Type, datatest.Encode(have), datatest.Encode(want))
				}
				if datatest.Encode(shown["amountL1ValidatorBalanceBurned"]) != datatest.Encode(l.avax(paid)) {
					t.Errorf("%s pays %v: want %d", p.row.Type, shown["amountL1ValidatorBalanceBurned"], paid)
				}
				if len(want) > 0 {
					seen[p.row.Type]++
				}
			}
		}
	}
	for _, kind := range []string{"ConvertSubnetToL1Tx", "RegisterL1ValidatorTx", "SetL1ValidatorWeightTx", "IncreaseL1ValidatorBalanceTx", "DisableL1ValidatorTx"} {
		if seen[kind] == 0 {
			t.Errorf("no %s changes anything: %v", kind, seen)
		}
	}
}

// replay applies a transaction, and returns what it should show and how much it adds to balances.
func (l *rows) replay(p *parsedTx, all map[ids.ID]*validation, accrued uint64) (want []any, paid uint64) {
	show := func(id ids.ID, change func(*validation)) {
		v := all[id]
		if v == nil {
			v = &validation{}
			all[id] = v
		}
		before := v.balance(accrued)
		change(v)
		row, err := l.DB.L1Validator(l.t.Context(), id[:], store.MaxNumber)
		if err != nil {
			l.t.Fatal(err)
		}
		o := datatest.Object{"validationId": id.String(), "validationIdHex": hexutil.Encode(id[:]), "nodeId": ids.NodeID(row.Node).String(), "subnetId": ids.ID(row.Subnet).String(),
			"weight": v.weight, "remainingBalance": v.balance(accrued), "blsCredentials": datatest.Object{"publicKey": hexutil.Encode(row.BLS)}}
		if now := v.balance(accrued); now != before {
			o["balanceChange"] = int64(now) - int64(before)
			paid += now - min(now, before)
		}
		want = append(want, o)
	}
	deposit := func(v *validation, amount uint64) {
		if amount > 0 {
			v.until = max(v.until, accrued) + amount
		}
	}
	message := func(raw []byte) any {
		m, err := warp.ParseMessage(raw)
		if err != nil {
			l.t.Fatal(err)
		}
		_, event, err := m.L1Message()
		if err != nil {
			l.t.Fatal(err)
		}
		return event
	}
	switch u := p.Unsigned.(type) {
	case *txs.ConvertSubnetToL1Tx:
		for i, initial := range u.Validators {
			show(warp.ConversionValidationID(u.SubnetID, uint32(i)), func(v *validation) {
				v.weight = initial.Weight
				deposit(v, initial.Balance)
			})
		}
	case *txs.RegisterL1ValidatorTx:
		register := message(u.Message).(*warp.RegisterL1Validator)
		id, err := register.ValidationID()
		if err != nil {
			l.t.Fatal(err)
		}
		show(id, func(v *validation) {
			v.weight = register.Weight
			deposit(v, u.Balance)
		})
	case *txs.SetL1ValidatorWeightTx:
		set := message(u.Message).(*warp.L1ValidatorWeight)
		show(set.ValidationID, func(v *validation) {
			if v.weight = set.Weight; v.weight == 0 {
				v.until = 0
			}
		})
	case *txs.IncreaseL1ValidatorBalanceTx:
		show(u.ValidationID, func(v *validation) { deposit(v, u.Balance) })
	case *txs.DisableL1ValidatorTx:
		show(u.ValidationID, func(v *validation) { v.until = 0 })
	}
	return want, paid
}
