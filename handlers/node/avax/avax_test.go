package avax_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/avax"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

type Object = rpctest.Object

// codecVersion is the length of the version before the bytes of a transaction; a block has it once.
const codecVersion = 2

// node serves the methods for atomic transactions of a network's C-Chain.
type node struct {
	*rpctest.Client
	network *sim.Network
}

func serve(t testing.TB, n *sim.Network) *node {
	t.Helper()
	return &node{rpctest.New(t, rpc.Service{Name: "avax", Methods: avax.New(n)}), n}
}

// accepted lists the chain's atomic transactions.
func (n *node) accepted() []store.PrimaryTx {
	n.Helper()
	chain := n.network.Chain(txs.CChain)
	rows, err := n.network.DB.PrimaryTxsBetween(n.Context(), store.First(chain), store.Last(chain))
	if err != nil {
		n.Fatal(err)
	}
	return rows
}

// TestTransactions finds every atomic transaction by its id, in the block whose bytes hold it.
func TestTransactions(t *testing.T) {
	for _, network := range seedtest.Shared(t, "tiny", 1).Networks {
		n := serve(t, network)
		rows := n.accepted()
		for _, row := range rows {
			id := ids.ID(row.Hash)
			reply := rpctest.Get[struct {
				Tx, Encoding string
				BlockHeight  uint64 `json:",string"`
			}](n.Client, "avax.getAtomicTx", Object{"txID": id, "encoding": "hexnc"})
			b, err := network.CChain().Block(t.Context(), reply.BlockHeight)
			if err != nil {
				t.Fatal(err)
			}
			if reply.Tx != fmt.Sprintf("0x%x", []byte(row.Bytes)) || reply.Encoding != "hexnc" || !bytes.Contains(b.Row.ExtData, row.Bytes[codecVersion:]) {
				t.Errorf("%s is %+v, in a block with %x", id, reply, b.Row.ExtData)
			}
			n.Want(Object{"status": "Accepted", "blockHeight": fmt.Sprint(reply.BlockHeight)}, "avax.getAtomicTxStatus", Object{"txID": id})
		}
		if len(rows) < 3 {
			t.Errorf("%s has only %d atomic transactions", network.Name, len(rows))
		}
	}
}

// TestUnknown: since Helicon, a node looks up every id alike.
func TestUnknown(t *testing.T) {
	since, before := serve(t, seedtest.Shared(t, "tiny", 1).Networks[0]), serve(t, seedtest.Shared(t, "tiny", 1, "helicon=never").Networks[0])
	for _, id := range []any{ids.ID{1}, ids.Empty, nil} {
		since.Refuses("fetching tx: reading tx: not found", "avax.getAtomicTx", Object{"txID": id})
		since.Want(Object{"status": "Unknown"}, "avax.getAtomicTxStatus", Object{"txID": id})
	}
	before.Refuses("could not find tx "+ids.ID{1}.String(), "avax.getAtomicTx", Object{"txID": ids.ID{1}})
	before.Want(Object{"status": "Unknown"}, "avax.getAtomicTxStatus", Object{"txID": ids.ID{1}})
	for _, none := range []any{ids.Empty, nil} {
		before.Refuses("nil transaction ID", "avax.getAtomicTx", Object{"txID": none})
		before.Refuses("nil transaction ID", "avax.getAtomicTxStatus", Object{"txID": none})
	}
	for _, n := range []*node{since, before} {
		n.Refuses(rpctest.Malformed, "avax.getAtomicTx", Object{"txID": "nope"})
	}
}

// exported lists the outputs that one chain exported to the C-Chain and that are unspent, as their bytes by owner.
func (n *node) exported(from txs.Chain) map[ids.ShortID][]string {
	n.Helper()
	rows, err := n.network.DB.UTXOsMadeBy(n.Context(), n.network.Chain(from))
	if err != nil {
		n.Fatal(err)
	}
	slices.SortFunc(rows, func(a, b store.UTXO) int { return cmp.Compare(a.ID, b.ID) })
	all := map[ids.ShortID][]string{}
	for _, row := range rows {
		if row.Spent != nil || row.Chain != n.network.Chain(txs.CChain) {
			continue
		}
		u, err := txs.ParseUTXO(from, row.Bytes())
		if err != nil {
			n.Fatal(err)
		}
		for _, owner := range u.Owners().Addresses {
			all[owner] = append(all[owner], fmt.Sprintf("0x%x", row.Bytes()))
		}
	}
	return all
}

// TestUTXOs lists what other chains exported, and refuses questions without an owner or a source.
func TestUTXOs(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := serve(t, w.Networks[0])
	n.export(txs.XChain)
	n.export(txs.PChain)
	found := 0
	for name, from := range map[string]txs.Chain{"X": txs.XChain, "P": txs.PChain} {
		for owner, want := range n.exported(from) {
			address := n.network.Rules.Address(txs.CChain, owner)
			reply := rpctest.Get[struct {
				NumFetched uint64 `json:",string"`
				UTXOs      []string
			}](n.Client, "avax.getUTXOs", Object{"addresses": []string{address}, "sourceChain": name, "encoding": "hexnc"})
			slices.Sort(want)
			slices.Sort(reply.UTXOs)
			if !slices.Equal(reply.UTXOs, want) || reply.NumFetched != uint64(len(want)) {
				t.Errorf("%s has %v of %s, want %v", address, reply, name, want)
			}
			found += len(want)
		}
	}
	address := n.network.Rules.Address(txs.CChain, ids.ShortID{1})
	n.Refuses("no addresses provided", "avax.getUTXOs", Object{"sourceChain": "X"})
	n.Refuses("no source chain provided", "avax.getUTXOs", Object{"addresses": []string{address}})
	n.Refuses(`problem parsing source chainID "nope": there is no ID with alias: nope`, "avax.getUTXOs", Object{"addresses": []string{address}, "sourceChain": "nope"})
	if found < 2 {
		t.Errorf("only %d outputs were compared", found)
	}
}

// key is alice's.
func (n *node) key() *txs.Key {
	n.Helper()
	key, err := txs.KeyFromBytes(simtest.PersonaKey(n, n.network, "alice"))
	if err != nil {
		n.Fatal(err)
	}
	return key
}

// export sends one of alice's outputs to the C-Chain, and returns it as it is there.
func (n *node) export(from txs.Chain) *txs.UTXO {
	n.Helper()
	base, issue := *simtest.Payment(n, n.network, from).Unsigned.Base(), n.network.IssueX
	if from == txs.PChain {
		issue = n.network.IssueP
	}
	outs := base.Outs
	base.Outs = nil
	tx, err := txs.NewSigned(from, &txs.ExportTx{BaseTx: base, DestinationChain: n.network.Rules.CChainID, ExportedOutputs: outs}, []*txs.Key{n.key()})
	if err != nil {
		n.Fatal(err)
	}
	if err := issue(n.Context(), tx); err != nil {
		n.Fatal(err)
	}
	return &txs.UTXO{UTXOID: txs.UTXOID{TxID: tx.ID()}, AssetID: outs[0].AssetID, Out: outs[0].Out}
}

// imported spends an output on the C-Chain, with a generous fee.
func (n *node) imported(u *txs.UTXO, from ids.ID) *txs.Tx {
	n.Helper()
	tx, err := txs.NewSigned(txs.CChain, &txs.AtomicImportTx{
		NetworkID: n.network.Rules.NetworkID, BlockchainID: n.network.Rules.CChainID, SourceChain: from,
		ImportedInputs: []*txs.TransferableInput{{UTXOID: u.UTXOID, AssetID: u.AssetID, In: &txs.TransferInput{Amount: u.Amount(), Input: txs.Input{SigIndices: []uint32{0}}}}},
		Outs:           []txs.EVMOutput{{Address: n.key().EVMAddress(), Amount: u.Amount() / 2, AssetID: u.AssetID}},
	}, []*txs.Key{n.key()})
	if err != nil {
		n.Fatal(err)
	}
	return tx
}

// TestIssueTx imports what X and P exported: each transaction is in the next block, and spends its output.
func TestIssueTx(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := serve(t, w.Networks[0])
	for from, id := range map[txs.Chain]ids.ID{txs.XChain: n.network.Rules.XChainID, txs.PChain: ids.Empty} {
		tx := n.imported(n.export(from), id)
		head, err := n.network.CChain().Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		args := Object{"tx": fmt.Sprintf("0x%x", tx.Bytes()), "encoding": "hexnc"}
		n.Want(Object{"status": "Unknown"}, "avax.getAtomicTxStatus", Object{"txID": tx.ID()})
		n.Want(Object{"txID": tx.ID()}, "avax.issueTx", args)
		n.Want(Object{"status": "Accepted", "blockHeight": fmt.Sprint(head.Number + 1)}, "avax.getAtomicTxStatus", Object{"txID": tx.ID()})
		n.Want(Object{"tx": args["tx"], "encoding": "hexnc", "blockHeight": fmt.Sprint(head.Number + 1)}, "avax.getAtomicTx", Object{"txID": tx.ID(), "encoding": "hexnc"})
		if _, err := n.Ask("avax.issueTx", args); err == nil {
			t.Error("an output was spent twice")
		}
	}
	n.Refuses("problem parsing transaction: couldn't unpack codec version", "avax.issueTx", Object{})
	n.Refuses("problem decoding transaction: missing 0x prefix to hex encoding", "avax.issueTx", Object{"tx": "zz"})
	n.Refuses("problem parsing transaction: couldn't unmarshal interface: unknown type ID 4294967295", "avax.issueTx", Object{"tx": "0x0000ffffffff", "encoding": "hexnc"})
}

// TestFailures: when a read of the file fails, so does the call; no part of an answer is made up.
func TestFailures(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := serve(t, w.Networks[0])
	id := ids.ID(n.accepted()[0].Hash)
	for method, args := range map[string]Object{
		"getAtomicTx": {"txID": id}, "getAtomicTxStatus": {"txID": id},
		"getUTXOs": {"addresses": []string{n.network.Rules.Address(txs.CChain, n.key().Address())}, "sourceChain": "X"},
	} {
		rpctest.FailEach(t, w.DB, func() error { _, err := n.Ask("avax."+method, args); return err })
	}
}
