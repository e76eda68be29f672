package primary_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/seed/evm"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/signing"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// saying is a log in which an L1's manager sends a message.
type saying struct {
	time int64
	data []byte
}

var topicSendWarp = crypto.Keccak256([]byte("SendWarpMessage(address,bytes32,bytes)"))

// sayings returns a chain's messages by id.
func sayings(t *testing.T, w *sim.World, c *reader.Chain) map[ids.ID][]saying {
	t.Helper()
	logs := must(w.DB.LogsBetween(t.Context(), store.First(c.Row.ID), store.Last(c.Row.ID), math.MaxInt32))(t)
	found := map[ids.ID][]saying{}
	for _, log := range logs {
		if common.BytesToAddress(log.Address) != precompile.WarpAddress || !bytes.Equal(log.Topic, topicSendWarp) ||
			common.BytesToAddress(log.Topics[:32]) != evm.ValidatorManager {
			continue
		}
		b := must(c.Block(t.Context(), log.ID.Number()))(t)
		id := ids.ID(log.Topics[32:])
		found[id] = append(found[id], saying{int64(b.Header.Time), log.Data})
	}
	return found
}

// carried returns the managers' messages that a network's P-Chain accepted, with the block's time.
func carried(t *testing.T, w *sim.World, n *sim.Network, kind string) (all []*warp.Message, times []int64) {
	t.Helper()
	for _, row := range must(w.DB.PrimaryTxsOfType(t.Context(), n.Chain(txs.PChain), kind))(t) {
		var raw []byte
		switch u := must(txs.ParseTx(txs.PChain, row.Bytes))(t).Unsigned.(type) {
		case *txs.RegisterL1ValidatorTx:
			raw = u.Message
		case *txs.SetL1ValidatorWeightTx:
			raw = u.Message
		}
		all = append(all, must(warp.ParseMessage(raw))(t))
		block := must(w.DB.PrimaryBlock(t.Context(), n.Chain(txs.PChain), row.ID.Number()))(t)
		times = append(times, block.Time)
	}
	return all, times
}

// TestManagersSentWhatThePChainTook: for every message that the P-Chain accepted from a simulated L1, the L1's manager emitted exactly one earlier
// log with the same bytes, so even validators that sign only sent messages sign it. The managers sent no other messages.
func TestManagersSentWhatThePChainTook(t *testing.T) {
	of := map[string][]int64{"tiny": {1, 3}, "default": {1}}
	for _, profile := range profiles(t) {
		for _, number := range of[profile] {
			w := seedtest.Shared(t, profile, number)
			said, count := map[ids.ID]map[ids.ID][]saying{}, map[string]int{}
			for _, c := range w.Chains {
				said[ids.ID(c.Row.BlockchainID)] = sayings(t, w, c)
			}
			for _, n := range w.Networks {
				for _, kind := range []string{"RegisterL1ValidatorTx", "SetL1ValidatorWeightTx"} {
					all, times := carried(t, w, n, kind)
					for i, m := range all {
						if from := said[m.SourceChainID]; from != nil {
							checkSaid(t, n, m, times[i], from)
							count[kind]++
						}
					}
				}
			}
			if count["RegisterL1ValidatorTx"] == 0 || count["SetL1ValidatorWeightTx"] == 0 {
				t.Errorf("%s %d: %v", profile, number, count)
			}
			for chain, rest := range said {
				if len(rest) > 0 {
					t.Errorf("%s %d: chain %s said what the P-Chain did not take in: %v", profile, number, chain, rest)
				}
			}
		}
	}
}

// checkSaid finds and removes the log of a message that the P-Chain accepted at some time.
func checkSaid(t *testing.T, n *sim.Network, m *warp.Message, at int64, said map[ids.ID][]saying) {
	t.Helper()
	id := must(m.UnsignedMessage.ID())(t)
	logs, raw := said[id], must(m.UnsignedMessage.Bytes())(t)
	if len(logs) != 1 {
		t.Fatalf("message %s was said %d times", id, len(logs))
	}
	length := new(bytes.Buffer)
	length.Write(common.BigToHash(common.Big32).Bytes())
	length.Write(common.BytesToHash([]byte{byte(len(raw) >> 8), byte(len(raw))}).Bytes())
	if !bytes.HasPrefix(logs[0].data, append(length.Bytes(), raw...)) {
		t.Errorf("message %s was said as %x, want %x", id, logs[0].data, raw)
	}
	if logs[0].time > at {
		t.Errorf("message %s was said at %d and taken in at %d", id, logs[0].time, at)
	}
	if err := signing.VerifyMessage(t.Context(), n, &m.UnsignedMessage, nil); err != nil {
		t.Errorf("message %s: %v", id, err)
	}
	other := m.UnsignedMessage
	other.Payload = bytes.Clone(other.Payload)
	other.Payload[len(other.Payload)-1] ^= 1
	if err := signing.VerifyMessage(t.Context(), n, &other, nil); err == nil {
		t.Errorf("message %s is signed with another weight", id)
	}
	delete(said, id)
}
