package etherscan

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm/reader"
)

// TestBlocks compares each block's fees and counts with what is in it.
func TestBlocks(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		for _, b := range h.blocks {
			fees, txs, internal := new(big.Int), 0.0, 0.0
			var transfers [3]float64
			for _, tx := range h.txs {
				if tx.Block == b {
					txs++
					fees.Add(fees, new(big.Int).Mul(new(big.Int).SetUint64(tx.Row.GasUsed), tx.Price()))
				}
			}
			for i := range h.calls {
				if c := &h.calls[i]; c.ID.Number() == b.Number && c.Type != "SELFDESTRUCT" {
					internal++
				}
			}
			for i := range h.transfers {
				if h.transfers[i].ID.Number() == b.Number {
					transfers[h.transfers[i].Standard]++
				}
			}
			s.want(fmt.Sprintf("module=block&action=getblockreward&blockno=%d", b.Number), row{
				"blockNumber": fmt.Sprint(b.Number), "timeStamp": fmt.Sprint(b.Header.Time), "blockMiner": low(b.Header.Coinbase), "blockReward": fees.String(),
				"uncles": []any{}, "uncleInclusionReward": "0",
			})
			s.want(fmt.Sprintf("module=block&action=getblocktxnscount&blockno=%#x", b.Number), row{
				"block": float64(b.Number), "txsCount": txs, "internalTxsCount": internal, "erc20TxsCount": transfers[0], "erc721TxsCount": transfers[1], "erc1155TxsCount": transfers[2],
			})
		}
		for _, action := range []string{"getblockreward", "getblocktxnscount"} {
			s.refuses(fmt.Sprintf("module=block&action=%s&blockno=%d", action, h.head()+1), "No records found", "[]")
			s.rejects("module=block&action="+action, "Error! Invalid block number")
			s.rejects("module=block&action="+action+"&blockno=-1", "Error! Invalid block number")
		}
	})
}

// TestBlocksByTime finds the blocks around every block's time.
func TestBlocksByTime(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		none := "Error! No closest block found"
		for _, b := range h.blocks {
			for _, at := range []uint64{b.Header.Time - 1, b.Header.Time, b.Header.Time + 1} {
				before, after := -1, -1
				for i, other := range h.blocks {
					if other.Header.Time <= at {
						before = i
					} else if after < 0 {
						after = i
					}
				}
				if exact := slices.IndexFunc(h.blocks, func(o *reader.Block) bool { return o.Header.Time == at }); exact >= 0 {
					after = exact
				}
				query := fmt.Sprintf("module=block&action=getblocknobytime&timestamp=%d", at)
				for closest, n := range map[string]int{"": before, "&closest=before": before, "&closest=after": after} {
					if n < 0 {
						s.rejects(query+closest, none)
					} else {
						s.want(query+closest, fmt.Sprint(n))
					}
				}
			}
		}
		s.want("module=block&action=getblocknobytime&timestamp=4611686018427387904", fmt.Sprint(h.head()))
		for _, query := range []string{"", "&timestamp=now", "&timestamp=4611686018427387905"} {
			s.rejects("module=block&action=getblocknobytime"+query, "Error! Invalid timestamp")
		}
		s.rejects("module=block&action=getblocknobytime&timestamp=1&closest=near", "Error! Invalid closest value: expected before or after")
	})
}

// TestCountdown multiplies the average time between the newest blocks, at most a hundred.
func TestCountdown(t *testing.T) {
	s := writing(t)
	m := s.world.MinerOf(s.chain)
	for _, mined := range []uint64{0, 60} {
		s.check(m.Mine(t.Context(), mined, 7*time.Second))
		h := s.history()
		before := min(h.head(), 100)
		seconds := float64(h.blocks[h.head()].Header.Time-h.blocks[h.head()-before].Header.Time) / float64(before)
		for _, more := range []uint64{1, 3, 1000} {
			s.want(fmt.Sprintf("module=block&action=getblockcountdown&blockno=%d", h.head()+more), row{
				"CurrentBlock": fmt.Sprint(h.head()), "CountdownBlock": fmt.Sprint(h.head() + more), "RemainingBlock": fmt.Sprint(more),
				"EstimateTimeInSec": fmt.Sprintf("%.1f", float64(more)*seconds),
			})
		}
		s.rejects(fmt.Sprintf("module=block&action=getblockcountdown&blockno=%d", h.head()), "Error! Block number already pass")
	}
	s.rejects("module=block&action=getblockcountdown", "Error! Invalid block number")
}

// TestMinedBlocks: all blocks burn their fees, the newest first, save those that a client gave another coinbase.
func TestMinedBlocks(t *testing.T) {
	s := writing(t)
	m, own := s.world.MinerOf(s.chain), common.Address{0xc0, 19: 1}
	for range 2 {
		m.SetCoinbase(own)
		s.check(m.Mine(t.Context(), 1, time.Second))
		m.SetCoinbase(common.Address{})
		s.check(m.Mine(t.Context(), 500, time.Second))
	}
	h := s.history()
	by := map[common.Address][]row{}
	for _, b := range slices.Backward(h.blocks[1:]) {
		by[b.Header.Coinbase] = append(by[b.Header.Coinbase], row{
			"blockNumber": fmt.Sprint(b.Number), "timeStamp": fmt.Sprint(b.Header.Time), "blockReward": new(big.Int).SetBytes(b.Row.Fees).String(),
		})
	}
	if len(by) < 2 || len(by[own]) < 2 || h.head() < 1024 {
		t.Fatalf("%d blocks, %v", h.head(), by[own])
	}
	for coinbase, want := range by {
		query := "module=account&action=getminedblocks&address=" + coinbase.Hex()
		s.want(query, want)
		s.want(query+"&page=2&offset=1", want[1:2])
		size := (len(want) + 1) / 2
		s.want(fmt.Sprintf("%s&offset=%d", query, size), want[:size])
		s.want(fmt.Sprintf("%s&page=2&offset=%d", query, size), want[size:])
		s.refuses(fmt.Sprintf("%s&page=3&offset=%d", query, size), noTransactions, "[]")
	}
	s.refuses("module=account&action=getminedblocks&address="+nobody, noTransactions, "[]")
}
