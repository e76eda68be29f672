package node

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim"
	"snowglobe/sim/network"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

const (
	avax         = 1_000_000_000
	day          = 24 * 60 * 60
	genesisUTXOs = 20 // outputs that alice has on each chain from the beginning, each for one transaction
	testStake    = 3_000 * avax
)

// testNetwork is a small P- and X-Chain under construction. Everything is alice's, who may also be asked to sign for bob.
type testNetwork struct {
	t          testing.TB
	rules      *primary.Network
	net        *network.Network
	creation   *sim.Creation
	alice, bob *primary.Key
	nodes      []store.Node
	now        uint64
	spent      [2]int // genesisUTXOs that were used, on P and X
}

// newTestNetworks is a world of two networks with the same history under different rules.
func newTestNetworks(t testing.TB) []*sim.Ledger {
	t.Helper()
	creation, err := sim.Create(store.Memory, sim.Identity{Profile: "test", Until: time.Unix(genesisTime+10*day, 0)})
	if err != nil {
		t.Fatal(err)
	}
	var participants sim.Cast
	for _, rules := range []*primary.Network{primary.Mainnet, primary.Fuji} {
		l := &testNetwork{t: t, rules: rules, creation: creation, now: genesisTime, alice: testKey(t, 1), bob: testKey(t, 2)}
		row := l.begin()
		l.history()
		participants.Networks, participants.Nodes = append(participants.Networks, row), append(participants.Nodes, l.nodes...)
	}
	w, err := creation.Finish(t.Context(), participants)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w.Ledgers
}

func testKey(t testing.TB, n byte) *primary.Key {
	key, err := primary.KeyFromBytes(common.LeftPadBytes([]byte{n}, 32))
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

// begin makes the genesis: outputs of alice, three validators, one of whom waits, and somebody who waits to delegate.
func (l *testNetwork) begin() store.PrimaryNetwork {
	p := &primary.PlatformGenesis{Timestamp: l.now, InitialSupply: 400_000_000 * avax, Message: "test", Chains: []*primary.Tx{}}
	x := &primary.ExchangeGenesis{Timestamp: l.now, Assets: []*primary.GenesisAsset{{ID: l.rules.AVAXAssetID, Name: "Avalanche", Symbol: "AVAX", Denomination: 9}}}
	for i := range uint32(genesisUTXOs) {
		out := &primary.TransferOutput{Amount: testStake, OutputOwners: primary.Owner(l.alice.Address())}
		p.UTXOs = append(p.UTXOs, &primary.GenesisUTXO{Message: []byte{}, UTXO: l.genesisUTXO(ids.Empty, i, out)})
		u := l.genesisUTXO(l.rules.AVAXAssetID, i, out)
		x.UTXOs = append(x.UTXOs, &u)
	}
	later := &primary.StakeableLockOut{Locktime: l.now + 900*day, Output: &primary.TransferOutput{Amount: 7 * avax, OutputOwners: primary.Owner(l.bob.Address())}}
	p.UTXOs = append(p.UTXOs, &primary.GenesisUTXO{Message: []byte{}, UTXO: l.genesisUTXO(ids.Empty, genesisUTXOs, later)})
	for i := range 3 {
		p.Validators = append(p.Validators, l.genesisValidator(i))
	}
	g := &network.Genesis{Platform: p, Exchange: x}
	net, deltas, err := network.New(l.rules, g)
	if err != nil {
		l.t.Fatal(err)
	}
	l.net = net
	for _, delta := range deltas {
		l.creation.AddPrimaryBlock(delta)
	}
	return must[store.PrimaryNetwork](l.t)(g.Row(l.rules.NetworkID))
}

func (l *testNetwork) genesisUTXO(txID ids.ID, index uint32, out primary.Output) primary.UTXO {
	return primary.UTXO{UTXOID: primary.UTXOID{TxID: txID, OutputIndex: index}, AssetID: l.rules.AVAXAssetID, Out: out}
}

// genesisValidator is a validator of the genesis with its node. The third begins on day 20.
func (l *testNetwork) genesisValidator(i int) *primary.Tx {
	certificate := fmt.Appendf(nil, "certificate %d of network %d", i, l.rules.NetworkID)
	secret := warp.NewSecretKey(sha256.Sum256(certificate))
	key := secret.Bytes()
	node := primary.NodeIDOf(certificate)
	l.nodes = append(l.nodes, store.Node{
		Network: l.rules.NetworkID, Node: node[:], Certificate: certificate, Secret: key[:], Version: "avalanchego/1.14.2",
		IP: "203.0.113.1:9651", Uptime: 987_654, Connected: i != 1,
	})
	v := primary.Validator{NodeID: node, Start: l.now, End: l.now + 300*day, Weight: 2_000 * avax}
	owner := primary.Owner(l.alice.Address())
	stake := []*primary.TransferableOutput{primary.Pay(l.rules.AVAXAssetID, v.Weight, owner)}
	if i == 2 {
		v.Start += 20 * day
		return must[*primary.Tx](l.t)(primary.NewTx(primary.PChain, &primary.AddValidatorTx{BaseTx: l.base(primary.PChain), Validator: v, StakeOuts: stake, RewardsOwner: &owner, Shares: 20_000}))
	}
	return must[*primary.Tx](l.t)(primary.NewTx(primary.PChain, &primary.AddPermissionlessValidatorTx{
		BaseTx: l.base(primary.PChain), Validator: v, Signer: l.proof(i), StakeOuts: stake, ValidationOwner: &owner, DelegationOwner: &owner, DelegationShares: 62_500,
	}))
}

// proof is a node's key with the proof that it has it.
func (l *testNetwork) proof(i int) *primary.ProofOfPossession {
	return must[*primary.ProofOfPossession](l.t)(primary.NewProofOfPossession(warp.NewSecretKey([32]byte(l.nodes[i].Secret))))
}

func (l *testNetwork) base(c primary.Chain) primary.BaseTx {
	return primary.BaseTx{
		NetworkID: l.rules.NetworkID, BlockchainID: l.rules.BlockchainID(c), Memo: primary.HexBytes{},
		Outs: []*primary.TransferableOutput{}, Ins: []*primary.TransferableInput{},
	}
}

// spend is a base that spends alice's next output of the genesis. All but what leaves otherwise comes back to her; a hundredth of an AVAX
// is burned, more than anything costs.
func (l *testNetwork) spend(c primary.Chain, leaves uint64, outs ...*primary.TransferableOutput) primary.BaseTx {
	from := primary.UTXOID{OutputIndex: uint32(l.spent[c])}
	if c == primary.XChain {
		from.TxID = l.rules.AVAXAssetID
	}
	l.spent[c]++
	base := l.base(c)
	base.Ins = append(base.Ins, &primary.TransferableInput{UTXOID: from, AssetID: l.rules.AVAXAssetID, In: &primary.TransferInput{Amount: testStake, Input: first}})
	base.Outs = append(outs, primary.Pay(l.rules.AVAXAssetID, testStake-leaves-avax/100, primary.Owner(l.alice.Address())))
	if err := primary.SortOutputs(c, base.Outs); err != nil {
		l.t.Fatal(err)
	}
	return base
}

// first names the only owner.
var first = primary.Input{SigIndices: []uint32{0}}

// issueP puts a transaction of alice's into the next block of P, an hour after the last one.
func (l *testNetwork) issueP(unsigned primary.Unsigned, signatures int) *primary.Tx {
	l.t.Helper()
	l.now += 3600
	tx := l.signed(primary.PChain, unsigned, signatures)
	b := must[*primary.Block](l.t)(l.net.P.Build(l.now, []*primary.Tx{tx}))
	l.creation.AddPrimaryBlock(must[*store.PrimaryDelta](l.t)(l.net.AcceptP(b, l.proposer())))
	return tx
}

// issueX is issueP for X.
func (l *testNetwork) issueX(unsigned primary.Unsigned, signatures int) *primary.Tx {
	l.t.Helper()
	l.now += 3600
	tx := l.signed(primary.XChain, unsigned, signatures)
	b := must[*primary.Block](l.t)(l.net.X.Build(l.now, []*primary.Tx{tx}))
	l.creation.AddPrimaryBlock(must[*store.PrimaryDelta](l.t)(l.net.AcceptX(b, l.proposer())))
	return tx
}

func (l *testNetwork) proposer() *network.Seat {
	return &network.Seat{Certificate: l.nodes[0].Certificate, PHeight: l.net.P.Height()}
}

func (l *testNetwork) signed(c primary.Chain, unsigned primary.Unsigned, signatures int) *primary.Tx {
	l.t.Helper()
	signers := make([][]*primary.Key, signatures)
	for i := range signers {
		signers[i] = []*primary.Key{l.alice}
	}
	return must[*primary.Tx](l.t)(primary.NewSigned(c, unsigned, signers...))
}
