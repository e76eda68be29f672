package primary_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/population"
	"snowglobe/seed/primary"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify"
)

// residentsOf returns the residents of a world's first network, with its personas.
func residentsOf(t *testing.T, w *sim.World) (*primary.Residents, *population.Personas) {
	t.Helper()
	personas := must(population.NewPersonas())(t)
	accounts := must(population.NewAccounts(population.RNG(w.Meta.Seed), 60))(t)
	return must(primary.NewResidents(t.Context(), population.RNG(w.Meta.Seed), w.Networks[0], primary.Size{Transactions: 100}, personas, accounts))(t), personas
}

// TestResidentsActInEveryWay lets them act for some months on the three chains, and verifies the world.
func TestResidentsActInEveryWay(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := w.Networks[0]
	residents, people := residentsOf(t, w)
	heads := map[txs.Chain]store.Position{}
	for _, kind := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		chain := n.Chain(kind)
		newest := must(n.DB.PrimaryTxIDs(t.Context(), store.TxRange{High: store.Last(chain), Low: store.First(chain), Limit: 1}))(t)
		heads[kind] = newest[0]
	}
	acted := map[txs.Chain]int{}
	traveller := people.Traveller.Primary.Address()
	waiting := func() int {
		return len(must(n.DB.UnspentUTXOsOfAddress(t.Context(), traveller[:], n.Chain(txs.CChain)))(t))
	}
	before := waiting()
	for i := range 200 {
		if err := w.Advance(t.Context(), w.Clock.Now().Add(17*time.Hour)); err != nil {
			t.Fatal(err)
		}
		kind := []txs.Chain{txs.PChain, txs.PChain, txs.PChain, txs.XChain, txs.CChain}[i%5]
		if err := residents.Act(t.Context(), kind, uint64(w.Clock.Unix())); err != nil {
			t.Logf("on %s at step %d: %v", kind, i, err) // the network may refuse an action
		} else {
			acted[kind]++
		}
	}
	seen := map[string]int{}
	for kind, head := range heads {
		made := must(n.DB.PrimaryTxsBetween(t.Context(), head+1, store.Last(n.Chain(kind))))(t)
		if kind != txs.PChain && len(made) != acted[kind] {
			t.Errorf("on %s %d actions make %d transactions", kind, acted[kind], len(made))
		}
		for _, row := range must(n.DB.PrimaryTxsBetween(t.Context(), head+1, store.Last(n.Chain(kind))))(t) {
			seen[kind.String()+" "+row.Type]++
		}
	}
	for _, what := range []string{"P AddPermissionlessDelegatorTx", "P IncreaseL1ValidatorBalanceTx", "P BaseTx", "X BaseTx", "C ImportTx", "C ExportTx"} {
		if seen[what] == 0 {
			t.Errorf("there was no %s: %v", what, seen)
		}
	}
	if seen["P AddPermissionlessValidatorTx"]+seen["P AddAutoRenewedValidatorTx"] == 0 || seen["P ExportTx"]+seen["X ExportTx"] == 0 || seen["P ImportTx"]+seen["X ImportTx"] == 0 {
		t.Errorf("nobody validates again, exports or imports: %v", seen)
	}
	if after := waiting(); before == 0 || after != before {
		t.Errorf("of the traveller's %d exports that wait for the C-Chain %d are left", before, after)
	}
	for _, role := range []string{"completed", "refused", "uptime-lost"} { // they stay as they ended
		for _, node := range must(n.DB.Nodes(t.Context(), 1))(t) {
			if node.Role == role && len(must(n.DB.StakersOfNode(t.Context(), n.Chain(txs.PChain), node.Node))(t)) == 0 {
				t.Errorf("%s is gone", role)
			}
		}
	}
	if _, err := verify.Verify(t.Context(), w, nil); err != nil {
		t.Error(err)
	}
}

// TestTheSameResidentsDoTheSame acts in two copies of a world.
func TestTheSameResidentsDoTheSame(t *testing.T) {
	var digests []string
	for range 2 {
		w := seedtest.Copy(t, 2)
		residents, _ := residentsOf(t, w)
		for i := range 24 {
			if err := w.Advance(t.Context(), w.Clock.Now().Add(5*time.Hour)); err != nil {
				t.Fatal(err)
			}
			if err := residents.Act(t.Context(), []txs.Chain{txs.PChain, txs.XChain, txs.CChain}[i%3], uint64(w.Clock.Unix())); err != nil {
				t.Log(err)
			}
		}
		var all strings.Builder
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
			all.Write(must(w.DB.PrimaryHead(t.Context(), w.Networks[0].Chain(kind)))(t).Digest)
		}
		digests = append(digests, all.String())
	}
	if digests[0] != digests[1] {
		t.Error("the second time they did something else")
	}
}

// TestAssetsArePaid pays what an account has, what it may mint, and on the P-Chain what it exports; without enough it says how much there is.
func TestAssetsArePaid(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := w.Networks[0]
	residents, people := residentsOf(t, w)
	assets := must(n.DB.Assets(t.Context(), n.Chain(txs.XChain)))(t)
	named := func(what string) ids.ID {
		i := slices.IndexFunc(assets, func(a store.PrimaryAsset) bool { return strings.HasSuffix(a.Name, what) })
		if i < 0 {
			t.Fatalf("there is no %s", what)
		}
		return ids.ID(assets[i].Hash)
	}
	to := txs.NewOwner(ids.ShortID{42})
	held := func(chain txs.Chain, asset ids.ID, who ids.ShortID) (sum uint64) {
		for _, u := range must(n.DB.UnspentUTXOsOfAddress(t.Context(), who[:], n.Chain(chain)))(t) {
			if ids.ID(u.Asset) == asset && u.ID.Chain() == u.Chain {
				sum += uint64(u.Amount)
			}
		}
		return sum
	}
	ctx := context.Background()
	coin, credit := named(" Coin"), named(" Credit")
	before := held(txs.XChain, coin, people.Alice.Primary.Address())
	for _, c := range []struct {
		chain  txs.Chain
		who    *population.Account
		asset  ids.ID
		amount uint64
		kind   string
	}{
		{txs.XChain, people.Alice, coin, 1_000, "BaseTx"}, {txs.XChain, people.Deployer, credit, 777, "OperationTx"},
		{txs.PChain, people.Alice, coin, 555, "ImportTx"}, {txs.PChain, people.Deployer, credit, 333, "ImportTx"},
	} {
		old := held(c.chain, c.asset, ids.ShortID{42})
		tx, err := residents.PayAsset(ctx, c.chain, c.who, c.asset, to, c.amount)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if got := held(c.chain, c.asset, ids.ShortID{42}) - old; got != c.amount || tx.TypeName() != c.kind {
			t.Errorf("paid are %d by a %s: want %d by a %s", got, tx.TypeName(), c.amount, c.kind)
		}
	}
	if have := held(txs.XChain, coin, people.Alice.Primary.Address()); have != before-1_555 {
		t.Errorf("alice has %d of the coin left: want %d", have, before-1_555)
	}
	_, err := residents.PayAsset(ctx, txs.XChain, people.Alice, coin, to, before)
	var funds *primary.FundsError
	if !errors.As(err, &funds) || !strings.Contains(err.Error(), coin.String()) {
		t.Errorf("with too little: %v", err)
	}
	if _, err := verify.Verify(t.Context(), w, nil); err != nil {
		t.Error(err)
	}
}

// TestPeoplePayMoveAndStake does what a world's file may ask of its accounts, with enough and with too little.
func TestPeoplePayMoveAndStake(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := w.Networks[0]
	_, people := residentsOf(t, w)
	payer, to := primary.NewPayer(n), txs.NewOwner(ids.ShortID{43})
	ctx := context.Background()
	received := func(source, chain txs.Chain) (sum uint64) {
		for _, u := range must(n.DB.UnspentUTXOsOfAddress(ctx, to.Addresses[0][:], n.Chain(chain)))(t) {
			if u.ID.Chain() == n.Chain(source) {
				sum += uint64(u.Amount)
			}
		}
		return sum
	}
	for _, chain := range []txs.Chain{txs.PChain, txs.XChain} {
		tx, err := payer.Pay(ctx, chain, people.Whale, to, 3*avax)
		if err != nil || tx.TypeName() != "BaseTx" || received(chain, chain) != 3*avax {
			t.Errorf("on %s %d are paid: %v", chain, received(chain, chain), err)
		}
		var funds *primary.FundsError
		for _, amount := range []uint64{1 << 62, ownsOf(t, n, chain, people.Bob)} { // all that bob has leaves nothing for the fee
			_, err := payer.Pay(ctx, chain, people.Bob, to, amount)
			if !errors.As(err, &funds) || funds.Amount != amount || funds.Owns != ownsOf(t, n, chain, people.Bob) || funds.Chain != chain || !strings.Contains(err.Error(), "the sender cannot pay") {
				t.Errorf("bob pays %d on %s: %v", amount, chain, err)
			}
		}
		for _, other := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
			if other == chain {
				continue
			}
			tx, err := payer.Export(ctx, chain, other, people.Whale, to, 2*avax)
			if err != nil || tx.TypeName() != "ExportTx" || received(chain, other) != 2*avax {
				t.Errorf("%d are on the way from %s to %s: %v", received(chain, other), chain, other, err)
			}
		}
	}
	for _, way := range [][2]txs.Chain{{txs.PChain, txs.XChain}, {txs.XChain, txs.CChain}, {txs.CChain, txs.PChain}} {
		before := ownsOf(t, n, way[1], people.Whale)
		if err := payer.Move(ctx, people.Whale, way[0], way[1], 5*avax); err != nil {
			t.Errorf("from %s to %s: %v", way[0], way[1], err)
		}
		if after := ownsOf(t, n, way[1], people.Whale); way[1] != txs.CChain && (after <= before+4*avax || after > before+5*avax) {
			t.Errorf("on %s the whale had %d and has %d", way[1], before, after)
		}
		if err := payer.Move(ctx, people.Fresh, way[0], way[1], 1<<60); err == nil || !strings.HasPrefix(err.Error(), "export of ") || !strings.Contains(err.Error(), "the balance does not cover it") {
			t.Errorf("too much from %s to %s: %v", way[0], way[1], err)
		}
	}
	if _, err := verify.Verify(ctx, w, nil); err != nil {
		t.Error(err)
	}
}

// ownsOf returns the nAVAX that an account can spend at once on a chain.
func ownsOf(t *testing.T, n *sim.Network, chain txs.Chain, who *population.Account) (sum uint64) {
	t.Helper()
	address := who.Primary.Address()
	for _, u := range must(n.DB.UnspentUTXOsOfAddress(t.Context(), address[:], n.Chain(chain)))(t) {
		parsed := must(txs.ParseUTXO(txs.PChain, u.Bytes()))(t)
		_, transfer := parsed.Out.(*txs.TransferOutput)
		if o := parsed.Owners(); transfer && parsed.AssetID == n.Rules.AVAXAssetID && u.ID.Chain() == u.Chain && len(o.Addresses) == 1 && o.Locktime == 0 {
			sum += parsed.Amount()
		}
	}
	return sum
}
