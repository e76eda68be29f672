package pchain

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// judged is a P-Chain with the verdicts of avalanchego's own block/executor.Manager.VerifyTx on transactions of every type with no, one or two
// mistakes. They show the checks, their order and their errors. testdata/avalanchego/record wrote it.
type judged struct {
	Time             uint64
	Genesis          string
	Blocks, Imported []string
	Txs              []struct{ Tx, Error string }
}

// judgedStaker is a current staker of the primary network in avalanchego's state.
type judgedStaker struct {
	TxID                                              ids.ID
	NodeID                                            ids.NodeID
	Start, End, Weight                                uint64
	PotentialReward, DelegateeReward                  uint64
	AccruedValidationRewards, AccruedDelegateeRewards uint64
	AutoCompoundRewardShares                          uint32
	NextPeriod                                        uint64
}

// judgedChain is such a chain on a network where Helicon activates at a given time, with its state after the blocks.
type judgedChain struct {
	judged
	Network    uint32
	Activation int64
	Supply     uint64
	Stakers    []judgedStaker
	Rewards    map[ids.ID][]string
}

func readJudged[T any](t *testing.T, name string) T {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all T
	if err := json.NewDecoder(unpacked).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	return must(t, b, err)
}

// chain begins with the genesis and accepts the blocks, which make subnets, validators and an L1. It keeps what they paid as rewards, by the
// transaction whose outputs these are.
func (j *judged) chain(t *testing.T, n *rules.Network) (*Chain, map[ids.ID][]string) {
	t.Helper()
	genesis, err := ParsePChainGenesis(unhex(t, j.Genesis))
	if err != nil {
		t.Fatal(err)
	}
	at, err := genesis.State(n)
	if err != nil {
		t.Fatal(err)
	}
	first, err := genesis.Block()
	if err != nil {
		t.Fatal(err)
	}
	shared := utxo.NewSharedMemory()
	for _, text := range j.Imported {
		u, err := txs.ParseUTXO(txs.PChain, unhex(t, text))
		shared.Put(n.CChainID, ids.Empty, must(t, u, err))
	}
	p := New(n, shared, at)
	p.Strict = true
	accepted := map[ids.ID]*txs.Tx{}
	p.State.Tx = func(id ids.ID) (*txs.Tx, error) {
		if accepted[id] == nil {
			return nil, utxo.ErrNotFound
		}
		return accepted[id], nil
	}
	p.SetTip(first.ID(), 0, at.Time)
	rewards := map[ids.ID][]string{}
	for _, text := range j.Blocks {
		b, err := txs.ParseBlock(txs.PChain, unhex(t, text))
		if err != nil {
			t.Fatal(err)
		}
		diffs, err := p.Accept(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range b.Txs() {
			accepted[tx.ID()] = tx
		}
		for _, d := range diffs {
			for _, u := range d.Rewards {
				raw, err := u.Bytes(txs.PChain)
				rewards[u.TxID] = append(rewards[u.TxID], hex.EncodeToString(must(t, raw, err)))
			}
		}
	}
	return p, rewards
}

func TestTransactionsAreRefusedAsAvalanchegoRefusesThem(t *testing.T) {
	all := readJudged[judged](t, "judged.json.gz")
	p, _ := all.chain(t, rules.Mainnet)
	all.compare(t, p)
}

// TestHeliconIsAsAvalanchegoHasIt compares the verdicts on Helicon's transactions, and the state after cycles of auto-renewed validators, with those
// of avalanchego v1.15.0: after activation on both networks, and a second before it.
func TestHeliconIsAsAvalanchegoHasIt(t *testing.T) {
	for _, c := range readJudged[[]judgedChain](t, "judged_helicon.json.gz") {
		n := map[uint32]*rules.Network{1: rules.Mainnet, 5: rules.Fuji}[c.Network]
		n, err := n.WithActivation(rules.Helicon, c.Activation)
		if err != nil {
			t.Fatal(err)
		}
		p, rewards := c.chain(t, n)
		if p.Supply() != c.Supply {
			t.Errorf("%s: the supply is %d, want %d", n.Name, p.Supply(), c.Supply)
		}
		var stakers []judgedStaker
		for _, s := range p.current.queue {
			if s.permissioned() {
				continue
			}
			row := judgedStaker{TxID: s.TxID, NodeID: s.NodeID, Start: s.Start, End: s.End, Weight: s.Weight, PotentialReward: s.PotentialReward, DelegateeReward: s.DelegateeReward}
			if r := s.Renewal; r != nil {
				row.NextPeriod, row.AutoCompoundRewardShares = r.NextPeriod, r.AutoCompoundRewardShares
				row.AccruedValidationRewards, row.AccruedDelegateeRewards = r.AccruedValidationRewards, r.AccruedDelegateeRewards
			}
			stakers = append(stakers, row)
		}
		if !slices.Equal(stakers, c.Stakers) {
			t.Errorf("%s: the stakers are %+v, want %+v", n.Name, stakers, c.Stakers)
		}
		if !maps.EqualFunc(rewards, c.Rewards, slices.Equal) {
			t.Errorf("%s: paid are %v, want %v", n.Name, rewards, c.Rewards)
		}
		c.compare(t, p)
	}
}

// compare checks the verdicts on the transactions.
func (j *judged) compare(t *testing.T, p *Chain) {
	t.Helper()
	valid := 0
	for _, c := range j.Txs {
		tx, err := txs.ParseTx(txs.PChain, unhex(t, c.Tx))
		if err != nil {
			t.Errorf("%v, want %q: %s", err, c.Error, c.Tx)
			continue
		}
		got := ""
		if err := p.VerifyTx(tx, j.Time); err != nil {
			got = strings.ReplaceAll(err.Error(), tx.ID().String(), "{tx}")
		} else {
			valid++
		}
		if got != c.Error {
			t.Errorf("%T: %q, want %q", tx.Unsigned, got, c.Error)
		}
	}
	if valid < 20 || len(j.Txs) < 700 {
		t.Errorf("%d transactions, %d of them valid", len(j.Txs), valid)
	}
}
