package primary

import (
	"errors"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/warp"
)

const (
	start  = 1_770_000_000
	nAVAX  = 1_000_000_000
	oneDay = 24 * 60 * 60
)

// local is the network on which the fixtures in testdata/node were recorded.
var local = localNetwork()

func localNetwork() *Network {
	n := *Mainnet
	n.NetworkID, n.HRP = 12345, "local"
	n.XChainID = id("2eNy1mUFdmaxXNj1eQHUe7Np4gju9sJsEtWQ4MX3ToiNKuADed")
	n.CChainID = id("2owdGqyG6FFzTHy5qhenDXQcEghvr571KZE3gSfRJERSJinuwC")
	n.AVAXAssetID = id("2fombhL7aGPwj3KH4bfrmJwW6PVnMobf9Y2fn9GwxiAAJyFDbe")
	n.CreateAssetFee = n.TxFee
	n.Staking.MinStakeDuration = oneDay
	n.ValidatorFees.MinPrice, n.ValidatorFees.ExcessConversion = 1, 865_617
	return &n
}

// id reads a constant of a test.
func id(cb58 string) ids.ID {
	id, err := ids.FromString(cb58)
	if err != nil {
		panic(err)
	}
	return id
}

// world is a small network for tests: three chains, a few keys with money.
type world struct {
	t      *testing.T
	shared *SharedMemory
	p      *Platform
	x      *Exchange
	c      *Bridge
	keys   []*Key
	blocks []*Block // of the P-Chain
}

func testKey(t testing.TB, n byte) *Key {
	t.Helper()
	key, err := KeyFromBytes([]byte{31: n + 1})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// genesisUTXOs gives each key the same amount.
func genesisUTXOs(keys []*Key, amount uint64) []*UTXO {
	var utxos []*UTXO
	for i, key := range keys {
		utxos = append(utxos, &UTXO{
			UTXOID:  UTXOID{OutputIndex: uint32(i)},
			AssetID: local.AVAXAssetID,
			Out:     &TransferOutput{Amount: amount, OutputOwners: Owner(key.Address())},
		})
	}
	return utxos
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, shared: NewSharedMemory()}
	for i := range 4 {
		w.keys = append(w.keys, testKey(t, byte(i)))
	}
	w.p = NewPlatform(local, w.shared, PlatformState{
		Time: start, Supply: 360_000_000 * nAVAX, Fees: FeeState{Capacity: 1_000_000}, UTXOs: genesisUTXOs(w.keys, 10_000_000*nAVAX),
	})
	avaxAsset := &Asset{ID: local.AVAXAssetID, Name: "Avalanche", Symbol: "AVAX", Denomination: 9, Fxs: []uint32{0}}
	w.x = NewExchange(local, w.shared, []*Asset{avaxAsset}, genesisUTXOs(w.keys, 1000*nAVAX))
	w.x.SetTip(ids.Empty, 0, start)
	w.c = NewBridge(local, w.shared)
	return w
}

// funds finds a key's plain outputs, in a fixed order.
func funds(s *UTXOState, key *Key, asset ids.ID) []*UTXO {
	var found []*UTXO
	for u := range s.UTXOs() {
		out, ok := u.Out.(*TransferOutput)
		owner := Owner(key.Address())
		if ok && u.AssetID == asset && out.OutputOwners.equal(&owner) {
			found = append(found, u)
		}
	}
	slices.SortFunc(found, func(a, b *UTXO) int { return a.UTXOID.compare(b.UTXOID) })
	return found
}

func spending(u *UTXO, indices ...uint32) *TransferableInput {
	return &TransferableInput{UTXOID: u.UTXOID, AssetID: u.AssetID, In: &TransferInput{Amount: u.Amount(), Input: Input{SigIndices: indices}}}
}

// baseOf spends all of a key's AVAX; change gets what outs and more leave.
func baseOf(s *UTXOState, key *Key, fee, more uint64, outs ...*TransferableOutput) BaseTx {
	base := BaseTx{NetworkID: s.Network.NetworkID, BlockchainID: s.Network.BlockchainID(s.Chain()), Memo: HexBytes{}}
	var total uint64
	for _, u := range funds(s, key, s.Network.AVAXAssetID) {
		base.Ins = append(base.Ins, spending(u, 0))
		total += u.Amount()
	}
	for _, out := range outs {
		if out.AssetID == s.Network.AVAXAssetID {
			total -= amountOf(out.Out)
		}
	}
	base.Outs = append(base.Outs, outs...)
	base.Outs = append(base.Outs, Pay(s.Network.AVAXAssetID, total-fee-more, Owner(key.Address())))
	if err := SortOutputs(s.Chain(), base.Outs); err != nil {
		panic(err)
	}
	return base
}

// signers are one key for each input and for further authorizations.
func signers(base BaseTx, key *Key, more ...[]*Key) [][]*Key {
	var all [][]*Key
	for range base.Ins {
		all = append(all, []*Key{key})
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

// platformTx builds a P-Chain transaction that pays exactly its fee from a key's money and deposits or stakes more.
func (w *world) platformTx(key *Key, more uint64, build func(BaseTx) Unsigned, auths ...[]*Key) *Tx {
	w.t.Helper()
	return w.platformTxAt(w.p.Time(), key, more, build, auths...)
}

func (w *world) platformTxAt(time uint64, key *Key, more uint64, build func(BaseTx) Unsigned, auths ...[]*Key) *Tx {
	w.t.Helper()
	fee, err := w.p.Fee(build(baseOf(&w.p.UTXOState, key, 0, more)), time)
	if err != nil {
		w.t.Fatal(err)
	}
	base := baseOf(&w.p.UTXOState, key, fee, more)
	tx, err := NewSigned(PChain, build(base), signers(base, key, auths...)...)
	return must(w.t, tx, err)
}

// accept puts transactions into the next P-Chain block.
func (w *world) accept(time uint64, txs ...*Tx) []*PlatformDiff {
	w.t.Helper()
	b, err := w.p.Build(time, txs)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.acceptBlock(b)
}

func (w *world) acceptBlock(b *Block) []*PlatformDiff {
	w.t.Helper()
	diffs, err := w.p.Accept(b)
	if err != nil {
		w.t.Fatal(err)
	}
	w.blocks = append(w.blocks, b)
	return diffs
}

// refuse checks that a P-Chain transaction is refused with this error.
func (w *world) refuse(want error, tx *Tx) {
	w.t.Helper()
	b, err := w.p.Build(w.p.Time(), []*Tx{tx})
	if err != nil {
		w.t.Fatal(err)
	}
	wantError(w.t, w.p.acceptOnly(b), want)
}

func (p *Platform) acceptOnly(b *Block) error {
	_, err := p.Accept(b)
	return err
}

func blsKey(n byte) *warp.SecretKey { return warp.NewSecretKey([32]byte{31: n + 1}) }

func (w *world) signer(n byte) *ProofOfPossession {
	w.t.Helper()
	signer, err := NewProofOfPossession(blsKey(n))
	return must(w.t, signer, err)
}

func wantError(t testing.TB, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("error %v, want %v", got, want)
	}
}
