package sim_test

import (
	"bytes"
	"errors"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures/interchange"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/store/dbfile"
	"snowglobe/sim/txs"
)

// TestAVAXLeavesTheCChain: an export takes it from an account and shares an output with the P-Chain. What the network refuses leaves everything as it
// is, and an atomic transaction cannot be taken back by a reorganisation.
func TestAVAXLeavesTheCChain(t *testing.T) {
	w := copied(t)
	ctx, n, key := t.Context(), w.Networks[0], alice(t, w)
	c := n.CChain()
	balance := func() (nano uint64, nonce uint64) {
		head, err := c.Head(ctx)
		ok(t, err)
		states, err := c.State(ctx, head)
		ok(t, err)
		wei := states.GetBalance(key.EVMAddress()).ToBig()
		return wei.Div(wei, big.NewInt(1_000_000_000)).Uint64(), states.GetNonce(key.EVMAddress())
	}
	before, nonce := balance()
	const fee, amount = 1_000_000, 5_000_000
	export := func(paid uint64, nonce uint64) (*txs.Tx, error) {
		owner := txs.NewOwner(key.Address())
		return txs.NewSigned(txs.CChain, &txs.AtomicExportTx{NetworkID: n.Rules.NetworkID, BlockchainID: n.Rules.CChainID, DestinationChain: ids.Empty,
			Ins:             []txs.EVMInput{{Address: key.EVMAddress(), Amount: paid, AssetID: n.Rules.AVAXAssetID, Nonce: nonce}},
			ExportedOutputs: []*txs.TransferableOutput{txs.NewTransferableOutput(n.Rules.AVAXAssetID, amount, owner)}}, []*txs.Key{key})
	}
	digest := slices.Clone(w.Digest())
	for what, bad := range map[string][2]uint64{"without a fee": {amount, nonce}, "of another nonce": {amount + fee, nonce + 1}, "of more than there is": {before + amount + fee, nonce}} {
		tx, err := export(bad[0], bad[1])
		ok(t, err)
		if err := n.IssueC(ctx, tx); err == nil || !bytes.Equal(w.Digest(), digest) {
			t.Errorf("an export %s: %v", what, err)
		}
	}
	ok(t, n.IssueNextC(ctx, func(*primary.Network, *evm.BlockExecution) (*txs.Tx, error) { return nil, nil }))
	if !bytes.Equal(w.Digest(), digest) {
		t.Error("no transaction makes a block")
	}
	tx, err := export(amount+fee, nonce)
	ok(t, err)
	ok(t, n.IssueC(ctx, tx))
	if now, used := balance(); before-now != amount+fee && before-now != amount+fee+1 || used != nonce+1 {
		t.Errorf("the account has %d less at nonce %d, before %d", before-now, used, nonce)
	}
	shared, err := w.DB.SharedUTXOs(ctx, n.Chain(txs.CChain))
	ok(t, err)
	id := tx.ID()
	if !slices.ContainsFunc(shared, func(u store.UTXO) bool {
		return bytes.Equal(u.Tx, id[:]) && u.Chain == n.Chain(txs.PChain) && uint64(u.Amount) == amount
	}) {
		t.Errorf("shared are %+v", shared)
	}
	if err := w.Reorg(ctx, c, 1, nil); !errors.Is(err, sim.ErrReorg) || !strings.Contains(err.Error(), "has an atomic transaction") {
		t.Errorf("taken back: %v", err)
	}
	ok(t, n.IssueNext(ctx, txs.PChain, func(state *primary.Network, at uint64) (*txs.Tx, error) {
		for _, u := range state.Exported(txs.CChain, txs.PChain) {
			if u.TxID == id {
				base := txs.BaseTx{NetworkID: n.Rules.NetworkID, BlockchainID: ids.Empty, Memo: txs.HexBytes{}, Outs: []*txs.TransferableOutput{txs.NewTransferableOutput(u.AssetID, 1, txs.NewOwner(key.Address()))}}
				in := &txs.TransferableInput{UTXOID: u.UTXOID, AssetID: u.AssetID, In: &txs.TransferInput{Amount: amount, Input: txs.Input{SigIndices: []uint32{0}}}}
				imported := &txs.ImportTx{BaseTx: base, SourceChain: n.Rules.CChainID, ImportedInputs: []*txs.TransferableInput{in}}
				fee, err := state.P.Fee(imported, at)
				if err != nil {
					return nil, err
				}
				base.Outs[0].Out.(*txs.TransferOutput).Amount = amount - fee
				return txs.NewSigned(txs.PChain, imported, []*txs.Key{key})
			}
		}
		return nil, errors.New("nothing was exported")
	}))
	ok(t, w.CheckDigest(ctx))
}

// damage runs a statement on a world's file.
func damage(t *testing.T, w *sim.World, text string) {
	t.Helper()
	b, err := w.DB.Begin()
	ok(t, err)
	ok(t, b.End(store.Exec(b, text)))
}

// TestDamageOfADigestIsNamed: the base, or the whole.
func TestDamageOfADigestIsNamed(t *testing.T) {
	for column, want := range map[string]string{"base": "meta: base is 0000", "digest": "meta: digest is 0000"} {
		w := copied(t)
		damage(t, w, "UPDATE meta SET "+column+" = zeroblob(32)")
		if err := w.CheckDigest(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want %s", column, err, want)
		}
	}
}

// TestFilesThatAreNoWorldOfThisProgram: of another version, without networks, or changed while they are opened.
func TestFilesThatAreNoWorldOfThisProgram(t *testing.T) {
	ctx := t.Context()
	for text, want := range map[string]string{"UPDATE meta SET generator = '0'": "generate it again with --regenerate", "DELETE FROM meta": "its format cannot be recognised", "DELETE FROM primary_network": "chains or networks are missing"} {
		path := filepath.Join(t.TempDir(), "w.db")
		w := generate(t, path)
		damage(t, w, text)
		ok(t, w.Close())
		again, err := sim.Open(ctx, path)
		if err == nil {
			again.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(text, "generator") != errors.Is(err, dbfile.ErrVersion) {
			t.Errorf("%s: %v: want %s", text, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "w.db")
	ok(t, generate(t, path).Close())
	one, err := sim.Open(ctx, path)
	ok(t, err)
	two, err := sim.Open(ctx, path)
	ok(t, err)
	defer two.Close()
	ok(t, one.Claim(ctx))
	ok(t, one.Advance(ctx, one.Clock.Now().Add(time.Hour)))
	ok(t, one.Close())
	if err := two.Claim(ctx); err == nil || !strings.Contains(err.Error(), "the world changed while it was opened") {
		t.Errorf("claimed too late: %v", err)
	}
}

// TestALaggingCopyKnowsNames that are given while it lags.
func TestALaggingCopyKnowsNames(t *testing.T) {
	w := copied(t)
	l, err := w.CopyLagging(t.Context())
	ok(t, err)
	defer func() { ok(t, l.End()) }()
	c, address := w.Chains[0], common.Address{42}
	key := sim.ChainKey{Chain: c.Row.ID}
	ok(t, l.SetLag(t.Context(), []sim.ChainKey{key}, sim.Lag{Blocks: 1}))
	_, err = w.Import(t.Context(), &interchange.File{Names: &interchange.Names{Contracts: []interchange.NamedContract{{Name: "Late", Address: address}}}}, c)
	ok(t, err)
	copied, _, done, err := l.Read(t.Context(), []sim.ChainKey{key})
	ok(t, err)
	defer done()
	rows, err := copied.DB.Contracts(t.Context(), c.Row.ID)
	ok(t, err)
	if !slices.ContainsFunc(rows, func(r store.Contract) bool { return r.Role == "Late" && bytes.Equal(r.Address, address[:]) }) {
		t.Error("the copy lacks the name")
	}
}
