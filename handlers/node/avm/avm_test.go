package avm_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/avm"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

type Object = rpctest.Object

// node serves the X-Chain's methods and the wallet's.
type node struct {
	*rpctest.Client
	network *sim.Network
}

func serve(t testing.TB, n *sim.Network) *node {
	t.Helper()
	x := avm.New(n)
	return &node{rpctest.New(t, rpc.Service{Name: "avm", Methods: x}, rpc.Service{Name: "wallet", Methods: avm.NewWallet(x)}), n}
}

func (n *node) chain() int { return n.network.Chain(txs.XChain) }

func (n *node) address(owner ids.ShortID) string { return n.network.Rules.Address(txs.XChain, owner) }

// unspent lists the chain's own unspent outputs, newest first.
func (n *node) unspent() (all []*txs.UTXO) {
	n.Helper()
	rows, err := n.network.DB.UTXOsMadeBy(n.Context(), n.chain())
	if err != nil {
		n.Fatal(err)
	}
	slices.SortFunc(rows, func(a, b store.UTXO) int { return cmp.Compare(b.ID, a.ID) })
	for _, row := range rows {
		if row.Spent != nil || row.Chain != n.chain() {
			continue
		}
		u, err := txs.ParseUTXO(txs.XChain, row.Bytes())
		if err != nil {
			n.Fatal(err)
		}
		all = append(all, u)
	}
	return all
}

type utxoID struct {
	TxID        ids.ID `json:"txID"`
	OutputIndex uint32 `json:"outputIndex"`
}

// checkBalances recomputes an owner's balances from all outputs.
func (n *node) checkBalances(all []*txs.UTXO, owner ids.ShortID, partial bool) (held int) {
	n.Helper()
	now, order := uint64(n.network.Clock.Unix()), []ids.ID{}
	sums, made := map[ids.ID]uint64{}, map[ids.ID][]utxoID{}
	for _, u := range all {
		out, amount := u.Out.(*txs.TransferOutput)
		if !amount || !slices.Contains(out.Addresses, owner) || !partial && (len(out.Addresses) > 1 || out.Locktime > now) {
			continue
		}
		if made[u.AssetID] == nil {
			order = append(order, u.AssetID)
		}
		sums[u.AssetID] += out.Amount
		made[u.AssetID] = append(made[u.AssetID], utxoID{u.TxID, u.OutputIndex})
	}
	balances := []Object{}
	for _, asset := range order {
		name := asset.String()
		args := Object{"address": n.address(owner), "assetID": name, "includePartial": partial}
		want := Object{"balance": fmt.Sprint(sums[asset]), "utxoIDs": made[asset]}
		n.Want(want, "avm.getBalance", args)
		if asset == n.network.Rules.AVAXAssetID {
			name = "AVAX"
			args["assetID"] = name
			n.Want(want, "avm.getBalance", args)
		}
		balances = append(balances, Object{"asset": name, "balance": fmt.Sprint(sums[asset])})
	}
	n.Want(Object{"balances": balances}, "avm.getAllBalances", Object{"address": n.address(owner), "includePartial": partial})
	n.Want(Object{"balance": "0", "utxoIDs": []any{}}, "avm.getBalance", Object{"address": owner.String(), "assetID": ids.ID{1}.String(), "includePartial": partial})
	return len(order)
}

// TestBalances recomputes everyone's balances of every asset, whole and partial.
func TestBalances(t *testing.T) {
	for _, network := range seedtest.Shared(t, "tiny", 1).Networks {
		n := serve(t, network)
		all, most := n.unspent(), 0
		seen := map[ids.ShortID]bool{{1}: true}
		for _, u := range all {
			for _, a := range u.Owners().Addresses {
				seen[a] = true
			}
		}
		for owner := range seen {
			n.checkBalances(all, owner, false)
			most = max(most, n.checkBalances(all, owner, true))
		}
		if most < 3 {
			t.Errorf("nobody has more than %d assets", most)
		}
	}
}

// TestBalanceErrors has avalanchego's words for addresses and assets that are none.
func TestBalanceErrors(t *testing.T) {
	n := serve(t, seedtest.Shared(t, "tiny", 1).Networks[0])
	owner := n.address(ids.ShortID{1})
	foreign := n.network.Rules.Address(txs.PChain, ids.ShortID{1})
	for _, method := range []string{"avm.getBalance", "avm.getAllBalances"} {
		for address, why := range map[string]string{
			"":      "no separator found in address",
			"zz":    "no separator found in address",
			foreign: fmt.Sprintf("mismatched chainIDs: expected %q but got %q", n.network.Rules.XChainID, ids.Empty),
		} {
			n.Refuses(fmt.Sprintf("problem parsing address '%s': couldn't parse address %q: %s", address, address, why), method, Object{"address": address, "assetID": "AVAX"})
		}
	}
	for _, asset := range []string{"", "nope", "avax"} {
		n.Refuses("asset '"+asset+"' not found", "avm.getBalance", Object{"address": owner, "assetID": asset})
		n.Refuses("asset '"+asset+"' not found", "avm.getAssetDescription", Object{"assetID": asset})
	}
}

// TestAssets describes every asset by its id, and AVAX by its alias.
func TestAssets(t *testing.T) {
	for _, network := range seedtest.Shared(t, "tiny", 1).Networks {
		n := serve(t, network)
		n.Want(Object{"assetID": network.Rules.AVAXAssetID, "name": "Avalanche", "symbol": "AVAX", "denomination": "9"}, "avm.getAssetDescription", Object{"assetID": "AVAX"})
		rows, err := network.DB.PrimaryTxsBetween(t.Context(), store.First(n.chain()), store.Last(n.chain()))
		if err != nil {
			t.Fatal(err)
		}
		assets, others := 0, 0
		for _, row := range rows {
			tx, err := txs.ReadTx(txs.XChain, ids.ID(row.Hash), row.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			args := Object{"assetID": tx.ID()}
			switch u := tx.Unsigned.(type) {
			case *txs.CreateAssetTx:
				assets++
				n.Want(Object{"assetID": tx.ID(), "name": u.Name, "symbol": u.Symbol, "denomination": fmt.Sprint(u.Denomination)}, "avm.getAssetDescription", args)
			default:
				others++
				n.Refuses("transaction doesn't create an asset", "avm.getAssetDescription", args)
			}
		}
		if assets < 4 || others < 10 {
			t.Errorf("%d assets and %d other transactions", assets, others)
		}
		n.Refuses("not found", "avm.getAssetDescription", Object{"assetID": ids.ID{1}})
	}
}

// TestTransactions finds accepted transactions by their ids, and nothing else.
func TestTransactions(t *testing.T) {
	n := serve(t, seedtest.Shared(t, "tiny", 1).Networks[1])
	n.Want(Object{"txFee": "1000000", "createAssetTxFee": "10000000"}, "avm.getTxFee", Object{})
	rows, err := n.network.DB.PrimaryTxsBetween(t.Context(), store.First(n.chain()), store.Last(n.chain()))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		id := ids.ID(row.Hash)
		n.Want(Object{"tx": fmt.Sprintf("0x%x", []byte(row.Bytes)), "encoding": "hexnc"}, "avm.getTx", Object{"txID": id, "encoding": "hexnc"})
		n.Want(Object{"status": "Accepted"}, "avm.getTxStatus", Object{"txID": id})
	}
	n.Refuses("not found", "avm.getTx", Object{"txID": ids.ID{1}})
	n.Want(Object{"status": "Unknown"}, "avm.getTxStatus", Object{"txID": ids.ID{1}})
	for _, none := range []any{nil, ids.Empty} {
		n.Refuses("nil transaction ID", "avm.getTx", Object{"txID": none})
		n.Refuses("nil transaction ID", "avm.getTxStatus", Object{"txID": none})
	}
	for _, malformed := range []any{"", "0OIl", "0x1234", 1} {
		n.Refuses(rpctest.Malformed, "avm.getTx", Object{"txID": malformed})
		n.Refuses(rpctest.Malformed, "avm.getTxStatus", Object{"txID": malformed})
	}
}

// signed returns a transaction of alice's that spends one of her outputs.
func (n *node) signed(build func(base txs.BaseTx, owner txs.OutputOwners) txs.Unsigned) *txs.Tx {
	n.Helper()
	key, err := txs.KeyFromBytes(simtest.PersonaKey(n, n.network, "alice"))
	if err != nil {
		n.Fatal(err)
	}
	unsigned := build(*simtest.Payment(n, n.network, txs.XChain).Unsigned.Base(), txs.NewOwner(key.Address()))
	if err := txs.SortOutputs(txs.XChain, unsigned.Base().Outs); err != nil {
		n.Fatal(err)
	}
	tx, err := txs.NewSigned(txs.XChain, unsigned, []*txs.Key{key})
	if err != nil {
		n.Fatal(err)
	}
	return tx
}

func plain(base txs.BaseTx, _ txs.OutputOwners) txs.Unsigned { return &base }

func (n *node) height() string {
	n.Helper()
	return rpctest.Get[struct{ Height string }](n.Client, "avm.getHeight", nil).Height
}

func hexnc(raw []byte) Object { return Object{"tx": fmt.Sprintf("0x%x", raw), "encoding": "hexnc"} }

// TestIssueTx: a transaction is in the next block, and comes there once. The wallet takes it again and makes no block of it.
func TestIssueTx(t *testing.T) {
	n := serve(t, seedtest.Copy(t, 1).Networks[0])
	for i, c := range []struct{ method, again string }{{"avm.issueTx", "wallet.issueTx"}, {"wallet.issueTx", "avm.issueTx"}} {
		tx, before := n.signed(plain), n.height()
		n.Want(Object{"status": "Unknown"}, "avm.getTxStatus", Object{"txID": tx.ID()})
		n.Want(Object{"txID": tx.ID()}, c.method, hexnc(tx.Bytes()))
		n.Want(Object{"status": "Accepted"}, "avm.getTxStatus", Object{"txID": tx.ID()})
		after := n.height()
		if after == before {
			t.Errorf("%s made no block", c.method)
		}
		if i == 0 {
			n.Want(Object{"txID": tx.ID()}, c.again, hexnc(tx.Bytes()))
		} else {
			spent := tx.Unsigned.Base().Ins[0].UTXOID.InputID()
			n.Refuses("failed to verify transfer: failed to get utxo "+spent.String()+": not found", c.again, hexnc(tx.Bytes()))
		}
		if n.height() != after {
			t.Errorf("%s made a block of the same transaction", c.again)
		}
	}
	tx := n.signed(func(base txs.BaseTx, _ txs.OutputOwners) txs.Unsigned { base.NetworkID++; return &base })
	for _, method := range []string{"avm.issueTx", "wallet.issueTx"} {
		n.Refuses("tx has wrong network ID", method, hexnc(tx.Bytes()))
		n.Refuses("couldn't unpack codec version", method, Object{})
		n.Refuses("problem decoding transaction: missing 0x prefix to hex encoding", method, Object{"tx": "zz"})
		n.Refuses("couldn't unmarshal interface: unknown type ID 4294967295", method, Object{"tx": "0x0000ffffffff", "encoding": "hexnc"})
		n.Refuses(rpctest.Malformed, method, Object{"tx": 7})
	}
}

// TestLargeTransactions: a node takes 64 KiB, and not a byte more.
func TestLargeTransactions(t *testing.T) {
	n := serve(t, seedtest.Copy(t, 1).Networks[0])
	sized := func(size int) *txs.Tx {
		return n.signed(func(base txs.BaseTx, owner txs.OutputOwners) txs.Unsigned {
			tx := &txs.CreateAssetTx{BaseTx: base, Name: "Large", Symbol: "BIG", States: []*txs.InitialState{{}}}
			for range 1000 {
				tx.States[0].Outs = append(tx.States[0].Outs, &txs.TransferOutput{Amount: 1, OutputOwners: owner})
			}
			whole := n.sizeOf(tx)
			each := (whole - n.sizeOf(&txs.CreateAssetTx{BaseTx: base, Name: "Large", Symbol: "BIG", States: []*txs.InitialState{{}}})) / 1000
			for whole+each <= size {
				tx.States[0].Outs = append(tx.States[0].Outs, tx.States[0].Outs[0])
				whole += each
			}
			tx.Name += strings.Repeat("r", size-whole)
			return tx
		})
	}
	tx := sized(64<<10 + 1)
	for _, method := range []string{"avm.issueTx", "wallet.issueTx"} {
		n.Refuses(fmt.Sprintf("tx too large: %s size (65537) > max size (65536)", tx.ID()), method, hexnc(tx.Bytes()))
	}
	tx = sized(64 << 10)
	n.Want(Object{"txID": tx.ID()}, "avm.issueTx", hexnc(tx.Bytes()))
}

// sizeOf returns how long a transaction is with one signature.
func (n *node) sizeOf(unsigned txs.Unsigned) int {
	n.Helper()
	key, err := txs.KeyFromBytes(simtest.PersonaKey(n, n.network, "alice"))
	if err != nil {
		n.Fatal(err)
	}
	tx, err := txs.NewSigned(txs.XChain, unsigned, []*txs.Key{key})
	if err != nil {
		n.Fatal(err)
	}
	return len(tx.Bytes())
}

// TestLocktime: an output counts from its locktime on, and as a part before.
func TestLocktime(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := serve(t, w.Networks[0])
	owner, until := ids.ShortID{1}, w.Clock.Unix()+60
	tx := n.signed(func(base txs.BaseTx, _ txs.OutputOwners) txs.Unsigned {
		base.Outs[0].Out.(*txs.TransferOutput).Amount -= 5
		base.Outs = append(base.Outs, txs.NewTransferableOutput(n.network.Rules.AVAXAssetID, 5, txs.NewOutputOwners(uint64(until), 1, owner)))
		return &base
	})
	n.Want(Object{"txID": tx.ID()}, "avm.issueTx", hexnc(tx.Bytes()))
	for _, c := range []struct {
		at      int64
		balance string
	}{{until - 1, "0"}, {until, "5"}} {
		if err := w.Advance(t.Context(), time.Unix(c.at, 0)); err != nil {
			t.Fatal(err)
		}
		for partial, want := range map[bool]string{false: c.balance, true: "5"} {
			have := rpctest.Get[struct{ Balance string }](n.Client, "avm.getBalance", Object{"address": n.address(owner), "assetID": "AVAX", "includePartial": partial})
			if have.Balance != want {
				t.Errorf("%d s before, partial %v: %s, want %s", until-c.at, partial, have.Balance, want)
			}
		}
	}
}

// TestOverflow: a sum that no number holds is an error for one asset, and the largest number among all.
func TestOverflow(t *testing.T) {
	n := serve(t, seedtest.Copy(t, 1).Networks[0])
	rich, exact := ids.ShortID{1}, ids.ShortID{2}
	tx := n.signed(func(base txs.BaseTx, _ txs.OutputOwners) txs.Unsigned {
		out := func(amount uint64, to ids.ShortID) txs.Output {
			return &txs.TransferOutput{Amount: amount, OutputOwners: txs.NewOwner(to)}
		}
		state := &txs.InitialState{Outs: []txs.Output{out(1, rich), out(1, exact), out(math.MaxUint64-1, exact), out(math.MaxUint64, rich)}}
		return &txs.CreateAssetTx{BaseTx: base, Name: "Plenty", Symbol: "MUCH", States: []*txs.InitialState{state}}
	})
	n.Want(Object{"txID": tx.ID()}, "avm.issueTx", hexnc(tx.Bytes()))
	const most = "18446744073709551615"
	n.Refuses("overflow", "avm.getBalance", Object{"address": n.address(rich), "assetID": tx.ID()})
	for _, owner := range []ids.ShortID{rich, exact} {
		n.Want(Object{"balances": []Object{{"asset": tx.ID(), "balance": most}}}, "avm.getAllBalances", Object{"address": n.address(owner)})
	}
	have := rpctest.Get[struct{ Balance string }](n.Client, "avm.getBalance", Object{"address": n.address(exact), "assetID": tx.ID()})
	if have.Balance != most {
		t.Errorf("the balance is %s", have.Balance)
	}
}

// TestFailures: when a read of the file fails, so does the call; no part of an answer is made up.
func TestFailures(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := serve(t, w.Networks[0])
	key, err := txs.KeyFromBytes(simtest.PersonaKey(t, n.network, "alice"))
	if err != nil {
		t.Fatal(err)
	}
	accepted := n.signed(plain)
	n.Want(Object{"txID": accepted.ID()}, "avm.issueTx", hexnc(accepted.Bytes()))
	for method, args := range map[string]Object{
		"avm.getBalance":          {"address": n.address(key.Address()), "assetID": "AVAX"},
		"avm.getAllBalances":      {"address": n.address(key.Address())},
		"avm.getAssetDescription": {"assetID": n.network.Rules.AVAXAssetID},
		"avm.getTx":               {"txID": accepted.ID()},
		"avm.getTxStatus":         {"txID": accepted.ID()},
		"wallet.issueTx":          hexnc(accepted.Bytes()),
	} {
		rpctest.FailEach(t, w.DB, func() error { _, err := n.Ask(method, args); return err })
	}
	w.DB.Caches().Suspend()
	w.DB.FailStatements(func(text string) bool { return strings.Contains(text, "FROM primary_tx") })
	if _, err := n.Ask("avm.getAssetDescription", Object{"assetID": ids.ID{1}}); err == nil || !strings.HasPrefix(err.Error(), "-32603 ") {
		t.Error(err)
	}
	w.DB.FailStatements(nil)
}
