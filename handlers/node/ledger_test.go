package node

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/sim"
	"snowglobe/sim/pchain"
	"snowglobe/sim/primary"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
	"snowglobe/sim/xchain"
)

const (
	nAVAX        = 1_000_000_000
	day          = 24 * 60 * 60
	genesisUTXOs = 20 // alice has that many outputs on each chain from the beginning, each for one transaction
	testStake    = 3_000 * nAVAX
)

// testNetwork is a small P- and X-Chain under construction. Everything belongs to alice, who may also sign for bob.
type testNetwork struct {
	t          testing.TB
	rules      *rules.Network
	net        *primary.Network
	creation   *sim.Builder
	alice, bob *txs.Key
	nodes      []store.Node
	now        uint64
	spent      [2]int // genesisUTXOs that were used, on P and X
}

// newTestNetworks returns a world of two networks with the same history under different rules.
func newTestNetworks(t testing.TB) []*sim.Network {
	t.Helper()
	creation, err := sim.Create(store.Memory, sim.Identity{Profile: "test", Until: time.Unix(genesisTime+10*day, 0)})
	if err != nil {
		t.Fatal(err)
	}
	var participants sim.Participants
	for _, rules := range []*rules.Network{rules.Mainnet, rules.Fuji} {
		l := &testNetwork{t: t, rules: rules, creation: creation, now: genesisTime, alice: testKey(t, 1), bob: testKey(t, 2)}
		row := l.begin()
		l.history()
		participants.Networks, participants.Nodes = append(participants.Networks, row), append(participants.Nodes, l.nodes...)
	}
	w, err := creation.Finish(t.Context(), participants, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w.Networks
}

func testKey(t testing.TB, n byte) *txs.Key {
	key, err := txs.KeyFromBytes(common.LeftPadBytes([]byte{n}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
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

// begin makes the genesis: outputs of alice, three validators, one of them pending, and a pending delegator.
func (l *testNetwork) begin() store.PrimaryNetwork {
	p := &pchain.PChainGenesis{Timestamp: l.now, InitialSupply: 400_000_000 * nAVAX, Message: "test", Chains: []*txs.Tx{}}
	x := &xchain.XChainGenesis{Timestamp: l.now, Assets: []*xchain.GenesisAsset{{ID: l.rules.AVAXAssetID, Name: "Avalanche", Symbol: "AVAX", Denomination: 9}}}
	for i := range uint32(genesisUTXOs) {
		out := &txs.TransferOutput{Amount: testStake, OutputOwners: txs.NewOwner(l.alice.Address())}
		p.UTXOs = append(p.UTXOs, &pchain.GenesisUTXO{Message: []byte{}, UTXO: l.genesisUTXO(ids.Empty, i, out)})
		u := l.genesisUTXO(l.rules.AVAXAssetID, i, out)
		x.UTXOs = append(x.UTXOs, &u)
	}
	later := &txs.StakeableLockOut{Locktime: l.now + 900*day, Output: &txs.TransferOutput{Amount: 7 * nAVAX, OutputOwners: txs.NewOwner(l.bob.Address())}}
	p.UTXOs = append(p.UTXOs, &pchain.GenesisUTXO{Message: []byte{}, UTXO: l.genesisUTXO(ids.Empty, genesisUTXOs, later)})
	for i := range 3 {
		p.Validators = append(p.Validators, l.genesisValidator(i))
	}
	g := &primary.Genesis{PChain: p, XChain: x}
	net, deltas, err := primary.New(l.rules, g)
	if err != nil {
		l.t.Fatal(err)
	}
	l.net = net
	for _, delta := range deltas {
		l.creation.AddPrimaryBlock(delta)
	}
	return must[store.PrimaryNetwork](l.t)(g.Row(l.rules))
}

func (l *testNetwork) genesisUTXO(txID ids.ID, index uint32, out txs.Output) txs.UTXO {
	return txs.UTXO{UTXOID: txs.UTXOID{TxID: txID, OutputIndex: index}, AssetID: l.rules.AVAXAssetID, Out: out}
}

// genesisValidator returns a validator of the genesis with its node. The third begins on day 20.
func (l *testNetwork) genesisValidator(i int) *txs.Tx {
	certificate := fmt.Appendf(nil, "certificate %d of network %d", i, l.rules.NetworkID)
	secret := warp.NewSecretKey(sha256.Sum256(certificate))
	key := secret.Bytes()
	node := txs.NodeIDOf(certificate)
	l.nodes = append(l.nodes, store.Node{
		Network: l.rules.NetworkID, Node: node[:], Certificate: certificate, Secret: key[:], Version: fixtures.NodeSoftware,
		IP: "203.0.113.1:9651", Uptime: 987_654, Connected: i != 1,
	})
	v := txs.Validator{NodeID: node, Start: l.now, End: l.now + 300*day, Weight: 2_000 * nAVAX}
	owner := txs.NewOwner(l.alice.Address())
	stake := []*txs.TransferableOutput{txs.NewTransferableOutput(l.rules.AVAXAssetID, v.Weight, owner)}
	if i == 2 {
		v.Start += 20 * day
		return must[*txs.Tx](l.t)(txs.NewTx(txs.PChain, &txs.AddValidatorTx{BaseTx: l.base(txs.PChain), Validator: v, StakeOuts: stake, RewardsOwner: &owner, Shares: 20_000}))
	}
	return must[*txs.Tx](l.t)(txs.NewTx(txs.PChain, &txs.AddPermissionlessValidatorTx{
		BaseTx: l.base(txs.PChain), Validator: v, Signer: l.proof(i), StakeOuts: stake, ValidationOwner: &owner, DelegationOwner: &owner, DelegationShares: 62_500,
	}))
}

// proof returns a node's key with its proof of possession.
func (l *testNetwork) proof(i int) *txs.ProofOfPossession {
	return must[*txs.ProofOfPossession](l.t)(txs.NewProofOfPossession(warp.NewSecretKey([32]byte(l.nodes[i].Secret))))
}

func (l *testNetwork) base(c txs.Chain) txs.BaseTx {
	return txs.BaseTx{
		NetworkID: l.rules.NetworkID, BlockchainID: l.rules.BlockchainID(c), Memo: txs.HexBytes{},
		Outs: []*txs.TransferableOutput{}, Ins: []*txs.TransferableInput{},
	}
}

// spend returns a base transaction that spends alice's next genesis output. Everything except other outputs goes back to her; a hundredth of an AVAX
// is burned, which covers every fee.
func (l *testNetwork) spend(c txs.Chain, leaves uint64, outs ...*txs.TransferableOutput) txs.BaseTx {
	from := txs.UTXOID{OutputIndex: uint32(l.spent[c])}
	if c == txs.XChain {
		from.TxID = l.rules.AVAXAssetID
	}
	l.spent[c]++
	base := l.base(c)
	base.Ins = append(base.Ins, &txs.TransferableInput{UTXOID: from, AssetID: l.rules.AVAXAssetID, In: &txs.TransferInput{Amount: testStake, Input: first}})
	base.Outs = append(outs, txs.NewTransferableOutput(l.rules.AVAXAssetID, testStake-leaves-nAVAX/100, txs.NewOwner(l.alice.Address())))
	if err := txs.SortOutputs(c, base.Outs); err != nil {
		l.t.Fatal(err)
	}
	return base
}

// first makes the first key the only owner.
var first = txs.Input{SigIndices: []uint32{0}}

// issueP puts a transaction of alice's into the next block of P, an hour after the last one.
func (l *testNetwork) issueP(unsigned txs.Unsigned, signatures int) *txs.Tx {
	l.t.Helper()
	l.now += 3600
	tx := l.signed(txs.PChain, unsigned, signatures)
	b := must[*txs.Block](l.t)(l.net.P.BuildBlock(l.now, []*txs.Tx{tx}))
	l.creation.AddPrimaryBlock(must[*store.PrimaryDelta](l.t)(l.net.AcceptP(b, l.proposer())))
	return tx
}

// issueX is issueP for X.
func (l *testNetwork) issueX(unsigned txs.Unsigned, signatures int) *txs.Tx {
	l.t.Helper()
	l.now += 3600
	tx := l.signed(txs.XChain, unsigned, signatures)
	b := must[*txs.Block](l.t)(l.net.X.BuildBlock(l.now, []*txs.Tx{tx}))
	l.creation.AddPrimaryBlock(must[*store.PrimaryDelta](l.t)(l.net.AcceptX(b, l.proposer())))
	return tx
}

func (l *testNetwork) proposer() *primary.Proposer {
	return &primary.Proposer{Certificate: l.nodes[0].Certificate, PHeight: l.net.P.Height()}
}

func (l *testNetwork) signed(c txs.Chain, unsigned txs.Unsigned, signatures int) *txs.Tx {
	l.t.Helper()
	signers := make([][]*txs.Key, signatures)
	for i := range signers {
		signers[i] = []*txs.Key{l.alice}
	}
	return must[*txs.Tx](l.t)(txs.NewSigned(c, unsigned, signers...))
}
