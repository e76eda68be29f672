package sim_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures/contracts"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/miner"
	"snowglobe/sim/primary"
	"snowglobe/sim/relayer"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

func copied(t *testing.T) *sim.World {
	t.Helper()
	return seedtest.Copy(t, 3)
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// alice returns the key of the first persona, which has funds everywhere.
func alice(t *testing.T, w *sim.World) *txs.Key {
	t.Helper()
	personas, err := w.DB.Personas(t.Context())
	ok(t, err)
	key, err := txs.KeyFromBytes(personas[0].Key)
	ok(t, err)
	return key
}

// payment returns a P-Chain transaction that a key pays for with its first outputs; build adds the rest.
func payment(t *testing.T, state *primary.Network, key *txs.Key, at, more uint64, build func(txs.BaseTx) txs.Unsigned) (*txs.Tx, error) {
	t.Helper()
	owner := txs.NewOwner(key.Address())
	base := txs.BaseTx{NetworkID: state.Rules.NetworkID, BlockchainID: ids.Empty, Memo: txs.HexBytes{}}
	var total uint64
	for u := range state.P.UTXOs() {
		if out, plain := u.Out.(*txs.TransferOutput); plain && out.OutputOwners.Equals(&owner) && (len(base.Ins) == 0 || u.UTXOID.Compare(base.Ins[0].UTXOID) < 0) {
			base.Ins, total = []*txs.TransferableInput{{UTXOID: u.UTXOID, AssetID: u.AssetID, In: &txs.TransferInput{Amount: out.Amount, Input: txs.Input{SigIndices: []uint32{0}}}}}, out.Amount
		}
	}
	base.Outs = []*txs.TransferableOutput{txs.NewTransferableOutput(state.Rules.AVAXAssetID, 1, owner)}
	fee, err := state.P.Fee(build(base), at)
	if err != nil {
		return nil, err
	}
	base.Outs[0].Out.(*txs.TransferOutput).Amount = total - fee - more
	return txs.NewSigned(txs.PChain, build(base), []*txs.Key{key})
}

func plain(base txs.BaseTx) txs.Unsigned { return &base }

func (p *pChain) height() uint64 {
	p.t.Helper()
	head, err := p.DB.PrimaryHead(p.t.Context(), p.Chain(txs.PChain))
	ok(p.t, err)
	return head.ID.Number()
}

// pChain is the P-Chain of a world's first network.
type pChain struct {
	*sim.Network
	t   *testing.T
	key *txs.Key
}

// pay makes a block of the P-Chain, and returns its transaction.
func (p *pChain) pay() (sent *txs.Tx) {
	p.t.Helper()
	ok(p.t, p.IssueNext(p.t.Context(), txs.PChain, func(state *primary.Network, at uint64) (tx *txs.Tx, err error) {
		sent, err = payment(p.t, state, p.key, at, 0, plain)
		return sent, err
	}))
	return sent
}

// TestMemoryGoesBack: a revert drops what memory holds of the undone history: the validators at a height, and the reasons of refused transactions.
func TestMemoryGoesBack(t *testing.T) {
	w := copied(t)
	p := &pChain{w.Networks[0], t, alice(t, w)}
	s, err := w.TakeSnapshot(t.Context(), "")
	ok(t, err)
	height := p.height()
	before, err := p.CanonicalValidatorSet(t.Context(), ids.Empty, height)
	ok(t, err)
	// In the first history, the P-Chain's next block but one has another validator.
	at := height
	var undone any
	for undone == nil {
		due, err := w.NextDue(t.Context())
		ok(t, err)
		ok(t, w.Advance(t.Context(), due.Add(time.Second)))
		for ; at < p.height() && undone == nil; at++ {
			if set, err := p.CanonicalValidatorSet(t.Context(), ids.Empty, at+1); err != nil {
				t.Fatal(err)
			} else if !reflect.DeepEqual(set, before) {
				undone = set
			}
		}
	}
	tx := p.pay()
	if err := p.IssueP(t.Context(), tx); err == nil || p.DropReason(tx.ID()) == nil {
		t.Errorf("the same transaction again: %v, and the reason %v", err, p.DropReason(tx.ID()))
	}
	ok(t, w.Revert(t.Context(), s.ID, false))
	if reason := p.DropReason(tx.ID()); reason != nil {
		t.Errorf("a transaction of the history that was undone is still refused: %v", reason)
	}
	// The second contains only payments.
	for p.height() < at {
		p.pay()
	}
	after, err := p.CanonicalValidatorSet(t.Context(), ids.Empty, at)
	ok(t, err)
	if !reflect.DeepEqual(after, before) {
		t.Errorf("at height %d the validators are those of the history that was undone", at)
	}
}

// TestSnapshotsAreBounded: their number is limited, and deleting one makes room for another.
func TestSnapshotsAreBounded(t *testing.T) {
	w := copied(t)
	var last *store.Snapshot
	for n := range sim.MaxSnapshots {
		s, err := w.TakeSnapshot(t.Context(), "")
		if err != nil {
			t.Fatalf("snapshot %d: %v", n, err)
		}
		last = s
	}
	if _, err := w.TakeSnapshot(t.Context(), ""); !errors.Is(err, sim.ErrSnapshots) {
		t.Errorf("one more: %v", err)
	}
	ok(t, w.DropSnapshot(t.Context(), last.ID))
	_, err := w.TakeSnapshot(t.Context(), "")
	ok(t, err)
	if err := w.DropSnapshot(t.Context(), 1<<40); err == nil {
		t.Error("a snapshot that there is not is deleted")
	}
}

// call lets an account without a key call a contract, and mines the call.
func call(t *testing.T, m *miner.Miner, from, to common.Address, data []byte) {
	t.Helper()
	id := new(big.Int).SetUint64(m.Chain.Row.EVMID)
	ok(t, m.SendPrepared(t.Context(), from, func(n miner.Next) (*types.Transaction, error) {
		tx := &types.DynamicFeeTx{ChainID: id, Nonce: n.Nonce, Gas: 3_000_000, GasTipCap: new(big.Int), GasFeeCap: new(big.Int).Mul(n.BaseFee, big.NewInt(2)), To: &to, Data: data}
		return evm.Impersonate(types.NewTx(tx), id, from)
	}))
}

// TestSnapshotsAreSpent: going back deletes later snapshots, and the snapshot itself if the caller says so. Background work stops meanwhile, and
// learns afterwards whether the world was reset.
func TestSnapshotsAreSpent(t *testing.T) {
	w := copied(t)
	var log []string
	for _, name := range []string{"a", "b"} {
		w.BeforeRewind(func() func(sim.RewindOptions) {
			log = append(log, "stop "+name)
			return func(o sim.RewindOptions) { log = append(log, fmt.Sprint("go on ", name, " ", o.Reset)) }
		})
	}
	var ids []int64
	for range 3 {
		s, err := w.TakeSnapshot(t.Context(), "")
		ok(t, err)
		ids = append(ids, s.ID)
	}
	left := func(want ...int64) {
		t.Helper()
		all, err := w.DB.Snapshots(t.Context())
		ok(t, err)
		if len(all) != len(want) {
			t.Errorf("%d snapshots are left, want %d", len(all), want)
		}
		for _, id := range want {
			_, err := w.DB.Snapshot(t.Context(), id)
			ok(t, err)
		}
	}
	ok(t, w.Revert(t.Context(), ids[1], false))
	left(ids[0], ids[1])
	ok(t, w.Revert(t.Context(), ids[1], true))
	left(ids[0])
	ok(t, w.Reset(t.Context()))
	left()
	want := strings.Repeat("stop a, stop b, go on b false, go on a false, ", 2) + "stop a, stop b, go on b true, go on a true"
	if got := strings.Join(log, ", "); got != want {
		t.Errorf("%s: want %s", got, want)
	}
}

// TestWritesThatDoNotCount: data that no cached response depends on leaves the revision alone, and stays.
func TestWritesThatDoNotCount(t *testing.T) {
	w := copied(t)
	before := w.Revision()
	put := func(b *store.Batch) error { return b.SetPooledTxs(w.Chains[0].Row.ID, nil) }
	ok(t, w.WriteUncounted(t.Context(), put))
	if w.Revision() != before {
		t.Error("it counts")
	}
	ok(t, w.CheckDigest(t.Context()))
	ok(t, w.Write(t.Context(), put))
	if w.Revision() == before {
		t.Error("an ordinary write does not count")
	}
}

// TestXChainGenesis: each network has its own genesis, which begins as avalanchego's codec writes it: with version 0 and one asset, AVAX.
func TestXChainGenesis(t *testing.T) {
	for _, n := range copied(t).Networks {
		raw, err := n.XChainGenesis(t.Context())
		ok(t, err)
		want := append([]byte{0, 0, 0, 0, 0, 1, 0, 4}, "AVAX"...)
		want = binary.BigEndian.AppendUint32(want, n.Rules.NetworkID)
		if !bytes.HasPrefix(raw, want) {
			t.Errorf("%x: want %x", raw[:min(len(raw), 32)], want)
		}
	}
}

// TestHowFarAReorgGoes: every block made since the world was generated can be replaced; no earlier one, nor one with messages that another chain has
// received.
func TestHowFarAReorgGoes(t *testing.T) {
	w := copied(t)
	l1 := w.Miners[len(w.Miners)-1]
	c := w.MinerOf(w.NetworkOf(l1.Chain).CChain())
	head := func(m *miner.Miner) uint64 {
		t.Helper()
		b, err := m.Chain.Head(t.Context())
		ok(t, err)
		return b.Number
	}
	generated := head(c)
	for depth, want := range map[uint64]string{1: "only 0 blocks of the chain were made", generated + 1: "must not exceed current chain height"} {
		if err := w.Reorg(t.Context(), c.Chain, depth, nil); !errors.Is(err, sim.ErrReorg) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d blocks: %v, want %q", depth, err, want)
		}
	}
	ok(t, c.Mine(t.Context(), 3, 0))
	digest := fmt.Sprintf("%x", w.Digest())
	if err := w.Reorg(t.Context(), c.Chain, 4, nil); !errors.Is(err, sim.ErrReorg) || !strings.Contains(err.Error(), "the depth is 4, but only 3 blocks") || fmt.Sprintf("%x", w.Digest()) != digest {
		t.Errorf("one more than was made: %v", err)
	}
	ok(t, w.Reorg(t.Context(), c.Chain, 3, nil))
	if head(c) != generated {
		t.Errorf("block %d after all was taken back, generated was %d", head(c), generated)
	}
	// Once the other chain has received a message, it cannot be taken back; before that it can.
	ok(t, relayer.Start(t.Context(), w, func(err error) { t.Error(err) }))
	greeter := func(m *miner.Miner) common.Address {
		all, err := w.DB.Contracts(t.Context(), m.Chain.Row.ID)
		ok(t, err)
		for _, row := range all {
			if row.Artifact == "Greeter" {
				return common.BytesToAddress(row.Address)
			}
		}
		t.Fatal("no greeter")
		return common.Address{}
	}
	a, err := contracts.Load("Greeter")
	ok(t, err)
	data, err := a.ABI.Pack("greet", [32]byte(l1.Chain.Row.BlockchainID), greeter(l1), "hello")
	ok(t, err)
	from := alice(t, w).EVMAddress()
	received := head(l1)
	const many = 300 // more blocks than are looked through at once
	ok(t, c.Mine(t.Context(), many, 0))
	call(t, c, from, greeter(c), data)
	if head(c) != generated+many+1 || head(l1) == received {
		t.Fatalf("%d blocks sent, %d received", head(c)-generated, head(l1)-received)
	}
	for _, depth := range []uint64{1, many + 1} {
		if err := w.Reorg(t.Context(), c.Chain, depth, nil); !errors.Is(err, sim.ErrReorg) || !strings.Contains(err.Error(), fmt.Sprintf("which chain %d has received", l1.Chain.Row.EVMID)) {
			t.Errorf("a message that was received, %d blocks ago: %v", depth, err)
		}
	}
	ok(t, w.Reorg(t.Context(), l1.Chain, head(l1)-received, nil)) // the receiver may forget the message
	ok(t, c.Mine(t.Context(), 1, 0))
	ok(t, w.CheckDigest(t.Context()))
}

// TestALaggingCopyWaitsForWhatIsSpent: a block that spends an output of a lagging chain enters the copy after the block that made the output.
func TestALaggingCopyWaitsForWhatIsSpent(t *testing.T) {
	w := copied(t)
	n, key := w.Networks[0], alice(t, w)
	l, err := w.CopyLagging(t.Context())
	ok(t, err)
	defer func() { ok(t, l.End()) }()
	p, x := sim.ChainKey{Primary: true, Chain: n.Chain(txs.PChain)}, sim.ChainKey{Primary: true, Chain: n.Chain(txs.XChain)}
	ok(t, l.SetLag(t.Context(), []sim.ChainKey{p}, sim.Lag{Blocks: 1}))
	owner := txs.NewOwner(key.Address())
	fee := n.Rules.TxFee
	ok(t, n.IssueNext(t.Context(), txs.PChain, func(state *primary.Network, at uint64) (*txs.Tx, error) {
		return payment(t, state, key, at, 5*fee, func(base txs.BaseTx) txs.Unsigned {
			return &txs.ExportTx{BaseTx: base, DestinationChain: n.Rules.XChainID, ExportedOutputs: []*txs.TransferableOutput{txs.NewTransferableOutput(n.Rules.AVAXAssetID, 5*fee, owner)}}
		})
	}))
	ok(t, n.IssueNext(t.Context(), txs.XChain, func(state *primary.Network, at uint64) (*txs.Tx, error) {
		for _, u := range state.Exported(txs.PChain, txs.XChain) {
			if u.Owners().Equals(&owner) && u.Amount() == 5*fee {
				in := &txs.TransferableInput{UTXOID: u.UTXOID, AssetID: u.AssetID, In: &txs.TransferInput{Amount: 5 * fee, Input: txs.Input{SigIndices: []uint32{0}}}}
				base := txs.BaseTx{NetworkID: n.Rules.NetworkID, BlockchainID: n.Rules.XChainID, Memo: txs.HexBytes{}, Outs: []*txs.TransferableOutput{txs.NewTransferableOutput(u.AssetID, 4*fee, owner)}}
				return txs.NewSigned(txs.XChain, &txs.ImportTx{BaseTx: base, SourceChain: ids.Empty, ImportedInputs: []*txs.TransferableInput{in}}, []*txs.Key{key})
			}
		}
		return nil, errors.New("nothing was exported")
	}))
	heights := func(behindP, behindX uint64) {
		t.Helper()
		for key, behind := range map[sim.ChainKey]uint64{p: behindP, x: behindX} {
			if indexed, existing := l.Heights(key); existing-indexed != behind {
				t.Errorf("chain %d is %d blocks behind, want %d", key.Chain, existing-indexed, behind)
			}
		}
	}
	heights(1, 1)
	ok(t, l.SetLag(t.Context(), []sim.ChainKey{p}, sim.Lag{}))
	heights(0, 0)
	ok(t, l.SetLag(t.Context(), []sim.ChainKey{p, x}, sim.Lag{Blocks: 1}))
	heights(0, 0)
}

// TestALaggingCopyShowsItsTime: a chain that lags by time keeps the time at which the lag began, until as much has passed.
func TestALaggingCopyShowsItsTime(t *testing.T) {
	w := copied(t)
	l, err := w.CopyLagging(t.Context())
	ok(t, err)
	defer func() { ok(t, l.End()) }()
	key := sim.Key(w.Chains[0])
	start := w.Clock.Now()
	ok(t, l.SetLag(t.Context(), []sim.ChainKey{key}, sim.Lag{Milliseconds: 60_000}))
	for _, step := range []struct{ advance, shown time.Duration }{{0, 0}, {time.Minute, 0}, {61 * time.Second, time.Second}} {
		ok(t, w.Advance(t.Context(), start.Add(step.advance)))
		behind, of, done, err := l.Read(t.Context(), []sim.ChainKey{key})
		ok(t, err)
		if shown := behind.Clock.Now().Sub(start); shown != step.shown || of != key {
			t.Errorf("after %s the copy's clock is %s later, want %s", step.advance, shown, step.shown)
		}
		done()
		other := sim.Key(w.Chains[1])
		for _, keys := range [][]sim.ChainKey{{key, other}, {other, key}} { // the chain furthest behind decides
			_, of, done, err := l.Read(t.Context(), keys)
			ok(t, err)
			if of != key && step.advance > 0 {
				t.Errorf("after %s the copy shows chain %v of %v", step.advance, of, keys)
			}
			done()
		}
	}
	ok(t, l.SetLag(t.Context(), []sim.ChainKey{key}, sim.Lag{Milliseconds: 120_000}))
	behind, _, done, err := l.Read(t.Context(), []sim.ChainKey{key})
	ok(t, err)
	defer done()
	if shown := behind.Clock.Now().Sub(start); shown != time.Second {
		t.Errorf("with a longer lag the copy's clock is %s later, it was %s", shown, time.Second)
	}
}

// TestAReorgGivesCodesBack: code added by a removed block stays if an account on another chain has got the same code since.
func TestAReorgGivesCodesBack(t *testing.T) {
	w := copied(t)
	one, two := w.Miners[0], w.Miners[len(w.Miners)-1]
	code := []byte{0x60, 0x2a, 0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3} // returns 42
	init := append([]byte{0x60, byte(len(code)), 0x80, 0x60, 0x0a, 0x5f, 0x39, 0x5f, 0xf3, 0x00}, code...)
	from := alice(t, w).EVMAddress()
	deploy := func(m *miner.Miner) (at common.Address) {
		id := new(big.Int).SetUint64(m.Chain.Row.EVMID)
		ok(t, m.SendPrepared(t.Context(), from, func(n miner.Next) (*types.Transaction, error) {
			at = crypto.CreateAddress(from, n.Nonce)
			return evm.Impersonate(types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: n.Nonce, Gas: 200_000, GasTipCap: new(big.Int), GasFeeCap: new(big.Int).Mul(n.BaseFee, big.NewInt(2)), Data: init}), id, from)
		}))
		return at
	}
	codeAt := func(m *miner.Miner, at common.Address) []byte {
		head, err := m.Chain.Head(t.Context())
		ok(t, err)
		states, err := m.Chain.State(t.Context(), head)
		ok(t, err)
		return states.GetCode(at)
	}
	first := deploy(one)
	second := deploy(two)
	for _, c := range []struct {
		m  *miner.Miner
		at common.Address
	}{{one, first}, {two, second}} {
		if string(codeAt(c.m, c.at)) != string(code) {
			t.Fatalf("code %x", codeAt(c.m, c.at))
		}
	}
	ok(t, w.Reorg(t.Context(), one.Chain, 1, nil))
	if got := codeAt(one, first); len(got) > 0 {
		t.Errorf("code %x of a contract that was taken back", got)
	}
	again, err := w.Copy(t.Context()) // has read nothing yet
	ok(t, err)
	defer again.Close()
	if got := codeAt(again.Miners[len(again.Miners)-1], second); string(got) != string(code) {
		t.Errorf("code %x of a contract that stays, want %x", got, code)
	}
}

// TestAResetRestoresWhatTheUserChose: a reset restores the user's settings for automatic blocks.
func TestAResetRestoresWhatTheUserChose(t *testing.T) {
	w := copied(t)
	for _, m := range w.Miners {
		m.SetDefaults(false, time.Hour)
		m.SetAutomine(true)
		m.SetInterval(0)
	}
	s, err := w.TakeSnapshot(t.Context(), "")
	ok(t, err)
	ok(t, w.Revert(t.Context(), s.ID, false))
	if m := w.Miners[0]; !m.Automine() || m.Interval() != 0 {
		t.Error("a snapshot restores what the user chose")
	}
	ok(t, w.Reset(t.Context()))
	for _, m := range w.Miners {
		if m.Automine() || m.Interval() != time.Hour {
			t.Errorf("chain %d: automine %t, a block each %s", m.Chain.Row.EVMID, m.Automine(), m.Interval())
		}
	}
}
