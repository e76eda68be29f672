package sim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/interchange"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestImportedNames: a deployment names contracts, each name once on its chain, and a token list names its tokens and gives them logos. Nothing else
// about the world changes.
func TestImportedNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	w := generate(t, path)
	ctx := t.Context()
	c := w.Chains[1]
	before, err := w.DB.Contracts(ctx, c.Row.ID)
	ok(t, err)
	if len(before) == 0 {
		t.Fatal("no contract has a name")
	}
	known := before[0]
	one, two, three := common.Address{1}, common.Address{2}, common.Address{3}
	names := func(id uint64, chain *reader.Chain, contracts ...interchange.NamedContract) (*sim.Imported, error) {
		return w.Import(ctx, &interchange.File{Names: &interchange.Names{ChainID: id, Contracts: contracts, Notes: []interchange.Note{{Line: 3, Reason: "left out"}}}}, chain)
	}
	row := func(chain *reader.Chain, address common.Address) string {
		rows, err := w.DB.Contracts(ctx, chain.Row.ID)
		ok(t, err)
		for _, r := range rows {
			if bytes.Equal(r.Address, address[:]) {
				return r.Role + " " + r.Logo
			}
		}
		return ""
	}
	digest := w.Digest()
	done, err := names(c.Row.EVMID, nil, interchange.NamedContract{Name: "Vault", Address: one}, interchange.NamedContract{Name: "Vault", Address: two}, interchange.NamedContract{Name: "Vault", Address: three},
		interchange.NamedContract{Name: "Other", Address: common.Address(known.Address)})
	ok(t, err)
	if row(c, one) != "Vault " || row(c, two) != "Vault-2 " || row(c, three) != "Vault-3 " || len(done.Contracts) != 3 || bytes.Equal(digest, w.Digest()) {
		t.Errorf("%+v, the digest is %x", done, w.Digest())
	}
	notes := strings.Join(done.Notes, "\n")
	for _, want := range []string{"line 3: left out", fmt.Sprintf("Vault is %s on chain %d, where it has no code", one, c.Row.EVMID),
		fmt.Sprintf("%s on chain %d has the name %s already", common.Address(known.Address), c.Row.EVMID, known.Role)} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q: %s", want, notes)
		}
	}
	if _, err := names(4_000_000_000, nil, interchange.NamedContract{Name: "Vault", Address: one}); !errors.Is(err, sim.ErrNoChain) {
		t.Errorf("a chain that is not there: %v", err)
	}
	for _, of := range []struct {
		id    uint64
		chain *reader.Chain
		want  *reader.Chain
	}{{0, nil, w.Chains[0]}, {c.Row.EVMID, w.Chains[2], w.Chains[2]}, {0, c, c}} {
		address := common.BigToAddress(big.NewInt(int64(1000 + len(of.want.Row.Name) + of.want.Row.ID)))
		if _, err := names(of.id, of.chain, interchange.NamedContract{Name: "Chosen", Address: address}); err != nil || row(of.want, address) != "Chosen " {
			t.Errorf("for chain %v and %d it is %q, %v", of.chain, of.id, row(of.want, address), err)
		}
	}
	digest = w.Digest()
	if done, err := names(0, c, interchange.NamedContract{Name: "Again", Address: one}); err != nil || len(done.Contracts) != 0 || !bytes.Equal(digest, w.Digest()) {
		t.Errorf("a name that is there: %+v, %v", done, err)
	}

	list := func(chain *reader.Chain, tokens ...interchange.ListedToken) *sim.Imported {
		done, err := w.Import(ctx, &interchange.File{Tokens: &interchange.TokenList{Tokens: tokens}}, chain)
		ok(t, err)
		return done
	}
	token := func(id uint64, address common.Address, symbol, logo string) interchange.ListedToken {
		return interchange.ListedToken{ChainID: id, Address: address, Symbol: symbol, Logo: logo}
	}
	four := common.Address{4}
	done = list(nil, token(c.Row.EVMID, one, "ONE", "http://a/one"), token(w.Chains[0].Row.EVMID, one, "ONE", "http://a/one"), token(c.Row.EVMID, four, "FOUR", ""), token(4_000_000_000, one, "NONE", ""),
		token(c.Row.EVMID, four, "FOUR", "http://a/four"), token(c.Row.EVMID, one, "ONE", "http://a/one"))
	if row(c, one) != "Vault http://a/one" || row(w.Chains[0], one) != "ONE http://a/one" || row(c, four) != "FOUR http://a/four" || len(done.Contracts) != 3 || !strings.Contains(strings.Join(done.Notes, "\n"), "NONE is of chain 4000000000") {
		t.Errorf("%q, %q, %q: %+v", row(c, one), row(w.Chains[0], one), row(c, four), done)
	}
	digest = slices.Clone(w.Digest())
	if list(nil, token(c.Row.EVMID, four, "FOUR", "http://a/4")); bytes.Equal(digest, w.Digest()) {
		t.Error("another logo leaves the digest as it is")
	}
	if done = list(c, token(w.Chains[0].Row.EVMID, two, "TWO", "")); len(done.Contracts) != 0 || row(w.Chains[0], two) != "" || len(done.Notes) != 1 {
		t.Errorf("tokens of another chain: %+v", done)
	}
	ok(t, w.CheckDigest(ctx))
	digest = slices.Clone(w.Digest())
	ok(t, w.Close())
	again, err := sim.Open(ctx, path)
	ok(t, err)
	defer again.Close()
	if !bytes.Equal(again.Digest(), digest) {
		t.Errorf("opened again, the digest is %x: want %x", again.Digest(), digest)
	}
	ok(t, again.CheckDigest(ctx))
}

// TestImportedAccounts change the state of their chain, by default the first one.
func TestImportedAccounts(t *testing.T) {
	w := copied(t)
	ctx, owner := t.Context(), common.Address{7}
	for i, chain := range []*reader.Chain{nil, w.Chains[1]} {
		balance := big.NewInt(int64(1234 + i))
		done, err := w.Import(ctx, &interchange.File{State: &interchange.State{Accounts: types.GenesisAlloc{owner: {Balance: balance, Nonce: 3}}}}, chain)
		ok(t, err)
		if done.Accounts != 1 || done.Values != 2 {
			t.Errorf("%+v", done)
		}
		c := w.Chains[i]
		head, err := c.Head(ctx)
		ok(t, err)
		states, err := c.State(ctx, head)
		ok(t, err)
		if got := states.GetBalance(owner); got.ToBig().Cmp(balance) != 0 || states.GetNonce(owner) != 3 {
			t.Errorf("on chain %d it has %s", c.Row.EVMID, got)
		}
	}
	ok(t, w.CheckDigest(ctx))
	ok(t, w.CheckUndo(ctx))
}

// TestNamesForPeople: mainnet's chains are letters, fuji's have a prefix, an L1 has its number.
func TestNamesForPeople(t *testing.T) {
	w := generate(t, store.Memory)
	defer w.Close()
	for _, c := range w.Chains {
		want := fmt.Sprint(c.Row.EVMID)
		switch want {
		case "43114":
			want = "C"
		case "43113":
			want = "fuji/C"
		}
		if got := sim.NameOf(c); got != want {
			t.Errorf("chain %d is called %s: want %s", c.Row.EVMID, got, want)
		}
	}
	for _, n := range w.Networks {
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
			if got := n.Kind(n.Chain(kind)); got != kind {
				t.Errorf("chain %d of %s is of kind %s: want %s", n.Chain(kind), n.Name, got, kind)
			}
		}
		first := n.Aliases.Chains()
		var l1s []string
		for _, c := range w.Chains {
			if id := ids.ID(c.Row.BlockchainID); c.Row.Network == n.Name && id != n.Rules.CChainID {
				l1s = append(l1s, id.String())
			}
		}
		if want := append([]string{"P", "X", "C"}, l1s...); !slices.Equal(first, want) {
			t.Errorf("the chains of %s are %v: want %v", n.Name, first, want)
		}
	}
	id := w.Chains[len(w.Chains)-1].Row.BlockchainID
	if name := ids.ID(id).String(); w.Alias("", name) != name || w.NetworkNamed("nowhere") != nil {
		t.Errorf("a blockchain id stands for %s", w.Alias("", name))
	}
	for role, benched := range map[string]bool{"low-uptime": true, "": false} {
		if got := sim.BenchedOn(&store.Node{Node: make([]byte, 20), Role: role}, nil); (len(got) == 1 && got[0] == "C") != benched || got == nil {
			t.Errorf("a node with role %q is benched on %v", role, got)
		}
	}
	if got := sim.BenchedOn(&store.Node{Node: make([]byte, 20)}, []ids.NodeID{{}}); !slices.Equal(got, []string{"C"}) {
		t.Errorf("a node that a client benched is benched on %v", got)
	}
}

// TestWhoWaitsIsWoken when the clock moves and when something is committed, and not before.
func TestWhoWaitsIsWoken(t *testing.T) {
	w := generate(t, store.Memory)
	defer w.Close()
	moved, committed := w.Clock.Moved(), w.Committed()
	over := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	if w.Clock.Moved() != moved || over(moved) || over(committed) {
		t.Error("an event is reported before it happens")
	}
	ok(t, w.Advance(t.Context(), w.Clock.Now().Add(time.Hour)))
	if !over(moved) || !over(committed) {
		t.Errorf("the clock's event: %t, the commit's: %t", over(moved), over(committed))
	}
	if w.Clock.Moved() == moved || over(w.Clock.Moved()) {
		t.Error("an event is reported again")
	}
	w.Clock.Set(w.Clock.Now())
	before := w.Networks[0].Trouble.UptimeChanges()
	for _, uptime := range []uint32{1, 1, 2} {
		w.Networks[0].Trouble.Set(sim.Troubles{Uptimes: map[ids.NodeID]uint32{{1}: uptime}})
	}
	if got := w.Networks[0].Trouble.UptimeChanges() - before; got != 2 {
		t.Errorf("the uptimes changed %d times", got)
	}
}

// TestBlocksThatNobodyAsksFor are made in the context that an observer returns, and the observer learns how they end.
func TestBlocksThatNobodyAsksFor(t *testing.T) {
	w := copied(t)
	c := w.Chains[0]
	height := func() uint64 {
		head, err := c.Head(t.Context())
		ok(t, err)
		return head.Number
	}
	before := height()
	ok(t, w.Scheduled(t.Context(), c))
	if height() != before+1 {
		t.Errorf("the head is %d, before %d", height(), before)
	}
	turns, ended := 0, 0
	w.SetSchedule(func(ctx context.Context, of *reader.Chain) (context.Context, func(error)) {
		if of != c {
			t.Errorf("chain %d makes a block", of.Row.EVMID)
		}
		return sim.WithTurn(ctx, func() { turns++ }), func(err error) {
			if ended++; err != nil {
				t.Error(err)
			}
		}
	})
	ok(t, w.Scheduled(t.Context(), c))
	if height() != before+2 || turns == 0 || ended != 1 {
		t.Errorf("the head is %d, before %d; %d turns, %d ends", height(), before, turns, ended)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var mining sync.WaitGroup
	mining.Go(func() { w.Mine(ctx, func(err error) { t.Error(err) }) })
	cancel()
	mining.Wait()
}

// promises is an outbox that keeps what it is told, or fails.
type promises struct {
	told []sim.Added
	err  error
}

func (p *promises) Promise(_ *store.Batch, a *sim.Added) error {
	p.told = append(p.told, *a)
	return p.err
}

// TestTheOutboxIsPartOfACommit: if the outbox cannot write, the commit does not happen.
func TestTheOutboxIsPartOfACommit(t *testing.T) {
	w := copied(t)
	p := &promises{}
	w.SetOutbox(p)
	c := w.Chains[0]
	ok(t, w.Scheduled(t.Context(), c))
	if len(p.told) != 1 || p.told[0].Chain != c || p.told[0].Block == nil {
		t.Fatalf("told were %+v", p.told)
	}
	p.err = errors.New("no room")
	digest := slices.Clone(w.Digest())
	if err := w.Scheduled(t.Context(), c); !errors.Is(err, p.err) || !bytes.Equal(w.Digest(), digest) {
		t.Errorf("%v, and the digest is %x: want %x", err, w.Digest(), digest)
	}
	p.err = nil
	ok(t, w.Scheduled(t.Context(), c))
	ok(t, w.CheckDigest(t.Context()))
}

// TestAReadOnlyWorldStays as it is, whoever asks.
func TestAReadOnlyWorldStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	made := generate(t, path)
	identity := made.Identity()
	ok(t, made.Close())
	w, err := sim.OpenReadOnly(t.Context(), path)
	ok(t, err)
	defer w.Close()
	ctx := t.Context()
	if !bytes.Equal(w.Identity(), identity) || len(identity) != 32 {
		t.Errorf("its identity is %x: want %x", w.Identity(), identity)
	}
	_, snapshot := w.TakeSnapshot(ctx, "x")
	for what, err := range map[string]error{
		"moving the clock": w.Advance(ctx, w.Clock.Now().Add(time.Hour)), "a snapshot": snapshot, "going back": w.Revert(ctx, 1, false),
		"a reorganisation": w.Reorg(ctx, w.Chains[0], 1, nil), "a P-Chain transaction": w.Networks[0].IssueP(ctx, nil), "an atomic one": w.Networks[0].IssueC(ctx, nil),
	} {
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ok(t, w.Health(ctx))
	w.ReportDamage()
	if err := w.Health(ctx); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("once damage is known: %v", err)
	}
}

// TestCreateSaysWhatToDo where no world can be made.
func TestCreateSaysWhatToDo(t *testing.T) {
	folder := t.TempDir()
	there := filepath.Join(folder, "w.db")
	ok(t, generate(t, there).Close())
	text := filepath.Join(folder, "text")
	ok(t, os.WriteFile(text, []byte("no world at all, but some text"), 0o600))
	for path, want := range map[string]string{
		there: "generate it again with --regenerate", filepath.Join(folder, "none", "w.db"): "there is no folder " + filepath.Join(folder, "none"), filepath.Join(text, "w.db"): "w.db: ",
	} {
		if _, err := sim.Create(path, sim.Identity{Seed: 1, Profile: "tiny"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want %s", path, err, want)
		}
	}
	b, err := sim.CreateAnew(there, sim.Identity{Seed: 1, Profile: "tiny"})
	ok(t, err)
	ok(t, b.Abort())
	w, err := sim.Open(t.Context(), there)
	ok(t, err)
	ok(t, w.Close())
}

// TestEpochs are numbered from Granite on (ACP-181), and see the P-Chain as it was when they began.
func TestEpochs(t *testing.T) {
	w := generate(t, store.Memory)
	defer w.Close()
	ctx := t.Context()
	const length = 300
	for _, n := range w.Networks {
		granite := n.Rules.ActivationTime(rules.Granite)
		chain := n.Chain(txs.PChain)
		blocks, err := n.DB.PrimaryBlocks(ctx, chain, 0, math.MaxUint64)
		ok(t, err)
		for i := 2; i < len(blocks); i += 1 + len(blocks)/50 {
			for _, at := range []uint64{uint64(blocks[i].Time) - 1, uint64(blocks[i].Time), uint64(blocks[i].Time) + length} {
				start := at / length * length
				height := -1
				for height+1 < len(blocks) && uint64(blocks[height+1].Time) < start {
					height++
				}
				e, err := n.EpochAt(ctx, at)
				if height < 0 {
					if !errors.Is(err, store.ErrNotFound) {
						t.Errorf("before the first block: %+v, %v", e, err)
					}
					continue
				}
				want := txs.Epoch{Start: start, PHeight: uint64(height)}
				if at >= granite {
					want.Number = at/length - granite/length + 1
				}
				if err != nil || e != want {
					t.Errorf("at %d: %+v, %v: want %+v", at, e, err, want)
				}
			}
		}
	}
}
