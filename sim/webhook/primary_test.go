package webhook

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/store/outbox"
	"snowglobe/sim/txs"
)

func tinyWorld(t *testing.T) *sim.World {
	t.Helper()
	return seedtest.Shared(t, "tiny", 3)
}

var (
	node, subnet = bytes.Repeat([]byte{7}, 20), bytes.Repeat([]byte{8}, 32)
	owner        = bytes.Repeat([]byte{9}, 20)
)

// promised runs something with one webhook about mainnet's P-Chain that watches keys, and returns the messages promised to it as
// "event subject transaction".
func promised(t *testing.T, event string, f Filter, keys [][]byte, do func(*news) error) (all []string) {
	t.Helper()
	w := tinyWorld(t)
	network := w.Networks[0]
	chain := network.Chain(txs.PChain)
	if event == outbox.AddressActivity {
		chain = w.Chains[0].Row.ID
	}
	text, err := f.Text()
	if err != nil {
		t.Fatal(err)
	}
	number := byte(0)
	p := &Promiser{w, func() (name [16]byte) { number++; name[0], name[1] = nextName(), number; return name }}
	hook := &outbox.Webhook{UUID: bytes.Repeat([]byte{nextName()}, 16), Account: make([]byte, 32), Event: event, Chain: chain, Active: true, URL: "http://localhost", Filter: text}
	// An older one watches the same, but wants nothing of it.
	picky, err := (&Filter{SubEvents: []string{"nothing"}, EventSignatures: []common.Hash{{1}}}).Text()
	if err != nil {
		t.Fatal(err)
	}
	older := *hook
	older.UUID, older.Filter = bytes.Repeat([]byte{nextName()}, 16), picky
	err = w.WriteUncounted(t.Context(), func(b *store.Batch) error {
		before, err := outbox.Active(t.Context(), b)
		if err != nil {
			return err
		}
		for i := range before {
			if err := outbox.Deactivate(b, before[i].ID); err != nil {
				return err
			}
		}
		if err := errors.Join(outbox.Put(b, &older), outbox.Put(b, hook)); err != nil {
			return err
		}
		active, err := outbox.Active(t.Context(), b)
		if err != nil {
			return err
		}
		hook = &active[1]
		if err := errors.Join(outbox.AddKeys(b, hook.ID, keys), outbox.AddKeys(b, active[0].ID, keys)); err != nil {
			return err
		}
		watching, err := watchers(active, event == outbox.AddressActivity, chain)
		if err != nil {
			return err
		}
		return do(&news{p, b, network, chain, watching})
	})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := outbox.Messages(t.Context(), w.DB, hook.ID, 1<<40, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range messages {
		m := &messages[i]
		subject := ""
		if len(m.Subject) > 0 {
			subject = fmt.Sprintf("%x", m.Subject[:1])
		}
		all = append(all, fmt.Sprintf("%s %s %d/%d", m.Event, subject, m.Tx.Number(), m.Tx.Index()))
	}
	slices.Reverse(all)
	return all
}

var names byte

// nextName returns a different name each time, for ids.
func nextName() byte { names++; return names }

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// blockOf returns a block of some transactions, the i-th with the hash i i i….
func blockOf(n *news, transactions int) *store.PrimaryDelta {
	d := &store.PrimaryDelta{Block: &store.PrimaryBlock{ID: store.At(n.chain, 5, 0), Time: 1000}}
	for i := range transactions {
		d.Transactions = append(d.Transactions, store.PrimaryTx{ID: store.At(n.chain, 5, i), Hash: hash(byte(i))})
	}
	return d
}

func hash(n byte) []byte { return bytes.Repeat([]byte{n}, 32) }

func TestNewStakersAreTold(t *testing.T) {
	block := func(n *news) error {
		d := blockOf(n, 4) // the first and the third stake nothing
		d.Stakers = []store.Staker{
			{Tx: hash(3), Node: node, Subnet: subnet, Delegator: true},
			{Tx: hash(1), Node: node, Subnet: subnet},
			{Tx: hash(77), Node: node, Subnet: subnet}, // an old output whose value changed
		}
		return n.stakers(d)
	}
	all := Filter{SubEvents: ValidatorEvents}
	same(t, "both", promised(t, outbox.ValidatorActivity, all, [][]byte{node}, block), "validator_stake 01 5/1", "delegator_stake 03 5/3")
	same(t, "by subnet", promised(t, outbox.ValidatorActivity, all, [][]byte{subnet}, block), "validator_stake 01 5/1", "delegator_stake 03 5/3")
	same(t, "once", promised(t, outbox.ValidatorActivity, all, [][]byte{node, subnet}, block), "validator_stake 01 5/1", "delegator_stake 03 5/3")
	same(t, "those wanted", promised(t, outbox.ValidatorActivity, Filter{SubEvents: []string{DelegatorStake}}, [][]byte{node}, block), "delegator_stake 03 5/3")
	same(t, "another node's", promised(t, outbox.ValidatorActivity, all, [][]byte{owner}, block))
	same(t, "the node, of another subnet", promised(t, outbox.ValidatorActivity, Filter{SubEvents: ValidatorEvents, SubnetIDs: []ids.ID{{1}}}, [][]byte{node}, block))
	same(t, "the subnet, of another node", promised(t, outbox.ValidatorActivity, Filter{SubEvents: ValidatorEvents, NodeIDs: []ids.NodeID{{1}}}, [][]byte{subnet}, block))
	same(t, "both named", promised(t, outbox.ValidatorActivity, Filter{SubEvents: ValidatorEvents, NodeIDs: []ids.NodeID{ids.NodeID(node)}, SubnetIDs: []ids.ID{ids.ID(subnet)}}, [][]byte{node}, block),
		"validator_stake 01 5/1", "delegator_stake 03 5/3")
	same(t, "of addresses", promised(t, outbox.PrimaryAddressActivity, all, [][]byte{node}, block))
}

func TestAddressesInTransactionsAreTold(t *testing.T) {
	block := func(n *news) error {
		d := blockOf(n, 3)
		d.Activity = []store.PrimaryActivity{
			{Subject: owner, Tx: d.Transactions[2].ID}, {Subject: owner, Tx: d.Transactions[1].ID}, {Subject: hash(9), Tx: d.Transactions[0].ID}, // a validation, not an address
			{Subject: bytes.Repeat([]byte{1}, 20), Tx: d.Transactions[0].ID},
		}
		return n.addresses(d)
	}
	same(t, "in the order of transactions", promised(t, outbox.PrimaryAddressActivity, Filter{SubEvents: AddressEvents}, [][]byte{owner}, block),
		"balance_change  5/1", "balance_threshold  5/1", "balance_change  5/2", "balance_threshold  5/2")
	same(t, "of a validation's bytes", promised(t, outbox.PrimaryAddressActivity, Filter{SubEvents: AddressEvents}, [][]byte{hash(9)}, block))
}

// rewarded finds a staker of the world whose reward was paid, with its block's height and the reward's position in the block.
func rewarded(t *testing.T, w *sim.World, chain int) (s store.Staker, height uint64, place store.Position) {
	t.Helper()
	rows, err := w.DB.Stakers(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if r := rows[i]; r.Rewarded && r.RewardTx != nil {
			err := w.WriteUncounted(t.Context(), func(b *store.Batch) error {
				at, err := outbox.TxPosition(b, chain, r.RewardTx)
				place = at
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return r, uint64(*r.Ended), place
		}
	}
	t.Fatal("nobody was rewarded")
	return s, 0, 0
}

func TestRewardsAreTold(t *testing.T) {
	w := tinyWorld(t)
	s, height, place := rewarded(t, w, w.Networks[0].Chain(txs.PChain))
	block := func(change func(*store.PrimaryDelta)) func(*news) error {
		return func(n *news) error {
			d := &store.PrimaryDelta{
				Block: &store.PrimaryBlock{ID: store.At(n.chain, height, 0), Time: 1000}, Stakers: []store.Staker{{Tx: hash(2), Node: s.Node, Subnet: s.Subnet}, s},
				UTXOs: []store.UTXO{{Tx: s.Tx, Reward: true, OwnerAddresses: [][]byte{owner}}, {Tx: s.Tx, OwnerAddresses: [][]byte{node}}, {Tx: hash(1), Reward: true, OwnerAddresses: [][]byte{subnet[:20]}}},
			}
			change(d)
			return n.rewards(d)
		}
	}
	want := fmt.Sprintf("reward_distribution %x %d/%d", s.Tx[:1], place.Number(), place.Index())
	plain := block(func(*store.PrimaryDelta) {})
	same(t, "who is rewarded", promised(t, outbox.PrimaryAddressActivity, Filter{SubEvents: AddressEvents}, [][]byte{owner}, plain), want)
	same(t, "who gets the stake back", promised(t, outbox.PrimaryAddressActivity, Filter{SubEvents: AddressEvents}, [][]byte{node}, plain))
	same(t, "who is rewarded for another stake", promised(t, outbox.PrimaryAddressActivity, Filter{SubEvents: AddressEvents}, [][]byte{subnet[:20]}, plain))
	same(t, "the validator", promised(t, outbox.ValidatorActivity, Filter{SubEvents: ValidatorEvents}, [][]byte{s.Node}, plain), want)
	for what, change := range map[string]func(*store.PrimaryDelta){
		"not rewarded":          func(d *store.PrimaryDelta) { d.Stakers[1].Rewarded = false },
		"without a transaction": func(d *store.PrimaryDelta) { d.Stakers[1].RewardTx = nil },
		"not ended":             func(d *store.PrimaryDelta) { d.Stakers[1].Ended = nil },
		"ended before":          func(d *store.PrimaryDelta) { d.Block.ID = store.At(d.Block.ID.Chain(), height+1, 0) },
	} {
		same(t, what, promised(t, outbox.ValidatorActivity, Filter{SubEvents: ValidatorEvents}, [][]byte{s.Node}, block(change)))
	}
}

// l1Validators returns mainnet's L1 validators at the P-Chain's head.
func l1Validators(t *testing.T, n *news) []store.L1ValidatorView {
	t.Helper()
	all, err := store.L1ValidatorsAt(t.Context(), n.batch, n.chain, store.MaxNumber)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// active finds one that pays.
func active(t *testing.T, n *news) *store.L1ValidatorView {
	t.Helper()
	all := l1Validators(t, n)
	i := slices.IndexFunc(all, func(v store.L1ValidatorView) bool { return v.Weight > 0 && v.EndAccumulatedFee > 0 })
	if i < 0 {
		t.Fatal("no L1 validator is active")
	}
	return &all[i]
}

func TestChangesOfL1ValidatorsAreTold(t *testing.T) {
	for _, c := range []struct {
		event  string
		change func(*store.L1ValidatorState)
	}{
		{"", func(*store.L1ValidatorState) {}},
		{"", func(s *store.L1ValidatorState) { s.Weight++ }},
		{L1Removed, func(s *store.L1ValidatorState) { s.Weight, s.EndAccumulatedFee = 0, 0 }},
		{L1Disabled, func(s *store.L1ValidatorState) { s.EndAccumulatedFee = 0 }},
		{L1BalanceIncreased, func(s *store.L1ValidatorState) { s.EndAccumulatedFee++ }},
		{"", func(s *store.L1ValidatorState) { s.EndAccumulatedFee-- }},
	} {
		for _, byTx := range []bool{true, false} {
			var validation []byte
			got := promised(t, outbox.ValidatorActivity, Filter{SubEvents: ValidatorEvents}, [][]byte{subnetOfL1(t)}, func(n *news) error {
				v := active(t, n)
				validation = v.Validation
				d := blockOf(n, 3)
				d.Block.ID = store.At(n.chain, store.MaxNumber, 0)
				changed := v.L1ValidatorState
				c.change(&changed)
				d.L1ValidatorStates = []store.L1ValidatorState{v.L1ValidatorState, changed} // unchanged states come first
				if d.Activity = []store.PrimaryActivity{{Subject: hash(1), Tx: d.Transactions[1].ID}}; byTx {
					d.Activity = append(d.Activity, store.PrimaryActivity{Subject: v.Validation, Tx: d.Transactions[2].ID})
				}
				return n.l1Validators(d)
			})
			var want []string
			if c.event != "" {
				place := "0/0" // the passing of time has no transaction
				if byTx {
					place = "5/2"
				}
				want = []string{fmt.Sprintf("%s %x %s", c.event, validation[:1], place)}
			}
			same(t, fmt.Sprintf("%q by a transaction %t", c.event, byTx), got, want...)
		}
	}
	// One without an earlier state is new.
	var validation []byte
	got := promised(t, outbox.ValidatorActivity, Filter{SubEvents: ValidatorEvents}, [][]byte{subnetOfL1(t)}, func(n *news) error {
		v := active(t, n)
		validation = v.Validation
		d := blockOf(n, 1)
		d.Block.ID, d.L1ValidatorStates = store.At(n.chain, 0, 0), []store.L1ValidatorState{v.L1ValidatorState}
		return n.l1Validators(d)
	})
	same(t, "a new one", got, fmt.Sprintf("validator_stake %x 0/0", validation[:1]))
}

// subnetOfL1 returns the L1 of the validator that active finds.
func subnetOfL1(t *testing.T) []byte {
	t.Helper()
	var found []byte
	promised(t, outbox.ValidatorActivity, Filter{}, nil, func(n *news) error { found = active(t, n).Subnet; return nil })
	return found
}

func TestBalancesThatFallBelowAThreshold(t *testing.T) {
	w := tinyWorld(t)
	head, err := w.DB.PrimaryHead(t.Context(), w.Networks[0].Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	from := head.Time + 10
	to := from + 3600
	told := func(threshold func(before, left uint64) uint64, change func(*store.L1ValidatorView) *store.PrimaryDelta) (n int) {
		var node []byte
		var before, left uint64
		promised(t, outbox.ValidatorActivity, Filter{}, nil, func(n *news) error {
			v := active(t, n)
			node = v.Node
			before, left = uint64(v.Balance(n.network.AccruedAt(head, from))), uint64(v.Balance(n.network.AccruedAt(head, to)))
			return nil
		})
		if left >= before {
			t.Fatal("an hour costs nothing")
		}
		got := promised(t, outbox.ValidatorActivity, Filter{SubEvents: ValidatorEvents, L1BalanceThreshold: threshold(before, left)}, [][]byte{node}, func(n *news) error {
			var deltas []*store.PrimaryDelta
			if d := change(active(t, n)); d != nil {
				d.Block = &store.PrimaryBlock{}
				*d.Block = *head
				d.Block.ID = store.At(n.chain, head.ID.Number()+1, 0)
				deltas = append(deltas, &store.PrimaryDelta{}, d) // a delta without a block comes first, like the C-Chain's
			}
			return n.l1Thresholds(deltas, from, to)
		})
		return len(got)
	}
	unchanged := func(*store.L1ValidatorView) *store.PrimaryDelta { return nil }
	for what, c := range map[string]struct {
		threshold func(before, left uint64) uint64
		change    func(*store.L1ValidatorView) *store.PrimaryDelta
		want      int
	}{
		"between":                 {func(before, left uint64) uint64 { return (before + left) / 2 }, unchanged, 1},
		"what there was":          {func(before, _ uint64) uint64 { return before }, unchanged, 1},
		"more than there was":     {func(before, _ uint64) uint64 { return before + 1 }, unchanged, 0},
		"just above what is left": {func(_, left uint64) uint64 { return left + 1 }, unchanged, 1},
		"what is left":            {func(_, left uint64) uint64 { return left }, unchanged, 0},
		"topped up": {func(before, left uint64) uint64 { return (before + left) / 2 }, func(v *store.L1ValidatorView) *store.PrimaryDelta {
			s := v.L1ValidatorState
			s.EndAccumulatedFee += 1 << 40
			return &store.PrimaryDelta{L1ValidatorStates: []store.L1ValidatorState{s}}
		}, 0},
		"removed": {func(before, left uint64) uint64 { return (before + left) / 2 }, func(v *store.L1ValidatorView) *store.PrimaryDelta {
			s := v.L1ValidatorState
			s.Weight, s.EndAccumulatedFee = 0, 0
			return &store.PrimaryDelta{L1ValidatorStates: []store.L1ValidatorState{s}}
		}, 0},
		"disabled": {func(before, left uint64) uint64 { return (before + left) / 2 }, func(v *store.L1ValidatorView) *store.PrimaryDelta {
			s := v.L1ValidatorState
			s.EndAccumulatedFee = 0
			return &store.PrimaryDelta{L1ValidatorStates: []store.L1ValidatorState{s}}
		}, 1},
	} {
		if got := told(c.threshold, c.change); got != c.want {
			t.Errorf("%s: told %d times, want %d", what, got, c.want)
		}
	}
}

// TestPromiseOfACommit uses the same entry point as commits: other webhooks' chains and networks are left out.
func TestPromiseOfACommit(t *testing.T) {
	w := tinyWorld(t)
	mainnet := w.Networks[0]
	for _, c := range []struct {
		name  string
		added func(*news) *sim.Added
		want  int
	}{
		{"its chain's", func(n *news) *sim.Added {
			d := blockOf(n, 2)
			d.Stakers = []store.Staker{{Tx: hash(1), Node: node, Subnet: subnet}}
			return &sim.Added{Primary: []sim.PrimaryAdded{{Network: mainnet, Deltas: []*store.PrimaryDelta{{}, d}}}}
		}, 1},
		{"another network's", func(n *news) *sim.Added {
			d := blockOf(n, 2)
			d.Stakers = []store.Staker{{Tx: hash(1), Node: node, Subnet: subnet}}
			return &sim.Added{Primary: []sim.PrimaryAdded{{Network: w.Networks[1], Deltas: []*store.PrimaryDelta{d}}}}
		}, 0},
		{"another chain's", func(n *news) *sim.Added {
			d := blockOf(n, 2)
			d.Block.ID = store.At(mainnet.Chain(txs.XChain), 5, 0)
			d.Stakers = []store.Staker{{Tx: hash(1), Node: node, Subnet: subnet}}
			return &sim.Added{Primary: []sim.PrimaryAdded{{Network: mainnet, Deltas: []*store.PrimaryDelta{d}}}}
		}, 0},
		{"nothing", func(*news) *sim.Added { return &sim.Added{} }, 0},
	} {
		got := promised(t, outbox.ValidatorActivity, Filter{SubEvents: []string{ValidatorStake}}, [][]byte{node}, func(n *news) error { return n.Promise(n.batch, c.added(n)) })
		if len(got) != c.want {
			t.Errorf("%s: %q, want %d", c.name, got, c.want)
		}
	}
	// Time alone reduces balances.
	head, err := w.DB.PrimaryHead(t.Context(), mainnet.Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	from, to := head.Time+10, head.Time+3610
	var node []byte
	var threshold uint64
	promised(t, outbox.ValidatorActivity, Filter{}, nil, func(n *news) error {
		v := active(t, n)
		node, threshold = v.Node, uint64(v.Balance(mainnet.AccruedAt(head, from))+v.Balance(mainnet.AccruedAt(head, to)))/2
		return nil
	})
	got := promised(t, outbox.ValidatorActivity, Filter{SubEvents: ValidatorEvents, L1BalanceThreshold: threshold}, [][]byte{node}, func(n *news) error {
		return n.Promise(n.batch, &sim.Added{From: from * 1000, To: to * 1000})
	})
	if len(got) != 1 || got[0][:len(L1BalanceThreshold)] != L1BalanceThreshold {
		t.Errorf("an hour later: %q", got)
	}
	// On an EVM chain: who takes part, and whose logs begin with a signature.
	evm := w.Chains[0]
	address := binary.BigEndian.AppendUint64(make([]byte, 12), 5)
	topic := hash(4)
	d := &store.Delta{Block: store.Block{ID: store.At(evm.Row.ID, 5, 0), Time: 1000}, Transactions: []store.Transaction{
		{ID: store.At(evm.Row.ID, 5, 0), Sender: address}, {ID: store.At(evm.Row.ID, 5, 1), Sender: address}, {ID: store.At(evm.Row.ID, 5, 2), Sender: owner},
	}, Logs: []store.Log{{Tx: 1, Address: address, Topic: topic}, {Tx: 0, Address: address}, {Tx: 2, Address: owner, Topic: topic}}}
	for what, c := range map[string]struct {
		f    Filter
		want []string
	}{
		"all":                     {Filter{}, []string{"  5/0", "  5/1"}},
		"of a log":                {Filter{EventSignatures: []common.Hash{common.Hash(topic)}}, []string{"  5/1"}},
		"of a log without topics": {Filter{EventSignatures: []common.Hash{{}}}, nil},
		"of no log":               {Filter{EventSignatures: []common.Hash{common.Hash(hash(5))}}, nil},
		"of either":               {Filter{EventSignatures: []common.Hash{common.Hash(hash(5)), common.Hash(topic)}}, []string{"  5/1"}},
	} {
		got := promised(t, outbox.AddressActivity, c.f, [][]byte{address}, func(n *news) error {
			active, err := outbox.Active(t.Context(), n.batch)
			if err != nil {
				return err
			}
			return n.block(n.batch, active, evm.Row.ID, d)
		})
		same(t, what, got, c.want...)
	}
}

// TestTheOldestWebhookIsToldFirst: messages are in the order of webhooks, whatever each of them watches.
func TestTheOldestWebhookIsToldFirst(t *testing.T) {
	promised(t, outbox.ValidatorActivity, Filter{}, [][]byte{node}, func(n *news) error {
		numbers, err := outbox.WatchersOf(n.batch, node)
		if err != nil {
			return err
		}
		oldest := numbers[len(numbers)-2] // the one that wants nothing of it
		if err := errors.Join(outbox.DropKeys(n.batch, oldest, [][]byte{node}), outbox.AddKeys(n.batch, oldest, [][]byte{subnet})); err != nil {
			return err
		}
		found, err := watching(n.batch, n.watchers, [][]byte{node, subnet, node})
		if err != nil {
			return err
		}
		if len(found) != 2 || found[0].ID != oldest || found[1].ID <= oldest {
			t.Errorf("%d found", len(found))
		}
		return nil
	})
}
