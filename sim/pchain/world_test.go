package pchain

import (
	"errors"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/warp"
	"snowglobe/sim/xchain"
)

const (
	start  = 1_770_000_000
	nAVAX  = 1_000_000_000
	oneDay = 24 * 60 * 60
)

// local is the network on which the fixtures in testdata/node were recorded.
var local = localNetwork()

func localNetwork() *rules.Network {
	n := *rules.Mainnet
	n.NetworkID, n.HRP = 12345, "local"
	n.XChainID = id("2eNy1mUFdmaxXNj1eQHUe7Np4gju9sJsEtWQ4MX3ToiNKuADed")
	n.CChainID = id("2owdGqyG6FFzTHy5qhenDXQcEghvr571KZE3gSfRJERSJinuwC")
	n.AVAXAssetID = id("2fombhL7aGPwj3KH4bfrmJwW6PVnMobf9Y2fn9GwxiAAJyFDbe")
	n.CreateAssetFee = n.TxFee
	n.Upgrades.Helicon = fixtures.Unscheduled
	n.BaseStaking.MinValidationDuration, n.BaseStaking.MinDelegationDuration = oneDay, oneDay
	n.ValidatorFees.MinPrice, n.ValidatorFees.ExcessConversion = 1, 865_617
	return &n
}

// id parses a constant of a test.
func id(cb58 string) ids.ID {
	id, err := ids.FromString(cb58)
	if err != nil {
		panic(err)
	}
	return id
}

// world is a small network for tests: three chains, a few keys with AVAX.
type world struct {
	t      *testing.T
	shared *utxo.SharedMemory
	p      *Chain
	x      *xchain.Chain
	c      *utxo.AtomicBackend
	keys   []*txs.Key
	blocks []*txs.Block // of the P-Chain
}

func testKey(t testing.TB, n byte) *txs.Key {
	t.Helper()
	key, err := txs.KeyFromBytes([]byte{31: n + 1})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// genesisUTXOs gives each key the same amount.
func genesisUTXOs(keys []*txs.Key, amount uint64) []*txs.UTXO {
	var utxos []*txs.UTXO
	for i, key := range keys {
		utxos = append(utxos, &txs.UTXO{
			UTXOID:  txs.UTXOID{OutputIndex: uint32(i)},
			AssetID: local.AVAXAssetID,
			Out:     &txs.TransferOutput{Amount: amount, OutputOwners: txs.NewOwner(key.Address())},
		})
	}
	return utxos
}

func newWorld(t *testing.T) *world { return newWorldOn(t, local) }

// newWorldOn makes the world on a network with local's ids.
func newWorldOn(t *testing.T, network *rules.Network) *world {
	t.Helper()
	w := &world{t: t, shared: utxo.NewSharedMemory()}
	for i := range 4 {
		w.keys = append(w.keys, testKey(t, byte(i)))
	}
	w.p = New(network, w.shared, Snapshot{
		Time: start, Supply: 360_000_000 * nAVAX, Fees: rules.FeeState{Capacity: 1_000_000}, UTXOs: genesisUTXOs(w.keys, 10_000_000*nAVAX),
	})
	avaxAsset := &xchain.Asset{ID: local.AVAXAssetID, Name: "Avalanche", Symbol: "AVAX", Denomination: 9, Fxs: []uint32{0}}
	w.x = xchain.New(network, w.shared, []*xchain.Asset{avaxAsset}, genesisUTXOs(w.keys, 1000*nAVAX))
	w.x.SetTip(ids.Empty, 0, start)
	w.c = utxo.NewAtomicBackend(network, w.shared)
	return w
}

// funds finds a key's plain outputs, in a fixed order.
func funds(s *utxo.UTXOState, key *txs.Key, asset ids.ID) []*txs.UTXO {
	var found []*txs.UTXO
	for u := range s.UTXOs() {
		out, ok := u.Out.(*txs.TransferOutput)
		owner := txs.NewOwner(key.Address())
		if ok && u.AssetID == asset && out.OutputOwners.Equals(&owner) {
			found = append(found, u)
		}
	}
	slices.SortFunc(found, func(a, b *txs.UTXO) int { return a.UTXOID.Compare(b.UTXOID) })
	return found
}

func spending(u *txs.UTXO, indices ...uint32) *txs.TransferableInput {
	return &txs.TransferableInput{UTXOID: u.UTXOID, AssetID: u.AssetID, In: &txs.TransferInput{Amount: u.Amount(), Input: txs.Input{SigIndices: indices}}}
}

// baseOf spends all of a key's AVAX; the rest, after outs and more, is change.
func baseOf(s *utxo.UTXOState, key *txs.Key, fee, more uint64, outs ...*txs.TransferableOutput) txs.BaseTx {
	base := txs.BaseTx{NetworkID: s.Network.NetworkID, BlockchainID: s.Network.BlockchainID(s.Chain()), Memo: txs.HexBytes{}}
	var total uint64
	for _, u := range funds(s, key, s.Network.AVAXAssetID) {
		base.Ins = append(base.Ins, spending(u, 0))
		total += u.Amount()
	}
	for _, out := range outs {
		if out.AssetID == s.Network.AVAXAssetID {
			total -= txs.AmountOf(out.Out)
		}
	}
	base.Outs = append(base.Outs, outs...)
	base.Outs = append(base.Outs, txs.NewTransferableOutput(s.Network.AVAXAssetID, total-fee-more, txs.NewOwner(key.Address())))
	if err := txs.SortOutputs(s.Chain(), base.Outs); err != nil {
		panic(err)
	}
	return base
}

// signers returns one key for each input and for further authorizations.
func signers(base txs.BaseTx, key *txs.Key, more ...[]*txs.Key) [][]*txs.Key {
	var all [][]*txs.Key
	for range base.Ins {
		all = append(all, []*txs.Key{key})
	}
	return append(all, more...)
}

func must[T any](t testing.TB, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// pChainTx builds a P-Chain transaction that pays exactly its fee from a key's AVAX and deposits or stakes more.
func (w *world) pChainTx(key *txs.Key, more uint64, build func(txs.BaseTx) txs.Unsigned, auths ...[]*txs.Key) *txs.Tx {
	w.t.Helper()
	return w.pChainTxAt(w.p.Time(), key, more, build, auths...)
}

func (w *world) pChainTxAt(time uint64, key *txs.Key, more uint64, build func(txs.BaseTx) txs.Unsigned, auths ...[]*txs.Key) *txs.Tx {
	w.t.Helper()
	fee, err := w.p.Fee(build(baseOf(&w.p.UTXOState, key, 0, more)), time)
	if err != nil {
		w.t.Fatal(err)
	}
	base := baseOf(&w.p.UTXOState, key, fee, more)
	tx, err := txs.NewSigned(txs.PChain, build(base), signers(base, key, auths...)...)
	return must(w.t, tx, err)
}

// accept puts transactions into the next P-Chain block.
func (w *world) accept(time uint64, transactions ...*txs.Tx) []*Diff {
	w.t.Helper()
	b, err := w.p.BuildBlock(time, transactions)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.acceptBlock(b)
}

func (w *world) acceptBlock(b *txs.Block) []*Diff {
	w.t.Helper()
	diffs, err := w.p.Accept(b)
	if err != nil {
		w.t.Fatal(err)
	}
	w.blocks = append(w.blocks, b)
	return diffs
}

// refuse expects a P-Chain transaction to be refused with this error.
func (w *world) refuse(want error, tx *txs.Tx) {
	w.t.Helper()
	b, err := w.p.BuildBlock(w.p.Time(), []*txs.Tx{tx})
	if err != nil {
		w.t.Fatal(err)
	}
	wantError(w.t, w.p.acceptOnly(b), want)
}

func (p *Chain) acceptOnly(b *txs.Block) error {
	_, err := p.Accept(b)
	return err
}

func blsKey(n byte) *warp.SecretKey { return warp.NewSecretKey([32]byte{31: n + 1}) }

func (w *world) signer(n byte) *txs.ProofOfPossession {
	w.t.Helper()
	signer, err := txs.NewProofOfPossession(blsKey(n))
	return must(w.t, signer, err)
}

func wantError(t testing.TB, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("error %v, want %v", got, want)
	}
}
